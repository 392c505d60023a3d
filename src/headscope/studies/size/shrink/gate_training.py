"""Train gates together with a model, on the outputs of the whole one, towards a target of time or size.

The loss has gates drawn at random; the best epoch is chosen by outputs with gates as they are at evaluation.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.removable_parts import GateValues, RemovableParts, gated, parts_of
from headscope.passes.settings import Settings
from headscope.studies.size.shrink.distillation import (
    DistillationSet,
    DistilledExamples,
    examples_of,
    reloaded,
    trained,
)
from headscope.studies.size.shrink.gates import (
    Gates,
    TrainedGates,
    chosen,
    drawn,
    expected,
    gate_shapes,
    open_probability,
    smallest,
)
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.prices import ExpectedPrice, expected_price, gates_of
from headscope.studies.size.shrink.record import SearchRecord, SearchState, Step
from headscope.studies.size.shrink.search import FoundSize, SizeSearch, unmet
from headscope.training.initialisation import InitialModel
from headscope.training.loop import Epochs
from headscope.training.recipe import TrainingRecipe
from headscope.training.run_record import RunRecord

# The name of the gates within the network, and of their step of the search.
NAME, PART = "headscope_gates", "gates"
# What two ways to add up the same bytes may differ by, as a share.
ROUNDING = 1e-9
# Peak of the learning rate of gates, times the number of steps: how far they can move. Multipliers of an excess move
# more slowly, so that the price does not fall below the target; those of its square, which draw it back, faster.
REACH, LINEAR, SQUARE = 32.0, 0.25, 8.0
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


def found_by_gates(search: SizeSearch, record: SearchRecord, recipe: TrainingRecipe, *, best_effort: bool) -> FoundSize:
    """A search in a single step: gates are trained towards the target, and all parts go whose gates close.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted (`best_effort`).
    """
    original, judge, start = search.original, search.judge, search.start
    record.save(SearchState(search.prices, [start]))  # gates go on by themselves
    price, least = expected_price(search.prices, original, search.target), smallest(original, search.groups)
    if price.of(least) > 1 and not best_effort:
        megabytes, share = float(price.megabytes(gates_of(least))), search.prices.share(least, original.size)
        raise HeadscopeError(unmet(search, Step("", least, 0.0, megabytes, share)))
    trained = trained_gates(judge, original, recipe, record.path.with_name("gates"), price, price.of(least))
    size = chosen(trained.log_alphas, original, least, lambda some: price.of(some) <= 1 - ROUNDING)
    by_gates = trained.original(original)
    step = replace(search, original=by_gates).step(PART, size)
    judge.settings.on_progress(1)
    facts = {"gates": {**trained.trained_for, "expected_price": trained.excess}}
    return FoundSize(search, [start, step], by_gates, trained.untrained(original), trained.variables(), facts)


def trained_gates(
    judge: Judge, measured: Original, recipe: TrainingRecipe, folder: Path, price: ExpectedPrice, least: float
) -> TrainedGates:
    """Train gates together with a copy of the model, from the last checkpoint in `folder` on if there is one.

    * `measured`: the whole model, whose parts have gates; `price`, `least`: see `GatedSet`.

    Raises `HeadscopeError` for weights that are not float32, or a loss that is not finite.
    """
    recipe = replace(recipe, keep="last", weight_decay=0.0)
    steps = recipe.epochs * -(-len(judge.training) // recipe.batch)
    examples = gated_examples(judge, gate_shapes(measured), price, least, steps)
    gates, network, record = examples.train.gates, cast("Any", examples.train.model.network), RunRecord(folder)
    network.add_module(NAME, gates.to(network.device))

    def save() -> None:
        record.save_heads({kind: values.detach().cpu().numpy() for kind, values in gates.log_alphas.items()})

    rate = REACH / steps / recipe.learning_rate
    rates = {id(weight): rate for weight in gates.parameters()}
    rates |= {id(gates.linear): LINEAR * rate, id(gates.square): SQUARE * rate}
    start = InitialModel(network, judge.model.tokenizer, ordinary=_without_gates, rates=rates)
    options = {"target": price.target.words(), "least": least}
    trained(start, examples, recipe, record, options, Epochs(on_kept=save))
    log_alphas = record.heads()
    stays = GateValues(**{kind: open_probability(torch.from_numpy(values)) for kind, values in log_alphas.items()})
    model = reloaded(judge.model, folder / "model")
    return TrainedGates(model, log_alphas, float(price.excess(stays)), {"epochs": recipe.epochs, "steps": steps})


def gated_examples(
    judge: Judge, shapes: Mapping[str, tuple[int, ...]], price: ExpectedPrice, least: float, steps: int
) -> GatedExamples:
    """A copy of the model with new gates, and what it is trained on in this many steps."""
    choosing = examples_of(judge, judge.model, (), None)
    model = replace(judge.model, network=deepcopy(judge.model.network).eval(), sha256="", files=())
    gates = Gates(shapes, even=price.even)
    gated_set = GatedSet(
        **vars(choosing.train), model=model, parts=parts_of(model), gates=gates, price=price, least=least, steps=steps
    )
    return GatedExamples(gated_set, choosing.stopping)


def _without_gates(network: PreTrainedModel) -> PreTrainedModel:
    """A copy of a network without its gates."""
    plain = type(network)(network.config)
    weights = {name: weight for name, weight in network.state_dict().items() if not name.startswith(f"{NAME}.")}
    plain.load_state_dict(weights)
    return plain.eval()
