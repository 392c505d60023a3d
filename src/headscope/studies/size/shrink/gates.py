"""Trained gates of layers, neurons and heads, from 0 (closed) to 1 (open).

The sigmoid of noise and of a trained number, `log_alpha`, is stretched to (-0.1, 1.1) and cut to 0 and 1: so a gate is
exactly 0 or 1 with a chance that has a gradient (the Hard Concrete distribution, Louizos et al. 2018, section 2.2). The
loss has for each constraint a multiplier of its excess and one of its square, which rise as long as it is not met: the
augmented Lagrangian of Xia et al. 2022 (section 3.2). Voita et al. 2019 (section 4) gate heads alone.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
import torch
import xarray as xr
from jaxtyping import Float
from torch import Tensor, nn

from headscope.models.gated import GateValues
from headscope.results.variables import Variables
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.moments import ranked_by_layer
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.sizes import Size

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
    """The shape of the gates of each kind that may go, and that the class of the model can hold."""
    kinds, layers = original.kinds, len(original.size.layers)
    shapes: dict[str, tuple[int, ...]] = {}
    if "layers" in kinds and layers > 1:
        shapes["layers"] = (layers,)
    if "neurons" in kinds and original.moments:
        shapes["neurons"] = (layers, original.width)
    if "heads" in kinds and original.parts.heads and original.heads > 1:
        shapes["heads"] = (layers, original.heads)
    return shapes


def variables(log_alphas: Mapping[str, Float[np.ndarray, "..."]], size: Size) -> dict[str, xr.DataArray]:
    """The probability of each gate by its kind, of neurons the mean, and which heads the size keeps."""
    stays = {kind: open_probability(torch.from_numpy(values)).double().numpy() for kind, values in log_alphas.items()}
    added = Variables({}, STUDY.source, STUDY.labels)
    if "layers" in stays:
        added.add("layer_gate", stays["layers"])
    if "neurons" in stays:
        added.add("open_neurons", stays["neurons"].mean(1))
    if "heads" in stays:
        added.add("head_gate", stays["heads"])
        added.add("head_stays", stays_of(log_alphas["heads"], size))
    return added.arrays


def stays_of(log_alpha: Float[np.ndarray, "layer head"], size: Size) -> Float[np.ndarray, "layer head"]:
    """1 for the heads of a size, those of the largest `log_alpha` in each of its layers; 0 for all others.

    >>> from headscope.studies.size.shrink.sizes import Size
    >>> stays_of(np.array([[2.0, 1.0], [0.0, 3.0]]), Size((1,), (8, 8), (1, 1)))
    array([[0., 0.],
           [0., 1.]])
    """
    stays = np.zeros(log_alpha.shape)
    kept = ranked_by_layer(list(log_alpha), size.heads)
    for layer in size.layers:
        stays[layer, list(kept[layer])] = 1
    return stays
