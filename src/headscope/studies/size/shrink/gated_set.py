"""What gates are trained on: a loss with gates drawn at random, and outputs with gates as they are at evaluation."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.models import Model
from headscope.models.gated import GateValues, gated
from headscope.models.removable_parts import RemovableParts
from headscope.passes.settings import Settings
from headscope.studies.size.shrink.distillation import DistillationSet, DistilledExamples
from headscope.studies.size.shrink.expected_price import ExpectedPrice
from headscope.studies.size.shrink.gates import Gates
from headscope.studies.size.shrink.hard_concrete import drawn, expected, open_probability

# Share of the steps in which the wanted price falls to the target.
FALL = 0.5


@dataclass(frozen=True)
class GatedSet(DistillationSet):
    """Training inputs whose loss is that of distillation with gates drawn at random, and what draws the price down.

    * `model`: the gated model; `parts`: its parts.
    * `least`: the lowest price that can be reached, as times the target; `steps`: of the whole training.
    """

    model: Model
    parts: RemovableParts
    gates: Gates
    price: ExpectedPrice
    least: float
    steps: int

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The loss of a batch; it counts the step."""
        with self.gated(self.gates.values(drawn)):
            loss = super().loss(network, batch)
        loss = loss + self.gates.penalty(self.excess())
        self.gates.done += 1
        return loss

    def gated(self, values: GateValues) -> Any:
        """Context in which the model computes with these gates."""
        return gated(self.model, self.parts, values)

    def excess(self) -> Float[Tensor, " constraint"]:
        """The expected price beyond the wanted one, as a share of the way to the target, and how uneven layers are."""
        stays = self.gates.values(open_probability)
        way = (self.price.excess(stays) - 1) / (self.whole - 1) - self.wanted()
        return torch.cat([way[None], self.price.unevenness(stays)])

    def wanted(self) -> float:
        """The wanted share of the way: it falls from 1, the whole model, to 0, the target, or to the lowest."""
        share = min(1.0, float(self.gates.done) / max(FALL * self.steps, 1))
        lowest = max(0.0, (self.least - 1) / (self.whole - 1))
        return 1 + (lowest - 1) * share

    @cached_property
    def whole(self) -> float:
        """The price of the whole model, as times the target; above 1."""
        return float(self.price.excess(self.gates.values(torch.ones_like)).detach())


@dataclass(frozen=True)
class GatedExamples(DistilledExamples):
    """What `training.loop.train` trains gates on; its outputs are those without noise."""

    train: GatedSet

    def outputs(self, model: Model, settings: Settings) -> Float[np.ndarray, "example 2"]:
        """See `DistilledExamples.outputs`, with the gates as they are at evaluation."""
        with self.train.gated(self.train.gates.values(expected)):
            return super().outputs(model, settings)
