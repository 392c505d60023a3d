"""Integrated gradients: of the target, along the straight path from a blank input to the input.

Sundararajan et al. 2017, section 3, at the states that enter each layer: their difference from those of the blank
input, times the mean gradient of the target on the way. All tokens together get the difference of the target.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.capture.layer_stack import Stack
from headscope.models import Model
from headscope.outputs.words.few_tokens import copies_together
from headscope.studies.words.attributions.descent import Objective, States, wide
from headscope.studies.words.attributions.maps import TINY

# Gauss-Legendre points of a path, whose weighted sum is exact for polynomials of up to twice as many terms. They are
# doubled until the sum is near the difference.
FEWEST_POINTS, MOST_POINTS = 8, 256
# Largest error of the sum that is near, as a share of the sizes of what is added.
TOLERANCE = 0.01


def start_token(model: Model, blank: int | None) -> int:
    """The token from which paths start: `blank`, else padding, else the end of a text, else the first of all tokens.

    Where tokens are hidden from all others, as in causal models, no token takes their place: padding comes nearest, a
    token that says nothing.
    """
    tokenizer = model.tokenizer
    tokens = (blank, tokenizer.pad_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id)
    return next((token for token in tokens if isinstance(token, int)), 0)


@dataclass(frozen=True)
class Path:
    """The way from a blank input to one input, without padding.

    * `inputs`: the only row; `blanked`: the tokens that the blank input lacks; `token`: the one in their place.
    * `objective`: whose gradients are taken.
    * `batch_tokens`: most tokens of the points that run together; `points`: most points of the path.

    The network is `switchable` and `frozen`.
    """

    stack: Stack
    inputs: Mapping[str, Tensor]
    blanked: Bool[Tensor, " token"]
    token: int
    objective: Objective
    batch_tokens: int
    points: int = MOST_POINTS

    def gradients(self) -> tuple[Float[np.ndarray, "layer token"], Float[np.ndarray, " layer"]]:
        """Integrated gradients at each layer, and the error of their sum as a share of their sizes."""
        blank = {**self.inputs, "input_ids": self.inputs["input_ids"].masked_fill(self.blanked, self.token)}
        with torch.no_grad():
            both = (self.stack.calls(rows, head=False)[0] for rows in (self.inputs, blank))
            lasts, firsts = ([wide(call.states) for call in calls] for calls in both)
            full, nothing = (float(self._target(0, states)) for states in (lasts[0], firsts[0]))
        parts = [
            self._of_layer(layer, first, last - first, full - nothing)
            for layer, (first, last) in enumerate(zip(firsts, lasts, strict=True))
        ]
        tokens, errors = zip(*parts, strict=True)
        return np.stack(tokens), np.array(errors)

    def _of_layer(
        self, layer: int, first: States, way: States, difference: float
    ) -> tuple[Float[np.ndarray, " token"], float]:
        points, error = FEWEST_POINTS // 2, np.inf
        tokens = np.zeros(way.shape[1])
        while error > TOLERANCE and points < self.points:
            points *= 2
            tokens = (way[0] * self._mean_gradient(layer, first, way, points)).sum(-1).double().cpu().numpy()
            error = abs(tokens.sum() - difference) / max(np.abs(tokens).sum(), TINY)
        return tokens, error

    def _mean_gradient(self, layer: int, first: States, way: States, points: int) -> Float[Tensor, "token width"]:
        nodes, weights = (torch.from_numpy(part).to(way) for part in np.polynomial.legendre.leggauss(points))
        together = copies_together(self.stack.network, way.shape[1], self.batch_tokens)
        mean = torch.zeros_like(way[0])
        for node, weight in zip(nodes.split(together), weights.split(together), strict=True):
            states = (first + (node[:, None, None] + 1) / 2 * way).requires_grad_()
            with torch.enable_grad():
                target = self._target(layer, states)
                total = (target * weight.to(target.dtype)).sum() / 2
            mean += torch.autograd.grad(total, states)[0].sum(0)
        return mean

    def _target(self, layer: int, states: States) -> Float[Tensor, " copy"]:
        """The objective if `states` enter a layer, from 0."""
        copies = {name: tensor.expand(len(states), -1) for name, tensor in self.inputs.items()}
        calls, states = self.stack.arguments(copies), states.to(self.stack.network.dtype)
        for number in range(layer, len(calls)):
            states = self.stack.run(number, states, calls[number])
        return self.objective(copies, states)
