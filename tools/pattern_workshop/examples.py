"""Training examples: labelled maps in folds by text, and views that an annotator would label alike.

All maps of one text are on one side. A text's fold follows from the text alone, so that a larger collection of maps
never moves a text to the other side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.results.vocabulary import PATTERNS, TOKEN_CLASSES
from headscope.studies.heads.patterns.grid import SIZE, pool
from headscope.studies.heads.patterns.labelled_maps import Map
from headscope.studies.heads.patterns.line_features import numbers
from headscope.studies.heads.patterns.picture import channels, pictures
from headscope.studies.heads.patterns.scores import text
from pattern_workshop.synthetic import synthetic

FOLDS, HELD_OUT = 6, 4
# Maps with smaller ids are random maps of a model; those from here on were chosen where a classifier hesitates.
FIRST_BOUNDARY_ID = 1000
AT_ONCE = 512

Grids = Float[Tensor, "map channel row column"]
Batch = tuple[Float[Tensor, "map channel row column"], Float[Tensor, "map number"], Float[Tensor, "map pattern"]]


def fold(map_: Map) -> int:
    """The number of the fold of the map's text, from 0; the classifier never learns from the fold `HELD_OUT`."""
    return int(text(map_), 16) % FOLDS


def is_boundary(map_: Map) -> bool:
    """True for a map chosen at the boundary of two patterns, so that the mixture of patterns is not natural."""
    return map_.id >= FIRST_BOUNDARY_ID


@dataclass(frozen=True)
class Examples:
    """Maps, kept small: grids in half precision."""

    grids: Grids
    numbers: Float[Tensor, "map number"]
    targets: Float[Tensor, "map pattern"]

    def batch(self, index: Int[np.ndarray, " map"]) -> Batch:
        """Inputs and targets of some maps."""
        return channels(pictures(self.grids[index])), self.numbers[index], self.targets[index]


def synthetic_examples(n: int, seed: int) -> Examples:
    """About n maps that are made up."""
    made = [(_pooled(one.attention, one.classes), one.labels) for one in synthetic(n, seed)]
    labels = torch.from_numpy(np.concatenate([label for _, label in made]))
    return _examples(torch.cat([grids for grids, _ in made]), torch.eye(len(PATTERNS))[labels])


def views(maps: Sequence[Map], number: int, seed: int) -> Examples:
    """Views of each map, `number` of them: first one view of every map, then the next."""
    random = np.random.default_rng(seed)
    varied = (view(labelled, random) for _ in range(number) for labelled in maps)
    grids = torch.cat([_pooled(attention[None], classes[None]) for attention, classes in varied])
    return _examples(grids, targets(maps).repeat(number, 1))


def targets(maps: Sequence[Map]) -> Float[Tensor, "map pattern"]:
    """Target probabilities: the mean over the label and the votes of the annotators, each as 0 and 1.

    So a map on which annotators differ has a target between two patterns.
    """
    votes = [[labelled.label, *filter(None, (labelled.annotator_a, labelled.annotator_b))] for labelled in maps]
    one = torch.eye(len(PATTERNS))
    return torch.stack([torch.stack([one[PATTERNS.index(label)] for label in labels]).mean(0) for labels in votes])


def _pooled(attention: Float[np.ndarray, "map token token"], classes: Int[np.ndarray, "map token"]) -> Grids:
    return pool(torch.from_numpy(attention)[:, None], torch.from_numpy(classes))[:, 0].half()


def _examples(grids: Grids, targets: Float[Tensor, "map pattern"]) -> Examples:
    assert grids.shape[-1] == SIZE
    return Examples(grids, torch.cat([numbers(pictures(part)) for part in grids.split(AT_ONCE)]), targets)


# Maps shorter than this keep all their tokens.
LEAST_CHANGED = 9
# This number of columns is never left out: they may make the pattern.
STRONGEST = 3

View = tuple[Float[np.ndarray, "token token"], Int[np.ndarray, " token"]]


def view(map_: Map, random: np.random.Generator) -> View:
    """The attention and the classes of the tokens: some left out or repeated, contrast and noise changed a little.

    A token is left out or repeated as a query and as a key at once, so that lines stay lines.
    """
    attention, classes = map_.attention.astype(np.float64), map_.classes
    if len(classes) >= LEAST_CHANGED and random.random() < 0.7:
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
