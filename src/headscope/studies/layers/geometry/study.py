"""Run the study: from its options to a labelled result."""

import json
from dataclasses import replace
from typing import Annotated

import numpy as np
import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.passes import DEFAULTS, Settings
from headscope.passes.forward import normalised_at_the_end
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.ranges import Range
from headscope.studies.layers.geometry.hidden_pass import Hidden, HiddenState, hidden_pass, read_hidden
from headscope.studies.layers.geometry.samples import CONTEXTS
from headscope.studies.layers.geometry.variables import GeometryVariables


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    other: str | None = None,
    words: Annotated[int, Range(2, 32_768)] = 4096,
    occurrences: Annotated[int, Range(32, 32_768)] = 8192,
) -> xr.Dataset:
    """`anisotropy`, `self_similarity`, `norm` and so on by `layer`: how hidden states lie in space.

    A token is a piece of the tokenizer, [CLS] and [SEP] left out. Variables `embeddings_...` are of the embeddings that
    enter the first layer, layer 0 of the papers.

    Samples are drawn by the seed as the corpus is read, and merge: memory does not grow with the text. Up to 32
    occurrences of a token are kept. `intra_sentence_corrected` takes the anisotropy as exact.

    Arguments:

    * `other`: Another model with the same tokenizer, whose layers are aligned with those of the first.
    * `words`: Largest number of random tokens to keep, and of [CLS].
    * `occurrences`: Largest number of tokens to keep for the comparison of occurrences.

    Raises `HeadscopeError` if no example fits into the model, or the other model reads other tokens.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=4)))
    >>> result["anisotropy"].dims, result["alignment"].dims
    (('layer',), ('layer', 'other_layer'))
    """
    settings.on_total(corpus.n_examples * (1 if other is None else 2))
    attributes = provenance("geometry", model, corpus, settings)
    hidden = read_hidden(first_pass(model, corpus, settings, words=words, occurrences=occurrences))
    if hidden.value.words is None or len(hidden.value.words) < 2:
        raise HeadscopeError(f"corpus '{corpus.name}' has fewer than two tokens; name a larger corpus")
    aligned = None
    if other is not None and "interrupted" not in hidden.attributes:
        beside, uninterrupted = load(other), replace(settings, keep_interrupted=False)
        aligned = read_hidden(hidden_pass(beside, corpus, uninterrupted, words, CONTEXTS)).value
        _refuse_other_tokens(model, beside, hidden.value, aligned)
        attributes |= {"other_model": beside.name}
    variables = GeometryVariables(hidden.value, settings.seed, settings.resamples).arrays(aligned)
    attributes |= {"options": json.dumps({"words": words, "occurrences": occurrences})}
    attributes |= {"last_normalised": int(normalised_at_the_end(model))}
    return results.check(xr.Dataset(variables, attrs=attributes | hidden.attributes))


def first_pass(
    model: Model, corpus: Corpus, settings: Settings, *, words: int, occurrences: int
) -> PlannedPass[HiddenState]:
    """What other studies may read together with this one."""
    return hidden_pass(model, corpus, settings, words, occurrences)


def _refuse_other_tokens(model: Model, other: Model, hidden: Hidden, aligned: Hidden) -> None:
    plain, same = hidden.words, aligned.words
    if (
        plain is None
        or same is None
        or not (np.array_equal(plain.key, same.key) and np.array_equal(plain.token, same.token))
    ):
        raise HeadscopeError(
            f"models '{model.name}' and '{other.name}' read other tokens of the same text; name models with the same "
            "tokenizer and length"
        )
