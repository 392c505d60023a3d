"""The Hard Concrete distribution of a gate, from 0 (closed) to 1 (open) (Louizos et al. 2018, section 2.2).

A sigmoid of noise and of a trained number, `log_alpha`, is stretched to (-0.1, 1.1) and cut to 0 and 1: so a gate is
exactly 0 or 1 with a chance that has a gradient.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

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
