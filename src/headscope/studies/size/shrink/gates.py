"""Trained gates of layers, neurons and heads, from 0 (closed) to 1 (open).

The sigmoid of noise and of a trained number, `log_alpha`, is stretched to (-0.1, 1.1) and cut to 0 and 1: so a gate is
exactly 0 or 1 with a chance that has a gradient (the Hard Concrete distribution, Louizos et al. 2018, section 2.2). The
loss has for each constraint a multiplier of its excess and one of its square, which rise as long as it is not met: the
augmented Lagrangian of Xia et al. 2022 (section 3.2). Voita et al. 2019 (section 4) gate heads alone.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
import xarray as xr
from jaxtyping import Float
from torch import Tensor, nn

from headscope.models import Model
from headscope.models.removable_parts import GateValues
from headscope.results.variables import Variables
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.plan import Size

LogAlphas = Mapping[str, Float[np.ndarray, "..."]]
# At the start gates are open nearly always.
START = 4.0
# Temperature, and the ends of the stretched sigmoid: those of the paper.
BETA, GAMMA, ZETA = 2 / 3, -0.1, 1.1
# Noise stays away from 0 and 1, whose logits are not finite.
EDGE = 1e-6


def sampled(log_alpha: Float[Tensor, "*gates"], uniform: Float[Tensor, "*gates"]) -> Float[Tensor, "*gates"]:
    """Gates by their noise, from 0 to 1 (equations 10 and 11).

    * `uniform`: noise, from 0 to 1.

    >>> sampled(torch.tensor([-9.0, 0.0, 9.0]), torch.full((3,), 0.5))
    tensor([0.0000, 0.5000, 1.0000])
    """
    noise = uniform.clamp(EDGE, 1 - EDGE)
    return _stretched(torch.sigmoid((noise.log() - (1 - noise).log() + log_alpha) / BETA))


def drawn(log_alpha: Float[Tensor, "*gates"]) -> Float[Tensor, "*gates"]:
    """Gates at random, from 0 to 1, by the random numbers of torch."""
    return sampled(log_alpha, torch.rand_like(log_alpha))


def expected(log_alpha: Float[Tensor, "*gates"]) -> Float[Tensor, "*gates"]:
    """Gates without noise, from 0 to 1, as they are at evaluation (equation 13).

    >>> expected(torch.tensor([-9.0, 0.0, 9.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return _stretched(torch.sigmoid(log_alpha))


def open_probability(log_alpha: Float[Tensor, "*gates"]) -> Float[Tensor, "*gates"]:
    """The probability that a gate is not 0, from 0 to 1: its expected L0 norm (equation 12).

    >>> round(float(open_probability(torch.tensor(0.0))), 3)
    0.832
    """
    return torch.sigmoid(log_alpha - BETA * math.log(-GAMMA / ZETA))


def _stretched(values: Float[Tensor, "*gates"]) -> Float[Tensor, "*gates"]:
    return (values * (ZETA - GAMMA) + GAMMA).clamp(0, 1)


class Gates(nn.Module):
    """The `log_alpha` of each gate by its kind, the multipliers of the constraints, and the steps that are done."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], *, even: bool = True):
        """`shapes`: of the gates of each kind; constraints are the price, and if `even` one number for all layers."""
        super().__init__()
        constraints = 1 + sum(shape[0] for kind, shape in shapes.items() if even and kind != "layers")
        self.log_alphas = nn.ParameterDict(
            {kind: nn.Parameter(torch.full(shape, START)) for kind, shape in shapes.items()}
        )
        self.linear = nn.Parameter(torch.zeros(constraints))
        self.square = nn.Parameter(torch.zeros(constraints))
        self.done: Tensor
        self.register_buffer("done", torch.zeros(()))

    def values(self, of: Callable[[Tensor], Tensor]) -> GateValues:
        """A value of each gate by a function of its `log_alpha`, such as `open_probability`."""
        return GateValues(**{kind: of(log_alpha) for kind, log_alpha in self.log_alphas.items()})

    def penalty(self, excess: Float[Tensor, " constraint"]) -> Float[Tensor, ""]:
        """What is added to the loss: each excess and its square, times their multipliers.

        A step down its gradient leads the gates down, and the multipliers up.
        """
        linear, square = (2 * w.detach() - w for w in (self.linear, self.square))  # their gradients are turned
        return (linear * excess + square * excess.square()).sum()


def gate_shapes(original: Original) -> dict[str, tuple[int, ...]]:
    """The shape of the gates of each kind that may go, and that the class of the model can hold.

    Heads that share keys have none: each gate is of one head.
    """
    kinds, layers = original.kinds, len(original.size.layers)
    shapes: dict[str, tuple[int, ...]] = {}
    if "layers" in kinds and layers > 1:
        shapes["layers"] = (layers,)
    if "neurons" in kinds and original.moments:
        shapes["neurons"] = (layers, original.width)
    if "heads" in kinds and original.parts.heads == 1 < original.heads:
        shapes["heads"] = (layers, original.heads)
    return shapes


@dataclass(frozen=True)
class TrainedGates:
    """The model that was trained with its gates, and the `log_alpha` of each gate by its kind.

    * `excess`: the expected price at the end, as times the target; 1 where it is just met.
    * `trained_for`: `epochs` and `steps` of the training.
    """

    model: Model
    log_alphas: LogAlphas
    excess: float
    trained_for: Mapping[str, int]

    def untrained(self, measured: Original) -> Original:
        """The model before gates, whose neurons and heads are valued by them."""
        by_gates = {f"of_{kind}": list(values) for kind, values in self.log_alphas.items() if kind != "layers"}
        return replace(measured, **by_gates)

    def original(self, measured: Original) -> Original:
        """The trained model, whose neurons and heads are valued by their gates; its output maps are not fitted."""
        return replace(self.untrained(measured), model=self.model, moments=())

    def variables(self) -> dict[str, xr.DataArray]:
        """The probability that the gate of each layer and head is open, and of neurons the mean."""
        added = Variables({}, STUDY.source, STUDY.labels)
        for kind, name in (("layers", "layer_gate"), ("neurons", "open_neurons"), ("heads", "head_gate")):
            if kind in self.log_alphas:
                stays = open_probability(torch.from_numpy(self.log_alphas[kind])).double().numpy()
                added.add(name, stays.mean(1) if kind == "neurons" else stays)
        return added.arrays


def smallest(original: Original, groups: int) -> Size:
    """The smallest size of a search: one layer, one head, and what is left of the neurons after whole groups.

    Where layers may differ no neuron stays, and of all layers but the first no head, if layers need none.
    """
    size, kinds, number = original.size, original.kinds, len(original.size.layers)
    neurons, heads = original.width, size.heads
    if "neurons" in kinds and original.moments:
        step = max(1, original.width // groups)
        neurons = original.least_neurons if original.fine else neurons - step * ((neurons - 1) // step)
    if "heads" in kinds and original.parts.heads == 1:
        heads = (1, *[original.least_heads if original.fine else 1] * (number - 1))
    return Size(size.layers[:1] if "layers" in kinds else size.layers, (neurons,) * number, heads)


def chosen(log_alphas: LogAlphas, original: Original, least: Size, fits: Callable[[Size], bool]) -> Size:
    """The size of the lowest threshold of `log_alpha` that fits; the least one if none does."""
    thresholds = np.unique(np.concatenate([[-np.inf], *(values.ravel() for values in log_alphas.values())])).tolist()
    first = bisect_left(thresholds, True, key=lambda threshold: fits(opened(log_alphas, threshold, original, least)))
    return opened(log_alphas, thresholds[min(first, len(thresholds) - 1)], original, least)


def opened(log_alphas: LogAlphas, threshold: float, original: Original, least: Size) -> Size:
    """The size of the model whose gates above a threshold are open: one layer and one head at least stay.

    Where all layers have to keep the same numbers, these are the mean over the layers that stay.
    """
    full = original.size
    layers = np.array(full.layers)
    if "layers" in log_alphas:
        layers = np.flatnonzero(log_alphas["layers"] > threshold)
        layers = layers if len(layers) else np.array([log_alphas["layers"].argmax()])
    numbers = {"neurons": np.array(full.neurons), "heads": np.array(full.heads)}
    for kind, counts in numbers.items():
        if kind not in log_alphas:
            continue
        open_gates, fewest = (log_alphas[kind] > threshold).sum(1), min(getattr(least, kind))
        if original.fine:
            counts[layers] = np.maximum(open_gates[layers], fewest)
        else:
            counts[:] = max(fewest, round(float(open_gates[layers].mean())))
        if kind == "heads" and not counts[layers].any():
            counts[layers[log_alphas[kind][layers].max(1).argmax()]] = 1
    neurons, heads = (tuple(counts.tolist()) for counts in numbers.values())
    return Size(tuple(layers.tolist()), neurons, heads)
