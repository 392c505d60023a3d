"""Run the study: from its options to a labelled result."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import classes_of
from headscope.encoding.encoder import Words
from headscope.measures import FREQUENCY, PREDICTED, SMALL, SURFACE
from headscope.models import Model
from headscope.models.prediction_heads import no_words, with_words_head
from headscope.passes import DEFAULTS, Settings
from headscope.passes.measures import Measure
from headscope.passes.passes import measure, measuring
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.settings import Measures
from headscope.studies.heads.profile.frequencies import (
    frequencies_of,
    frequency_variables,
    piece_frequencies,
    predictions_of,
    word_counts,
)
from headscope.studies.heads.profile.groups import group_measures

LACKING = "tokens whose piece the frequency list lacks, in no class"


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    measures: Measures = (),
    frequency: bool = False,
    predicted_frequency: bool = False,
    frequency_list: Path | None = None,
    punctuation: bool = False,
) -> xr.Dataset:
    """Every surface statistic of every head, each with its 95% interval and its number of examples.

    Arguments:

    * `measures`: Measures of your own: modules or objects with `VARIABLE`, `observe` and `finish`, or names of
      installed ones.
    * `frequency`: Also attention to tokens by how frequent their pieces are in the corpus, which is read once more for
      it.
    * `predicted_frequency`: The same, and by how often the model itself predicts the pieces, in one more pass; needs a
      head for masked or next words.
    * `frequency_list`: As `frequency`, with the classes of a list: a file of words and their counts, with a tab or a
      comma between them. Tokens whose piece it lacks are in no class, and counted.
    * `punctuation`: As `frequency`, and "." and "," are counted among the pieces, for the other two as well.

    Raises `HeadscopeError` if no example fits into the model, and for a list that cannot be read.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=4)))
    >>> dict(result["entropy"].sizes), result["entropy"].units
    ({'layer': 6, 'head': 12}, 'nats')
    """
    classes = classes_of(corpus)
    groups = group_measures(model, classes)
    surface, further = surface_of(groups), (*measures, *groups)
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=bool(classes))
    if not (frequency or predicted_frequency or frequency_list or punctuation):
        return measure("profile", model, corpus, surface, settings, further=further, words=words)
    listed = {} if frequency_list is None else word_counts(frequency_list)
    counted = frequencies_of(model, corpus, settings, punctuation)
    frequencies = piece_frequencies(listed, model, counted) if listed else counted
    predicted, unmeasured = None, ""
    if predicted_frequency:
        predicting = with_words_head(model)
        if unmeasured := no_words(predicting):
            settings.on_notice(f"model '{model.name}': attention by predicted frequency is not measured: {unmeasured}")
        else:
            settings.on_total(2 * corpus.n_examples)
            predicted = predictions_of(predicting, corpus, settings, counted)
    words = replace(words, frequencies=frequencies, predicted=predicted)
    named = (*surface, *FREQUENCY, *(PREDICTED if predicted else ()))
    result = measure("profile", model, corpus, named, settings, further=further, words=words)
    result.attrs["not_counted"] = "special tokens" if punctuation else "special tokens, '.' and ','"
    variables = frequency_variables(frequencies, read=counted if listed else None)
    if listed:
        lacking = int(counted.counts[frequencies.counts[: len(counted.counts)] == 0].sum())
        skipped = json.loads(result.attrs["skipped"]) | ({LACKING: lacking} if lacking else {})
        name = f"{Path(str(frequency_list)).name} ({len(listed):,} words)"
        result.attrs |= {"frequency_list": name, "skipped": json.dumps(skipped)}
    if predicted:
        variables |= frequency_variables(predicted, "predicted")
        result.attrs["predictions"] = int(predicted.counts.sum())
    if unmeasured:
        result.attrs["not_measured"] = unmeasured
    return results.check(result.assign(variables))


def first_pass(
    model: Model,
    corpus: Corpus,
    settings: Settings,
    *,
    measures: Measures,
    frequency: bool,
    predicted_frequency: bool,
    frequency_list: Path | None = None,
    punctuation: bool = False,
) -> PlannedPass[dict[str, Any]] | None:
    """What other studies may read together with this one; None with frequencies or classes, which change the inputs."""
    if frequency or predicted_frequency or frequency_list or punctuation or classes_of(corpus):
        return None
    groups = group_measures(model, ())
    return measuring(model, corpus, surface_of(groups), settings, further=(*measures, *groups))


def surface_of(groups: list[Measure]) -> tuple[str, ...]:
    """The measures of every profile, and of a model with a small vocabulary those of its letters."""
    small = any("piece" in group.VARIABLE.coords for group in groups)
    return (*SURFACE, *(SMALL if small else ()))
