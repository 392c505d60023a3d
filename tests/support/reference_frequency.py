"""Measures of frequent and rare pieces, read naively off their definitions: loops over tokens."""

from collections import Counter
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from support.reference_tokens import Read

CLASSES = ["rarest", "rare", "middle", "frequent", "most_frequent"]


def count(read: list[Read], predicted: Counter[int] | None = None) -> None:
    """Give each token of the class "other" the count of its piece in all examples, and the class of the count.

    * `predicted`: how often each piece is predicted, which takes the place of its count.
    """
    kept = [[token for token in one.tokens("other") if _has_special(one) or token > 0] for one in read]
    stand = Counter(one.ids[token] for one, tokens in zip(read, kept, strict=True) for token in tokens)
    counts = stand if predicted is None else predicted
    in_order = sorted(counts[one.ids[token]] for one, tokens in zip(read, kept, strict=True) for token in tokens)
    for one, tokens in zip(read, kept, strict=True):
        for token in tokens:
            one.counts[token] = number = counts[one.ids[token]]
            middle = np.mean(
                [number_before + 0.5 for number_before, other in enumerate(in_order) if other == number]
            ) / len(in_order)
            one.frequency[token] = CLASSES[int(middle * 5 + 1e-9)]


def attention(read: Read) -> np.ndarray:
    received, uniform = _by_key(read)
    columns = []
    for name in CLASSES:
        tokens = [token for token, of in read.frequency.items() if of == name]
        given = [uniform[:, token] for token in tokens]
        columns.append(
            received[:, :, tokens].sum(-1) / np.sum(given, axis=0)[:, None]
            if tokens
            else np.full(read.maps.shape[:2], np.nan)
        )
    return np.stack(columns, axis=-1)


def correlation(read: Read) -> np.ndarray:
    received, uniform = _by_key(read)
    tokens, result = sorted(read.counts), np.full(read.maps.shape[:2], np.nan)
    counts = [read.counts[token] for token in tokens]
    if len(tokens) < 3 or len(set(counts)) < 2:
        return result
    for layer, head in np.ndindex(result.shape):
        values = received[layer, head, tokens] / uniform[layer, tokens]
        values = (values / (values.mean() or 1)).round(4)
        found: Any = spearmanr(values, counts) if len(set(values)) > 1 else None
        result[layer, head] = found.statistic if found else 0
    return result


def _by_key(read: Read) -> tuple[np.ndarray, np.ndarray]:
    """What each token gets from tokens of the text, [layer, head, key], and if they saw all alike, [layer, key]."""
    layers, heads, length, _ = read.maps.shape
    causal = length > 1 and not np.triu(read.maps, 1).any()
    received, uniform = np.zeros((layers, heads, length)), np.zeros((layers, length))
    for query in range(length):
        if read.classes[query] in ("punct", "other"):
            received += read.maps[:, :, query]
            seen = query + 1 if causal else length
            uniform[:, :seen] += 1 / seen
    return received, uniform


def _has_special(read: Read) -> bool:
    return bool(read.tokens("cls") or read.tokens("sep"))
