"""A vector for each word of a treebank: from a file of static vectors, or the model's own input embeddings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.capture.spread import stored
from headscope.encoding.parsed_sentences import Parsed
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.studies.heads.probe.word_vectors import read_vectors

# The first vector is 0: that of words without a vector, and of padding.
NONE = 0


@dataclass(frozen=True)
class Lexicon:
    """Vectors of words, divided by their root mean square, so that a learning rate means the same for all of them.

    * `rows`: of the words of a sentence in the table.
    * `coverage`: the share of words that have a vector.
    """

    table: Float[Tensor, "row number"]
    rows: Callable[[Parsed], Int[np.ndarray, " word"]]
    coverage: float


def from_file(source: str, sentences: Sequence[Parsed]) -> Lexicon:
    """The vectors of a file, of a word as it is written, else in lower case; see `word_vectors.read_vectors`.

    Raises `HeadscopeError` if it has none of the words.
    """
    forms = {form for sentence in sentences for form in sentence.forms}
    vectors = read_vectors(source, forms | {form.lower() for form in forms})
    if not vectors.row_of:
        raise HeadscopeError(f"vectors '{source}' has none of the words of the treebanks; name one of their language")
    numbers = {form: vectors.row_of.get(form, vectors.row_of.get(form.lower(), NONE - 1)) + 1 for form in forms}
    return _lexicon(vectors.table, numbers, lambda sentence: sentence.forms, sentences)


def from_model(model: Model, sentences: Sequence[Parsed]) -> Lexicon:
    """The model's input embeddings, averaged over the tokens of a word."""
    embeddings: Any = model.network.get_input_embeddings()
    weight = stored(embeddings, "weight", embeddings.weight).detach().float().cpu()
    words = list(dict.fromkeys(pieces for sentence in sentences for pieces in sentence.pieces))
    table = torch.stack([weight[list(pieces)].mean(0) for pieces in words]).numpy()
    numbers = {pieces: number for number, pieces in enumerate(words, 1)}
    return _lexicon(table, numbers, lambda sentence: sentence.pieces, sentences)


def _lexicon(
    vectors: Float[np.ndarray, "word number"],
    numbers: Mapping[Any, int],
    keys: Callable[[Parsed], Sequence[Any]],
    sentences: Sequence[Parsed],
) -> Lexicon:
    table = np.concatenate([np.zeros((1, vectors.shape[1]), np.float32), vectors])
    scale = np.float32(np.sqrt(np.square(vectors, dtype=np.float64).mean())) or np.float32(1)
    numbered = [numbers[key] != NONE for sentence in sentences for key in keys(sentence)]
    return Lexicon(
        torch.from_numpy(table / scale),
        lambda sentence: np.array([numbers[key] for key in keys(sentence)]),
        float(np.mean(numbered)),
    )
