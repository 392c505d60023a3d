"""Measures over a corpus, as a labelled result."""

from collections.abc import Iterable

import xarray as xr

from headscope import catalog, results
from headscope.corpora import Corpus
from headscope.encoding.encoder import Words
from headscope.engine.fold import fold
from headscope.engine.over import over
from headscope.engine.provenance import provenance
from headscope.engine.settings import DEFAULTS, Settings
from headscope.models import Model
from headscope.results.variables import label


def run(study: str, model: Model, corpus: Corpus, measures: Iterable[str], settings: Settings = DEFAULTS) -> xr.Dataset:
    """The result of a study that consists of measures: one pass over the corpus.

    Raises `HeadscopeError` if no example fits into the model.
    """
    modules = {name: catalog.load("measures", name) for name in measures}
    attributes = provenance(study, model, corpus, settings)
    words = Words(model.tokenizer, model.max_tokens, settings.long)
    tallies, coverage, read = over(
        corpus, words, settings, lambda inputs, done: fold(model, inputs, modules, settings, done)
    )
    labelled = [label(module.VARIABLE, tallies[name], model.capture.heads) for name, module in modules.items()]
    variables = {name: array for each in [*labelled, coverage.variables()] for name, array in each.items()}
    return results.check(xr.Dataset(variables, attrs=attributes | read))
