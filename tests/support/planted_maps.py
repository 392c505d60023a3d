"""Maps whose pattern is beyond doubt, in closed form: each row sums to 1, and most of it is where the pattern says.

>>> planted("diagonal", 5, seed=1).sum(-1).round(6)
array([1., 1., 1., 1., 1.])
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from headscope.results.vocabulary import PATTERNS

SIZES = (4, 5, 6, 8, 11, 16, 23, 32, 33, 47, 64, 65, 96, 128, 200, 333, 512)
# Shorter ones have no room for two squares, or for stripes that are far from the diagonal.
LEAST = {"block": 4, "heterogeneous": 8}

Attention = Float[np.ndarray, "token token"]


def planted_maps(pattern: str, seeds: int = 4) -> Iterator[tuple[int, Attention]]:
    """Maps of a pattern of all sizes that it can have, and their length."""
    for length in SIZES:
        if length >= LEAST.get(pattern, 4):
            yield from ((length, planted(pattern, length, seed)) for seed in range(seeds))


def planted(pattern: str, length: int, seed: int) -> Attention:
    """A map of a pattern; even background takes a tenth or a third of each row."""
    random = np.random.default_rng([PATTERNS.index(pattern), length, seed])
    share = (0.1, 0.3)[seed % 2]
    shape = MAKERS[pattern](random, length, seed % 4)
    return (1 - share) * shape / shape.sum(-1, keepdims=True) + share / length


def _columns(random: np.random.Generator, length: int, seed: int) -> Attention:
    """The first column, the last, or one to three of any."""
    columns = {0: [0], 1: [length - 1]}.get(seed, random.choice(length, 1 + (length > 12) * (seed - 1), replace=False))
    shape = np.zeros((length, length))
    shape[:, columns] = 1
    return shape


def _diagonal(random: np.random.Generator, length: int, seed: int) -> Attention:
    """The token itself, the previous, the next, or all three; a row that has none looks at itself."""
    offsets = ([0], [-1], [1], [-1, 0, 1] if length > 12 else [0])[seed % 4]
    shape = np.sum([np.eye(length, k=offset) for offset in offsets], axis=0)
    return shape + np.eye(length) * (shape.sum(-1, keepdims=True) == 0)


def _both(random: np.random.Generator, length: int, seed: int) -> Attention:
    """As much in columns as on the diagonal."""
    columns = _columns(random, length, seed)
    return columns / columns.sum(-1, keepdims=True) + _diagonal(random, length, seed)


def _squares(random: np.random.Generator, length: int, seed: int) -> Attention:
    """The whole map, or two to four squares of at least four tokens."""
    number = min(1 + seed, length // 6) or 1
    part = np.arange(length) * number // length
    return (part[:, None] == part).astype(float)


def _scattered(random: np.random.Generator, length: int, seed: int) -> Attention:
    """Each query looks at two keys of its own, far from it; or stripes far from the diagonal."""
    positions = np.arange(length)
    if seed % 2 and length >= 12:
        return (abs(positions[:, None] - positions) == length // 2).astype(float) + np.zeros((length, length))
    far = abs(positions[:, None] - positions) > length // 4
    shape = np.zeros((length, length))
    for _ in range(2):
        shape += np.argmax(random.random((length, length)) * far, -1)[:, None] == positions
    return shape


MAKERS = {
    "vertical": _columns,
    "diagonal": _diagonal,
    "vertical_diagonal": _both,
    "block": _squares,
    "heterogeneous": _scattered,
}
