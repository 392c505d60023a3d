"""Training examples of a classifier: maps as grids and numbers, with target probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.results.vocabulary import PATTERNS
from headscope.studies.patterns.classifier.channels import channels
from headscope.studies.patterns.classifier.grid import SIZE, pool
from headscope.studies.patterns.classifier.line_features import numbers
from headscope.studies.patterns.classifier.picture import pictures
from headscope.studies.patterns.labels.labelled_maps import Map
from headscope.studies.patterns.training.augment import view
from headscope.studies.patterns.training.synthetic import synthetic

AT_ONCE = 512

Grids = Float[Tensor, "map channel row column"]
Batch = tuple[Float[Tensor, "map channel row column"], Float[Tensor, "map number"], Float[Tensor, "map pattern"]]


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
    varied = (view(each, random) for _ in range(number) for each in maps)
    grids = torch.cat([_pooled(attention[None], classes[None]) for attention, classes in varied])
    return _examples(grids, targets(maps).repeat(number, 1))


def targets(maps: Sequence[Map]) -> Float[Tensor, "map pattern"]:
    """Target probabilities: the mean over the label and the votes of the annotators, each as 0 and 1.

    So a map on which annotators differ has a target between two patterns.
    """
    votes = [[each.label, *filter(None, (each.annotator_a, each.annotator_b))] for each in maps]
    one = torch.eye(len(PATTERNS))
    return torch.stack([torch.stack([one[PATTERNS.index(label)] for label in labels]).mean(0) for labels in votes])


def _pooled(attention: Float[np.ndarray, "map token token"], classes: Int[np.ndarray, "map token"]) -> Grids:
    return pool(torch.from_numpy(attention)[:, None], torch.from_numpy(classes))[:, 0].half()


def _examples(grids: Grids, targets: Float[Tensor, "map pattern"]) -> Examples:
    assert grids.shape[-1] == SIZE
    return Examples(grids, torch.cat([numbers(pictures(part)) for part in grids.split(AT_ONCE)]), targets)
