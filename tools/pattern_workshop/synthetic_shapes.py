"""The parts of which maps are made up: arrays [map, query, key], of shares of a query's attention or of factors."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.results.vocabulary import TOKEN_CLASSES

Maps = Float[np.ndarray, "map token token"]
Number = Float[np.ndarray, "map 1 1"]
CLS, SEP, PUNCT, OTHER = (TOKEN_CLASSES.index(name) for name in ("cls", "sep", "punct", "other"))


@dataclass(frozen=True)
class Canvas:
    """Maps of one length that are still to be made: the classes of their tokens, and chance.

    `causal`: queries see only the keys up to their own.
    """

    random: np.random.Generator
    classes: Int[np.ndarray, "map token"]
    causal: bool

    @property
    def maps(self) -> int:
        """Their number."""
        return self.classes.shape[0]

    @property
    def length(self) -> int:
        """Their number of tokens."""
        return self.classes.shape[1]

    @property
    def distance(self) -> Int[np.ndarray, "token token"]:
        """From the query to the key, in tokens."""
        return np.arange(self.length) - np.arange(self.length)[:, None]

    def between(self, low: float, high: float) -> Number:
        """A number for each map."""
        return self.random.uniform(low, high, (self.maps, 1, 1)).astype(np.float32)

    def chance(self, probability: float) -> Bool[np.ndarray, "map 1 1"]:
        """Yes or no for each map."""
        return self.random.random((self.maps, 1, 1)) < probability

    def normal(self, *shape: int) -> Float[np.ndarray, "map *shape"]:
        """Normal deviates."""
        return self.random.standard_normal((self.maps, *shape), np.float32)

    def rows(self, share: Number) -> Bool[np.ndarray, "map token 1"]:
        """A random share of the queries of each map."""
        return self.random.random((self.maps, self.length, 1), np.float32) < share


def canvas(random: np.random.Generator, maps: int, length: int, causal: bool) -> Canvas:
    """Tokens: [CLS], one or more segments that end in [SEP], some punctuation; or no special tokens."""
    classes = np.where(random.random((maps, length)) < 0.08, PUNCT, OTHER)
    ends = random.integers(2, length - 1, (maps, 3))
    special = random.random(maps) < 0.85
    for row, positions, further in zip(classes, ends, random.choice(4, maps, p=(0.4, 0.4, 0.1, 0.1)), strict=True):
        row[positions[:further]] = SEP
    classes[~special & (classes == SEP).any(-1)] = OTHER
    classes[special, 0], classes[special, -1] = CLS, SEP
    return Canvas(random, classes, causal)


def noise(canvas: Canvas, spread: Number) -> Maps:
    """Log-normal noise around 1."""
    return np.exp(spread * canvas.normal(canvas.length, canvas.length))


def background(canvas: Canvas) -> Maps:
    """Noise over all keys, some of which get a little more than others."""
    uneven = noise(canvas, canvas.between(0, 1.2)) * np.exp(canvas.between(0, 0.6) * canvas.normal(1, canvas.length))
    return uneven / uneven.sum(-1, keepdims=True)


def columns(canvas: Canvas, broken: float) -> Maps:
    """One to a few columns, often those of special tokens; up to a share `broken` of the rows goes without."""
    liked = np.where(canvas.classes == OTHER, 1.0, 1 + 8 * canvas.random.random((canvas.maps, 1)))
    first = 1 if canvas.causal else canvas.classes[:, 0] == CLS
    liked[:, 0] += canvas.length / 3 * canvas.random.random(canvas.maps) * first
    if canvas.causal:
        liked[:, max(1, canvas.length // 5) :] = 1e-9
    order = np.log(liked) + canvas.random.gumbel(size=liked.shape)
    most = np.minimum(1 + canvas.random.geometric(0.4, canvas.maps), 1 + canvas.length // 8)
    chosen = np.argsort(np.argsort(-order, -1), -1) < most[:, None]
    weight = (chosen * np.exp(0.7 * canvas.normal(canvas.length)))[:, None]
    made = weight / weight.sum(-1, keepdims=True) * noise(canvas, canvas.between(0, 0.9))
    return made * np.where(canvas.rows(canvas.between(0, broken)), 0.05, 1)


def many_columns(canvas: Canvas) -> Maps:
    """Attention that differs much by key and little by query."""
    weight = np.exp(canvas.between(1.4, 2.4) * canvas.normal(1, canvas.length))
    if canvas.causal:
        weight[:, :, max(1, canvas.length // 5) :] *= 0.02
    made = weight * noise(canvas, canvas.between(0, 0.5))
    return made / made.sum(-1, keepdims=True)


def band(canvas: Canvas) -> Maps:
    """A line or a band parallel to the main diagonal and close to it, of uneven strength."""
    near = max(1, canvas.length // 16)
    offsets = canvas.random.choice([0, 0, 0, -1, -1, 1, 1, -2, 2], (canvas.maps, 2)).clip(-near, near)
    offsets = -abs(offsets) if canvas.causal else offsets
    offsets[:, 1] = np.where(canvas.random.random(canvas.maps) < 0.75, offsets[:, 0], offsets[:, 1])
    width = np.where(canvas.chance(0.6), 0.3, canvas.between(0.3, max(0.8, 0.08 * canvas.length)))
    made = np.zeros((canvas.maps, canvas.length, canvas.length), np.float32)
    for offset in offsets.T:  # [map], one of the two edges
        made += np.exp(-(((canvas.distance - offset[:, None, None]) / width) ** 2) / 2)
    made /= made.sum(-1, keepdims=True) + 1e-3
    made *= noise(canvas, canvas.between(0, 0.9))
    made *= np.exp(canvas.between(0, 0.8) * canvas.normal(canvas.length, 1))
    return made * np.where(canvas.rows(canvas.between(0, 0.3)), 0.1, 1)


def squares(canvas: Canvas) -> Maps:
    """1 inside squares along the diagonal: of the segments that separators end, or two to five of any size."""
    ends = canvas.classes == SEP
    free = canvas.random.random(canvas.maps) < 0.6
    least = max(2, canvas.length // 8)
    parts = canvas.random.integers(2, min(5, max(2, canvas.length // least)) + 1, canvas.maps)
    position = np.arange(canvas.length)
    for row, number in zip(np.flatnonzero(free), parts[free], strict=True):
        spare = canvas.random.multinomial(canvas.length - number * least, np.full(number, 1 / number))
        ends[row] = np.isin(position, np.cumsum(least + spare) - 1)
    segment = np.cumsum(ends, -1) - ends
    return (segment[:, :, None] == segment[:, None, :]).astype(np.float32)


def stripes(canvas: Canvas) -> Maps:
    """Lines parallel to the main diagonal but far from it, as of tokens that occur in both segments."""
    offset = canvas.random.integers(max(2, canvas.length // 4), max(3, 3 * canvas.length // 4), (canvas.maps, 1, 1))
    side = canvas.random.choice(3, (canvas.maps, 1, 1)) if not canvas.causal else 1
    made = (canvas.distance == offset) & (side != 1) | (canvas.distance == -offset) & (side != 0)
    return made * canvas.rows(canvas.between(0.6, 1)) * noise(canvas, canvas.between(0, 0.8))


def spots(canvas: Canvas) -> Maps:
    """1 in single cells, here and there."""
    shape = (canvas.maps, canvas.length, canvas.length)
    return (canvas.random.random(shape, np.float32) < canvas.between(0.002, 0.03)).astype(np.float32)


def patches(canvas: Canvas) -> Maps:
    """Factors of 1, and of up to 5 in rectangles anywhere."""
    smooth = np.ones((canvas.maps, canvas.length, canvas.length), np.float32)
    position = np.arange(canvas.length)
    for _ in range(4):
        low = canvas.random.integers(0, canvas.length, (canvas.maps, 2, 1))
        size = canvas.random.integers(1, max(2, canvas.length // 2), (canvas.maps, 2, 1))
        inside = (position >= low) & (position < low + size)
        smooth += canvas.between(0, 4) * (inside[:, 0, :, None] & inside[:, 1, None])
    return smooth
