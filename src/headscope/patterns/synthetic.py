"""Attention maps made up to a pattern: what a network is to learn beyond the few maps that were labelled by eye.

A map is a sum of parts (background, columns, lines along the diagonal, squares, stripes, spots), each with its share
of a query's attention; rows are then scaled to sum to 1.

>>> made = next(synthetic(100, seed=0))
>>> made.attention.shape == (len(made.labels), *made.classes.shape[1:] * 2)
True
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from headscope.patterns import parts
from headscope.patterns.grid import LEAST_TOKENS, MOST_TOKENS
from headscope.patterns.parts import Maps, Random, chance, each
from headscope.results import PATTERNS

CELLS = 1 << 20
CAUSAL, WASHED_OUT = 0.15, 0.2


class Made(NamedTuple):
    """Maps of one length, the classes of their tokens, and the numbers of their patterns in `PATTERNS`."""

    attention: Maps
    classes: Int[np.ndarray, "map token"]
    labels: Int[np.ndarray, " map"]


def synthetic(n: int, seed: int) -> Iterator[Made]:
    """About n maps, the five patterns alike, in batches of one length, from 4 to 512 tokens; the same for a seed."""
    random = np.random.default_rng(seed)
    while n > 0:
        length = round(np.exp(random.uniform(np.log(LEAST_TOKENS - 0.4), np.log(MOST_TOKENS + 0.4))))
        maps = int(np.clip(CELLS // (5 * length**2), 1, 12))
        made = batch(random, maps, length)
        n -= len(made.labels)
        yield made


def batch(random: Random, maps: int, length: int) -> Made:
    """This many maps of each pattern, of one length."""
    made = []
    for number, pattern in enumerate(PATTERNS):
        classes = parts.tokens(random, maps, length)
        attention = _finished(random, MAKERS[pattern](random, classes), washed=pattern != "diagonal")
        made.append(Made(attention, classes, np.full(maps, number)))
    return Made(*(np.concatenate(arrays) for arrays in zip(*made, strict=True)))


def vertical(random: Random, classes: Int[np.ndarray, "map token"]) -> Maps:
    """One or a few columns through most rows."""
    strength = each(random, classes, 0.7, 6)
    return parts.background(random, classes) + strength * parts.columns(random, classes, broken=0.35)


def diagonal(random: Random, classes: Int[np.ndarray, "map token"]) -> Maps:
    """A line or a band along the main diagonal, with at most a trace of a column."""
    strength, trace = each(random, classes, 2, 15), each(random, classes, 0, 0.15) * chance(random, classes, 0.5)
    column = parts.columns(random, classes, broken=0.8)
    return parts.background(random, classes) + strength * (parts.band(random, classes) + trace * column)


def vertical_diagonal(random: Random, classes: Int[np.ndarray, "map token"]) -> Maps:
    """A column through most rows, and a diagonal."""
    strength, share = each(random, classes, 2, 15), each(random, classes, 0.25, 0.75)
    both = (1 - share) * parts.band(random, classes) + share * parts.columns(random, classes, broken=0.4)
    return parts.background(random, classes) + strength * both


def block(random: Random, classes: Int[np.ndarray, "map token"]) -> Maps:
    """Even attention inside squares that follow the segments, or over all tokens."""
    inside = parts.squares(random, classes)
    outside = each(random, classes, 0, 0.25) * chance(random, classes, 0.6)
    return (inside + outside * (1 - inside)) * parts.noise(random, classes, each(random, classes, 0, 0.3))


def heterogeneous(random: Random, classes: Int[np.ndarray, "map token"]) -> Maps:
    """None of these: uneven attention, spots, stripes far from the diagonal, weak columns that rows share little."""
    uneven = parts.noise(random, classes, each(random, classes, 0.6, 1.6))
    uneven *= np.where(chance(random, classes, 0.4), parts.patches(random, classes), 1)
    uneven *= 1 + each(random, classes, 0, 0.5) * classes.shape[1] * parts.columns(random, classes, broken=0.8)
    striped = chance(random, classes, 0.25)
    stripes = each(random, classes, 5, 40) * parts.stripes(random, classes)
    spots = each(random, classes, 5, 40) * chance(random, classes, 0.5) * parts.spots(random, classes)
    return np.where(striped, 0.2, 1) * uneven + striped * stripes + spots


MAKERS = {maker.__name__: maker for maker in (vertical, diagonal, vertical_diagonal, block, heterogeneous)}


def _finished(random: Random, attention: Maps, washed: bool) -> Maps:
    """Rows that sum to 1; some maps causal, and in some the first token looks at nothing but itself."""
    length = attention.shape[1]
    one = (len(attention), 1, 1)
    causal = (random.random(one) < CAUSAL) & ~np.tri(length, dtype=bool)
    attention = np.where(causal, 0, attention + 1e-6)
    attention = attention / attention.sum(-1, keepdims=True)
    first = (random.random(len(attention)) < WASHED_OUT) & washed
    attention[first, 0] = np.eye(length)[0] * 0.9 + 0.1 * attention[first, 0]
    return attention.astype(np.float32)
