"""Measures over a corpus, as a labelled result."""

import json
import time
from collections.abc import Iterable

import xarray as xr

from headscope import catalog, results
from headscope.corpora import Corpus
from headscope.engine.coverage import Coverage
from headscope.engine.fold import Interrupted, fold
from headscope.engine.label import label
from headscope.engine.provenance import provenance
from headscope.engine.settings import DEFAULTS, Settings
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.encoded import Encoded
from headscope.models.words import Words


def run(study: str, model: Model, corpus: Corpus, measures: Iterable[str], settings: Settings = DEFAULTS) -> xr.Dataset:
    """The result of a study that consists of measures: one pass over the corpus.

    Raises `HeadscopeError` if no example fits into the model.
    """
    modules = {name: catalog.load("measures", name) for name in measures}
    attributes, started = provenance(study, model, corpus, settings), time.monotonic()
    words, coverage = Words(model.tokenizer, model.max_tokens, settings.long), Coverage()

    def done(group: list[Encoded]) -> None:
        coverage.add(group)
        settings.progress(len(group))

    try:
        tallies = fold(model, words.encode(corpus), modules, settings, done)
    except Interrupted as stop:
        if not (settings.keep_interrupted and stop.tallies):
            raise
        tallies = stop.tallies
        attributes["interrupted"] = f"after {coverage.inputs} of {corpus.n_examples} examples"
    if not coverage.inputs:
        remedy = "--long truncate or --long window" if settings.long == "skip" else "shorter texts"
        raise HeadscopeError(
            f"corpus '{corpus.name}': none of its {corpus.n_examples} examples fits into {model.max_tokens} tokens; "
            f"use {remedy}"
        )
    labelled = [label(module.VARIABLE, tallies[name], model.capture.heads) for name, module in modules.items()]
    variables = {name: array for each in [*labelled, coverage.variables()] for name, array in each.items()}
    attributes |= {
        "n_examples": coverage.inputs,
        "n_tokens": coverage.tokens,
        "skipped": json.dumps(corpus.skipped | words.counts),
        "duration_s": round(time.monotonic() - started, 3),
    }
    return results.check(xr.Dataset(variables, attrs=attributes))
