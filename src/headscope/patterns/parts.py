"""The parts of which maps are made up: each is an array [map, query, key], where rows sum to about 1 or are shares."""

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.results import TOKEN_CLASSES

Maps = Float[np.ndarray, "map token token"]
Tokens = Int[np.ndarray, "map token"]
Random = np.random.Generator
CLS, SEP, PUNCT, OTHER = (TOKEN_CLASSES.index(name) for name in ("cls", "sep", "punct", "other"))


def each(random: Random, classes: Tokens, low: float, high: float) -> Float[np.ndarray, "map 1 1"]:
    """A number for each map, between two."""
    return random.uniform(low, high, (len(classes), 1, 1)).astype(np.float32)


def chance(random: Random, classes: Tokens, probability: float) -> Bool[np.ndarray, "map 1 1"]:
    """Yes or no for each map."""
    return random.random((len(classes), 1, 1)) < probability


def tokens(random: Random, maps: int, length: int) -> Tokens:
    """Classes of tokens: [CLS], one or more segments that end in [SEP], some punctuation; or no special tokens."""
    classes = np.where(random.random((maps, length)) < 0.08, PUNCT, OTHER)
    for row in classes[random.random(maps) < 0.85]:
        row[0], row[-1] = CLS, SEP
    ends = random.integers(0, length, (maps, 3))
    for row, places, further in zip(classes, ends, random.choice(4, maps, p=(0.4, 0.4, 0.1, 0.1)), strict=True):
        row[places[:further]] = SEP if row[-1] == SEP else OTHER
    return classes


def noise(random: Random, classes: Tokens, spread: Float[np.ndarray, "map 1 1"]) -> Maps:
    """Log-normal noise around 1."""
    return np.exp(spread * _normal(random, *classes.shape, classes.shape[1]))


def background(random: Random, classes: Tokens) -> Maps:
    """Noise over all keys, some of which get more than others."""
    uneven = noise(random, classes, each(random, classes, 0, 1.2))
    uneven *= np.exp(each(random, classes, 0, 0.6) * _normal(random, len(classes), 1, classes.shape[1]))
    return uneven / uneven.sum(-1, keepdims=True)


def columns(random: Random, classes: Tokens, broken: float) -> Maps:
    """One to a few columns, often those of special tokens; up to a share `broken` of the rows goes without."""
    maps, length = classes.shape
    liked = np.where(classes == OTHER, 1.0, 1 + 8 * random.random((maps, 1)))
    liked[:, 0] += length / 3 * random.random(maps) * (classes[:, 0] == CLS)
    liked = np.log(liked) + random.gumbel(size=(maps, length))
    most = np.minimum(1 + random.geometric(0.4, maps), 1 + length // 8)
    rank = np.argsort(np.argsort(-liked, -1), -1)
    weight = np.where(rank < most[:, None], np.exp(0.7 * _normal(random, maps, length)), 0)[:, None]
    made = weight / weight.sum(-1, keepdims=True) * noise(random, classes, each(random, classes, 0, 0.9))
    gone = random.random((maps, length, 1)) < each(random, classes, 0, broken)
    return made * np.where(gone, 0.05, 1)


def band(random: Random, classes: Tokens) -> Maps:
    """A line or a band parallel to the main diagonal and close to it, of uneven strength."""
    maps, length = classes.shape
    near = max(1, length // 16)
    offsets = random.choice([0, 0, 0, -1, -1, 1, 1, -2, 2], (maps, 2)).clip(-near, near)
    offsets[:, 1] = np.where(random.random(maps) < 0.75, offsets[:, 0], offsets[:, 1])
    narrow = chance(random, classes, 0.6)
    width = np.where(narrow, 0.3, each(random, classes, 0.3, max(0.8, 0.07 * length)))
    distance = np.arange(length) - np.arange(length)[:, None]
    made = np.zeros((maps, length, length), np.float32)
    for offset in offsets.T:
        made += np.exp(-(((distance - offset[:, None, None]) / width) ** 2) / 2)
    made /= made.sum(-1, keepdims=True) + 1e-3
    made *= noise(random, classes, each(random, classes, 0, 0.9))
    rows = np.exp(each(random, classes, 0, 0.8) * _normal(random, maps, length, 1))
    gone = random.random((maps, length, 1)) < each(random, classes, 0, 0.3)
    return made * rows * np.where(gone, 0.1, 1)


def squares(random: Random, classes: Tokens) -> Maps:
    """1 inside the squares of segments: those that separators end, any two or more, or the whole map."""
    maps, length = classes.shape
    ends = np.zeros((maps, length), bool)
    kind = random.random(maps)
    ends[kind < 0.4] = classes[kind < 0.4] == SEP
    free = kind > 0.6
    count = random.integers(1, max(2, min(5, length // 4)) + 1, maps)
    places = np.argsort(random.random((maps, length)), -1)
    for row, where, number in zip(ends[free], places[free], count[free], strict=True):
        row[where[:number]] = True
    ends[free] = _spaced(ends[free], max(2, length // 8))
    segment = np.cumsum(ends, -1) - ends
    return (segment[:, :, None] == segment[:, None, :]).astype(np.float32)


def stripes(random: Random, classes: Tokens) -> Maps:
    """Lines parallel to the main diagonal but far from it, as of tokens that occur in both segments."""
    maps, length = classes.shape
    offset = random.integers(max(2, length // 4), max(3, 3 * length // 4), (maps, 1, 1))
    distance = np.arange(length) - np.arange(length)[:, None]
    side = random.choice(3, (maps, 1, 1))
    made = (distance == offset) & (side != 1) | (distance == -offset) & (side != 0)
    seen = random.random((maps, length, 1)) < each(random, classes, 0.6, 1)
    return made * seen * noise(random, classes, each(random, classes, 0, 0.8))


def spots(random: Random, classes: Tokens) -> Maps:
    """Single cells, here and there."""
    shape = (*classes.shape, classes.shape[1])
    return (random.random(shape, np.float32) < each(random, classes, 0.002, 0.03)).astype(np.float32)


def patches(random: Random, classes: Tokens) -> Maps:
    """Rectangles of more and of less attention, anywhere."""
    maps, length = classes.shape
    smooth = np.ones((maps, length, length), np.float32)
    for _ in range(4):
        low = random.integers(0, length, (maps, 2, 1))
        size = random.integers(1, max(2, length // 2), (maps, 2, 1))
        place = np.arange(length)
        inside = (place >= low) & (place < low + size)
        smooth += 4 * random.random((maps, 1, 1), np.float32) * (inside[:, 0, :, None] & inside[:, 1, None])
    return smooth


def _spaced(ends: Bool[np.ndarray, "map token"], least: int) -> Bool[np.ndarray, "map token"]:
    """The same without those that come within `least` of the one before, of the start or of the end."""
    kept = np.zeros_like(ends)
    last = np.full(len(ends), -1)
    for place in range(ends.shape[1] - least):
        chosen = ends[:, place] & (place - last >= least)
        kept[chosen, place] = True
        last[chosen] = place
    return kept


def _normal(random: Random, *shape: int) -> Float[np.ndarray, "..."]:
    return random.standard_normal(shape, np.float32)
