"""A classifier that learns batch by batch; the result is the moving average of its weights."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import log_softmax

from headscope.studies.patterns.classifier.network import Classifier
from headscope.studies.patterns.training.examples import Batch

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
        each = -(targets * log_softmax(logits, -1)).sum(-1).mean(-1)
        return 2 * each[:-1].mean() + OF_CELLS * each[-1]

    def _average(self) -> None:
        kept = min(DECAY, self.done / (self.done + 10))
        for name, value in self.classifier.state_dict().items():
            if value.dtype.is_floating_point:
                self.average[name].lerp_(value, 1 - kept)
            else:
                self.average[name].copy_(value)
