"""The recipe of the classifier's training."""

from dataclasses import dataclass

from headscope.studies.patterns.training.folds import FOLDS


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
