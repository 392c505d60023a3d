"""The curriculum of a classifier: made-up maps first, then views of labelled maps with made-up maps among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import log_softmax

from headscope.studies.heads.patterns.classifier import Classifier
from headscope.studies.heads.patterns.labelled_maps import Map
from pattern_workshop.examples import FOLDS, Batch, Examples, synthetic_examples, views

# Of the old average, in each step; less in the first ones.
DECAY = 0.98
# Of the judge of cells; all others together have 2.
OF_CELLS = 0.3
CONVOLUTIONS = ("layers", "of_cells")

State = dict[str, Tensor]


class Learner:
    """Learner from batches, by AdamW; the learning rate rises for a tenth of the steps, then falls to 0.

    * `state`: the weights to start from.
    * `steps`: the number of batches; `rates`: the largest learning rates, of convolutions and of the rest.
    * `decay`: that of weights; `smoothing`: the share of each target that is given to all patterns alike.
    """

    def __init__(
        self,
        state: State,
        batches: Callable[[], Batch],
        steps: int,
        rates: tuple[float, float],
        decay: float,
        smoothing: float = 0.0,
    ):
        self.classifier = Classifier()
        self.classifier.load_state_dict(state)
        self.batches, self.smoothing, self.done = batches, smoothing, 0
        named = list(self.classifier.named_parameters())
        groups = [
            [value for name, value in named if name.startswith(CONVOLUTIONS) is is_one] for is_one in (True, False)
        ]
        self.optimiser = torch.optim.AdamW([{"params": group} for group in groups], weight_decay=decay)
        self.rate = torch.optim.lr_scheduler.OneCycleLR(self.optimiser, list(rates), steps, pct_start=0.1)
        self.average = {name: value.clone() for name, value in state.items()}

    def advance(self, steps: int) -> None:
        """Learn from `steps` further batches."""
        self.classifier.train()
        for _ in range(steps):
            cells, lines, targets = self.batches()
            self.optimiser.zero_grad()
            self._loss(self.classifier.judged(cells, lines), targets).backward()
            self.optimiser.step()
            self.rate.step()
            self.done += 1
            self._average()

    def averaged(self) -> Classifier:
        """A classifier with the moving average of the weights."""
        classifier = Classifier()
        classifier.load_state_dict(self.average)
        return classifier.eval()

    def _loss(
        self, logits: Float[Tensor, "judge map pattern"], targets: Float[Tensor, "map pattern"]
    ) -> Float[Tensor, ""]:
        """The weighted sum of each judge's cross-entropy."""
        targets = targets * (1 - self.smoothing) + self.smoothing / targets.shape[1]
        losses = -(targets * log_softmax(logits, -1)).sum(-1).mean(-1)
        return 2 * losses[:-1].mean() + OF_CELLS * losses[-1]

    def _average(self) -> None:
        kept = min(DECAY, self.done / (self.done + 10))
        for name, value in self.classifier.state_dict().items():
            if value.dtype.is_floating_point:
                self.average[name].lerp_(value, 1 - kept)
            else:
                self.average[name].copy_(value)


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
    cells, lines, targets = (torch.cat(parts) for parts in zip(*batches, strict=True))
    return cells, lines, targets
