"""Views of a labelled map that an annotator would give the same label."""

import numpy as np
from jaxtyping import Float, Int

from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.studies.patterns.labels.labelled_maps import Map

# Maps shorter than this keep all their tokens.
LEAST_TOKENS = 9
# This number of columns is never left out: they may make the pattern.
STRONGEST = 3

View = tuple[Float[np.ndarray, "token token"], Int[np.ndarray, " token"]]


def view(map_: Map, random: np.random.Generator) -> View:
    """The attention and the classes of the tokens: some left out or repeated, contrast and noise changed a little.

    A token is left out or repeated as a query and as a key at once, so that lines stay lines.
    """
    attention, classes = map_.attention.astype(np.float64), map_.classes
    if len(classes) >= LEAST_TOKENS and random.random() < 0.7:
        kept = np.repeat(np.arange(len(classes)), _times(attention, classes, random))
        attention, classes = attention[np.ix_(kept, kept)], classes[kept]
    attention = (attention + 1e-7) ** random.uniform(0.85, 1.18)
    attention *= np.exp(random.uniform(0, 0.15) * random.standard_normal(attention.shape))
    return (attention / attention.sum(1, keepdims=True)).astype(np.float32), classes


def _times(
    attention: Float[np.ndarray, "token token"], classes: Int[np.ndarray, " token"], random: np.random.Generator
) -> Int[np.ndarray, " token"]:
    """Number of copies of each token: 0, 1 or 2; special tokens and the strongest columns stay single."""
    received = attention.mean(0)
    special = (classes == TOKEN_CLASSES.index("cls")) | (classes == TOKEN_CLASSES.index("sep"))
    share = random.uniform(0, 0.15)
    times = random.choice(3, len(classes), p=[share, 1 - 1.5 * share, 0.5 * share])
    return np.where(special | (received >= np.sort(received)[-STRONGEST]), 1, times)
