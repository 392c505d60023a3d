"""The words of a text that is scored, and the tokens of each."""

from collections.abc import Iterator
from itertools import pairwise
from unicodedata import category

import numpy as np
from jaxtyping import Int
from tokenizers import Encoding

from headscope.corpora.parsing.words import Span, between_blanks, words


def word_units(text: str, encoding: Encoding, tokens: Int[np.ndarray, " scored"]) -> Int[np.ndarray, " scored"]:
    """The number of the word of each of these tokens, in ascending order; words that share a token are one.

    Words stand between blanks, or are those of `words` where letters meet without a blank. A sign belongs to the word
    that it touches, unless the tokenizer takes it by itself: BERT's words are then those of minicons. What else the
    tokenizer splits does not count: without a splitter, as in Gemma's, a whole text would be one word.
    """
    if not len(tokens):
        return np.zeros(0, int)
    starts, ends = np.array(encoding.offsets, int)[tokens].T  # [scored]
    word_starts, word_ends = np.array([*_words(text)], int).reshape(-1, 2).T  # [word]
    first = np.minimum(
        np.searchsorted(word_ends, starts, "right"), len(word_ends) - 1
    )  # a blank belongs to what follows
    last = np.maximum(np.searchsorted(word_starts, ends, "left") - 1, first)
    split = np.diff([-1 if word is None else word for word in encoding.word_ids], prepend=-1)[tokens] != 0
    signs = [_is_sign(text[end - 1]) or _is_sign(text[start]) for end, start in zip(ends[:-1], starts[1:], strict=True)]
    begins = (first[1:] > np.maximum.accumulate(last)[:-1]) | (split[1:] & np.array(signs, bool))
    return np.concatenate([[0], np.cumsum(begins)])


def _words(text: str) -> Iterator[Span]:
    """The characters of each word, with the signs that touch it.

    >>> [text[start:end] for text in ("He sat (there).", "“我喜欢猫，” 他说。") for start, end in _words(text)]
    ['He', 'sat', '(there).', '“我', '喜欢', '猫，”', '他', '说。']
    """
    for base, stop in between_blanks(text):
        spans = () if text.isascii() else words(text[base:stop])  # which has no letters of such a script
        spelt = [any(map(str.isalpha, text[base + start : base + end])) for start, end in spans]
        if any(first and second for first, second in pairwise(spelt)):
            begins = [base + start for (start, _), letters in zip(spans, spelt, strict=True) if letters][1:]
            yield from pairwise([base, *begins, stop])
        else:
            yield base, stop


def _is_sign(character: str) -> bool:
    """Whether it is no letter, digit or combining sign."""
    return category(character)[0] not in "LNM"
