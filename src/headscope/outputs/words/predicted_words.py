"""The words of texts as inputs that predict them: the next ones, or some of them, each under a mask of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from jaxtyping import Int
from tokenizers import Encoding

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.masking import ALL_MASKED, IGNORED, behind_masks, maskable, next_pieces
from headscope.linguistics.sentence import Example, segment_text
from headscope.models import Model
from headscope.models.prediction_heads import is_causal, refuse_without_words_head
from headscope.outputs.words.word_units import word_units

Pieces = Int[np.ndarray, " token"]


@dataclass(frozen=True)
class PredictedWords:
    """Inputs that predict words.

    * `pieces`: of each input the piece that is predicted at each token, elsewhere `IGNORED`.
    * `characters`: of each input, those of the predicted words and of the blanks before them.
    * `texts`: the number of the text of each input, in ascending order; each text has one input at least.
    """

    inputs: Sequence[Encoded]
    pieces: Sequence[Pieces]
    characters: Sequence[int]
    texts: Sequence[int]


def predicted_words(model: Model, words: Words, corpus: Corpus, seed: int) -> PredictedWords:
    """The inputs that predict the words of each text; special and unknown pieces are not predicted.

    A causal model predicts each piece from those before it, none from nothing. A masked model predicts 15% of the words
    of a text, at least one, drawn by the seed: all pieces of a word are masked, and no other word. (The
    pseudo-log-likelihood of Salazar et al. 2020, by words.)

    * `words`: cuts texts that are too long into inputs, or at their end; counts those, and texts without a token.

    Raises `HeadscopeError` for a model that predicts no words.
    """
    refuse_without_words_head(model)
    parts = _next_words if is_causal(model) else _masked_words
    rows = [
        (replace(part, document=corpus.units[text]), pieces, characters, text)
        for text, (example, encodings) in enumerate(words.tokenized(corpus))
        for encoding in encodings
        for part, pieces, characters in parts(model, words.encoded(text, example, encoding), example, encoding, seed)
    ]
    inputs, pieces, characters, texts = zip(*rows, strict=True) if rows else ((), (), (), ())
    return PredictedWords(
        [replace(part, index=number) for number, part in enumerate(inputs)], pieces, characters, texts
    )


Parts = Iterator[tuple[Encoded, Pieces, int]]


def _next_words(model: Model, encoded: Encoded, example: Example, encoding: Encoding, seed: int) -> Parts:
    pieces = next_pieces(encoded, model.tokenizer)
    yield encoded, pieces, int(_characters(encoding)[1:][pieces[:-1] != IGNORED].sum())


def _masked_words(model: Model, encoded: Encoded, example: Example, encoding: Encoding, seed: int) -> Parts:
    characters, words = _characters(encoding), list(_words(example, encoding, maskable(encoded, model.tokenizer)))
    number = max(1, round(ALL_MASKED.share * len(words)))
    chosen = np.sort(np.random.default_rng([seed, encoded.index]).permutation(len(words))[:number])
    for tokens in [words[word] for word in chosen] or [np.zeros(0, int)]:
        yield *behind_masks(encoded, model.tokenizer, tokens), int(characters[tokens].sum())


def _words(example: Example, encoding: Encoding, real: np.ndarray) -> Iterator[Int[np.ndarray, " token"]]:
    """The tokens of each word, of all segments."""
    segment = np.array([-1 if number is None else number for number in encoding.sequence_ids])
    by_segment = (
        (segment_text(sentences), np.flatnonzero(real & (segment == number)))
        for number, sentences in enumerate(example.segments)
    )
    return chain.from_iterable(
        np.split(tokens, np.flatnonzero(np.diff(word_units(text, encoding, tokens))) + 1)
        for text, tokens in by_segment
        if len(tokens)
    )


def _characters(encoding: Encoding) -> Int[np.ndarray, " token"]:
    """How many characters of the text each token adds to those before it, with the blanks between them."""
    segment = np.array([-1 if number is None else number for number in encoding.sequence_ids])
    added = np.zeros(len(segment), int)
    for number in (0, 1):
        ends = np.where(segment == number, np.array(encoding.offsets, int).reshape(-1, 2)[:, 1], 0)
        added += np.diff(np.maximum.accumulate(ends), prepend=0)
    return added
