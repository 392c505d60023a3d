"""The curriculum of a classifier: made-up maps first, then views of labelled maps with made-up maps among them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int

from headscope.studies.patterns.classifier.network import Classifier
from headscope.studies.patterns.labels.labelled_maps import Map
from headscope.studies.patterns.training.examples import Batch, Examples, synthetic_examples, views
from headscope.studies.patterns.training.folds import FOLDS
from headscope.studies.patterns.training.learner import Learner, State


@dataclass(frozen=True, kw_only=True)
class ClassifierRecipe:
    """Numbers of maps and steps of a training.

    * `synthetic`: number of made-up maps; `first_steps`: batches of them alone, of `first_batch` maps each.
    * `views`: of each labelled map; `real`, `made`: views and made-up maps of a batch afterwards.
    * `steps`: most batches; every `check` batches the cross-validated loss is looked at, and after `patience` looks
      that found no lower one training stops.
    """

    synthetic: int = 8000
    first_steps: int = 250
    first_batch: int = 96
    views: int = 16
    real: int = 64
    made: int = 24
    steps: int = 400
    check: int = 50
    patience: int = 3

    @property
    def all_steps(self) -> int:
        """The most batches of the whole training: the first ones, those of each fold, and the last."""
        return self.first_steps + FOLDS * self.steps


RECIPE = ClassifierRecipe()


MapNumbers = Int[np.ndarray, " map"]


class Curriculum:
    """Makes learners, each of some of the labelled maps; all start from weights trained on made-up maps."""

    def __init__(self, maps: Sequence[Map], seed: int, recipe: ClassifierRecipe):
        torch.manual_seed(seed)
        self.maps, self.seed, self.recipe = maps, seed, recipe
        self.made = synthetic_examples(recipe.synthetic, seed)
        self.start = self._started()
        self.views = views(maps, recipe.views, seed)

    def learner(self, chosen: MapNumbers) -> Learner:
        """A learner of the maps with these numbers."""
        torch.manual_seed(self.seed)
        random, recipe = np.random.default_rng(self.seed), self.recipe

        def batch() -> Batch:
            maps = random.choice(chosen, recipe.real)
            views = maps + len(self.maps) * random.integers(0, recipe.views, recipe.real)
            return _joined(self.views.batch(views), _some(self.made, recipe.made, random))

        return Learner(self.start, batch, recipe.steps, rates=(1.5e-3, 4e-3), decay=0.05)

    def _started(self) -> State:
        random, recipe = np.random.default_rng(self.seed), self.recipe
        learner = Learner(
            Classifier().state_dict(),
            lambda: _some(self.made, recipe.first_batch, random),
            recipe.first_steps,
            rates=(3e-3, 3e-3),
            decay=1e-3,
            smoothing=0.05,
        )
        learner.advance(recipe.first_steps)
        return learner.average


def _some(examples: Examples, number: int, random: np.random.Generator) -> Batch:
    return examples.batch(random.integers(0, len(examples.targets), number))


def _joined(*batches: Batch) -> Batch:
    cells, lines, targets = (torch.cat(each) for each in zip(*batches, strict=True))
    return cells, lines, targets
