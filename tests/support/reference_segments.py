"""Measures of pairs of segments, read naively off their definitions: loops over words."""

import numpy as np

from support.reference_tokens import Read


def same_word(read: Read) -> np.ndarray:
    """Attention of words to their copies, to words as far apart, and of others to the copies, [layer, head, kind]."""
    words = [word if word.tokens else None for word in read.words]
    rows = []
    for one in range(len(words)):
        compared = [values for other in range(len(words)) if (values := _compared(read, words, one, other))]
        if compared:
            rows.append(np.mean([np.stack(values, axis=-1) for values in compared], axis=0))
    return np.mean(rows, axis=0) if rows else np.full((*read.maps.shape[:2], 3), np.nan)


def same_word_gain(read: Read) -> np.ndarray:
    values = same_word(read)
    return values[..., :1] - values[..., 1:]


def segment_attention(read: Read) -> np.ndarray:
    """Attention of words' tokens to those of their own segment and of the other one."""
    tokens = [{token for word in read.words if word.segment == number for token in word.tokens} for number in (0, 1)]
    if not all(tokens):
        return np.full((*read.maps.shape[:2], 2), np.nan)
    rows = []
    for own, other in (tokens, tokens[::-1]):
        for query in own:
            to = [read.maps[:, :, query, sorted(keys)].sum(-1) for keys in (own, other)]
            rows.append(np.stack(to, axis=-1))
    return np.mean(rows, axis=0)


def _compared(read: Read, words: list, one: int, other: int) -> list[np.ndarray] | None:
    """The three values of a word and its copy; None where they are no copies, or a baseline is missing."""
    if not _across(words, one, other) or words[one].form != words[other].form:
        return None
    others = [(a, b) for a in range(len(words)) for b in range(len(words)) if _across(words, a, b)]
    others = [(a, b) for a, b in others if words[a].form != words[b].form]
    far = [(a, b) for a, b in others if b - a == other - one]
    to_copy = [(a, b) for a, b in others if b == other]
    if not far or not to_copy:
        return None
    kinds = ([(one, other)], far, to_copy)
    return [np.mean([_attention(read, words[a], words[b]) for a, b in pairs], axis=0) for pairs in kinds]


def _across(words: list, one: int, other: int) -> bool:
    both = words[one], words[other]
    if not all(both) or both[0].segment == both[1].segment:
        return False
    return all(any(letter.isalnum() for letter in word.form) for word in both)


def _attention(read: Read, one, other) -> np.ndarray:
    """From a word the mean over its tokens, to a word the sum over its tokens."""
    return read.maps[:, :, one.tokens][..., other.tokens].sum(-1).mean(-1)
