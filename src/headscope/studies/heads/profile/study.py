"""Run the study: from its options to a labelled result."""

from collections import Counter
from typing import Any

import numpy as np
import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.encoding.encoded import token_classes
from headscope.encoding.encoder import Words
from headscope.encoding.frequencies import Frequencies, counted
from headscope.measures import FREQUENCY, PREDICTED, SURFACE
from headscope.models import Model
from headscope.models.words_head import no_words, with_words_head
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import measure, measuring
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.settings import Measures
from headscope.studies.heads.profile.predicting import predictions_of
from headscope.studies.heads.profile.variables import frequency_variables


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    measures: Measures = (),
    frequency: bool = False,
    predicted_frequency: bool = False,
) -> xr.Dataset:
    """Every surface statistic of every head, each with its 95% interval and its number of examples.

    Arguments:

    * `model`: Model to measure.
    * `corpus`: Examples to read.
    * `settings`: Seed, batch size, number of resamples, and progress.
    * `measures`: Measures of your own: modules or objects with `VARIABLE`, `observe` and `finish`, or names of
      installed ones.
    * `frequency`: Also attention to tokens by how frequent their pieces are in the corpus, which is read once more for
      it.
    * `predicted_frequency`: The same, and by how often the model itself predicts the pieces, which takes one more pass;
      of a model with a head for masked or next words.

    Raises `HeadscopeError` if no example fits into the model.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=4)))
    >>> dict(result["entropy"].sizes), result["entropy"].units
    ({'layer': 6, 'head': 12}, 'nats')
    """
    if not (frequency or predicted_frequency):
        return measure("profile", model, corpus, SURFACE, settings, further=measures)
    counted = frequencies_of(model, corpus, settings)
    predicted, unmeasured = None, ""
    if predicted_frequency:
        predicting = with_words_head(model)
        if unmeasured := no_words(predicting):
            settings.on_notice(f"model '{model.name}': attention by predicted frequency is not measured: {unmeasured}")
        else:
            settings.on_total(2 * corpus.n_examples)
            predicted = predictions_of(predicting, corpus, settings, counted)
    words = Words(model.tokenizer, model.max_tokens, settings.long, frequencies=counted, predicted=predicted)
    named = (*SURFACE, *FREQUENCY, *(PREDICTED if predicted else ()))
    result = measure("profile", model, corpus, named, settings, further=measures, words=words)
    variables = frequency_variables(counted)
    if predicted:
        variables |= frequency_variables(predicted, "predicted")
        result.attrs["predictions"] = int(predicted.counts.sum())
    if unmeasured:
        result.attrs["not_measured"] = unmeasured
    return results.check(result.assign(variables))


def first_pass(
    model: Model, corpus: Corpus, settings: Settings, *, measures: Measures, frequency: bool, predicted_frequency: bool
) -> PlannedPass[dict[str, Any]] | None:
    """What other studies may read together with this one; None with frequencies, which change the inputs."""
    if frequency or predicted_frequency:
        return None
    return measuring(model, corpus, SURFACE, settings, further=measures)


def frequencies_of(model: Model, corpus: Corpus, settings: Settings) -> Frequencies:
    """How often each piece stands in a corpus as a model reads it; Ctrl-C here leaves nothing to keep."""
    words, counts = Words(model.tokenizer, model.max_tokens, settings.long), Counter[int]()
    for example, encodings in words.tokenized(corpus):
        for encoding in encodings:
            known = counted(token_classes(example, encoding, model.tokenizer))
            counts.update(np.array(encoding.ids)[known].tolist())
    by_piece = np.zeros(max(counts, default=0) + 1, dtype=np.int64)
    by_piece[list(counts)] = list(counts.values())
    return Frequencies(by_piece, causal=not model.looks_ahead)
