"""Attention maps made up to a pattern: what a network is to learn beyond the few maps that were labelled by eye.

A map is a sum of parts (background, columns, lines along the diagonal, squares, stripes, spots), each with its share
of a query's attention; rows are then scaled to sum to 1. Of causal maps the squares are triangles.

>>> made = next(synthetic(100, seed=0))
>>> made.attention.shape == (len(made.labels), *made.classes.shape[1:] * 2)
True
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.grid import LEAST_TOKENS, MOST_TOKENS
from pattern_workshop import synthetic_shapes
from pattern_workshop.synthetic_shapes import Canvas, Maps

# Maps of each pattern that have the same length.
ALIKE = 3
CAUSAL, FIRST_ALONE = 0.15, 0.2


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
        made = batch(random, ALIKE, length)
        n -= len(made.labels)
        yield made


def batch(random: np.random.Generator, maps: int, length: int) -> Made:
    """This many maps of each pattern, of one length."""
    made = []
    causal = random.random() < CAUSAL
    for number, pattern in enumerate(PATTERNS):
        canvas = synthetic_shapes.canvas(random, maps, length, causal)
        made.append(Made(_finished(canvas, MAKERS[pattern](canvas)), canvas.classes, np.full(maps, number)))
    return Made(*(np.concatenate(arrays) for arrays in zip(*made, strict=True)))


def vertical(canvas: Canvas) -> Maps:
    """One or a few columns through most rows, or attention that hardly depends on the query."""
    few = canvas.between(0.7, 6) * synthetic_shapes.columns(canvas, broken=0.35)
    return synthetic_shapes.background(canvas) + np.where(
        canvas.chance(0.75), few, 6 * synthetic_shapes.many_columns(canvas)
    )


def diagonal(canvas: Canvas) -> Maps:
    """A line or a band along the main diagonal, with at most a trace of a column."""
    trace = canvas.between(0, 0.15) * canvas.chance(0.5) * synthetic_shapes.columns(canvas, broken=0.8)
    return synthetic_shapes.background(canvas) + canvas.between(2, 15) * (_lines(canvas) + trace)


def vertical_diagonal(canvas: Canvas) -> Maps:
    """A column through most rows, and a diagonal."""
    share = canvas.between(0.25, 0.75)
    both = (1 - share) * _lines(canvas) + share * synthetic_shapes.columns(canvas, broken=0.4)
    return synthetic_shapes.background(canvas) + canvas.between(2, 15) * both


def block(canvas: Canvas) -> Maps:
    """Even attention inside squares that follow the segments, or over all tokens; at most a trace of a column."""
    inside = np.where(canvas.chance(0.6), synthetic_shapes.squares(canvas), 1)
    outside = canvas.between(0, 0.25) * canvas.chance(0.6)
    trace = canvas.between(0, 1) * canvas.chance(0.3) * _faint(canvas)
    return (inside + outside * (1 - inside) + trace) * synthetic_shapes.noise(canvas, canvas.between(0, 0.3))


def heterogeneous(canvas: Canvas) -> Maps:
    """None of these: uneven attention, spots, stripes far from the diagonal, weak columns that rows share little."""
    uneven = synthetic_shapes.noise(canvas, canvas.between(0.6, 1.6))
    uneven *= np.where(canvas.chance(0.4), synthetic_shapes.patches(canvas), 1)
    uneven *= 1 + canvas.between(0, 3) * _faint(canvas)
    striped = canvas.chance(0.25)
    stripes = canvas.between(5, 40) * synthetic_shapes.stripes(canvas)
    spots = canvas.between(5, 40) * canvas.chance(0.5) * synthetic_shapes.spots(canvas)
    return np.where(striped, 0.2, 1) * uneven + striped * stripes + spots


MAKERS = {maker.__name__: maker for maker in (vertical, diagonal, vertical_diagonal, block, heterogeneous)}


def _lines(canvas: Canvas) -> Maps:
    """A band, and in some maps weaker or equal stripes far from it."""
    stripes = canvas.between(0.1, 0.7) * canvas.chance(0.2) * synthetic_shapes.stripes(canvas)
    return synthetic_shapes.band(canvas) + stripes


def _faint(canvas: Canvas) -> Maps:
    """Broken columns, as a share of their largest cell."""
    made = synthetic_shapes.columns(canvas, broken=0.8)
    return made / made.max((1, 2), keepdims=True)


def _finished(canvas: Canvas, attention: Maps) -> Maps:
    """Rows that sum to 1; in some maps the first token looks at little but itself."""
    attention = np.where(np.tri(canvas.length, dtype=bool) | (not canvas.causal), attention + 1e-6, 0)
    attention = attention / attention.sum(-1, keepdims=True)
    alone = np.flatnonzero(canvas.chance(FIRST_ALONE))
    attention[alone, 0] = 0.9 * np.eye(canvas.length)[0] + 0.1 * attention[alone, 0]
    return attention.astype(np.float32)
