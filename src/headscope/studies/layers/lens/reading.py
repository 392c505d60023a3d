"""The predictions of words at each layer: its states go through the last steps of the model, and its head.

Without a map this is the logit lens (nostalgebraist 2020); with an affine map of the states of each layer to those of
the last one, fitted by least squares, it is that of Din et al. 2024.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.attention_switch import fast
from headscope.capture.layer_stack import Stack, stack
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.prediction_heads import refuse_without_words_head
from headscope.outputs.losses import wide
from headscope.outputs.words.few_tokens import CELLS, chosen_states
from headscope.outputs.words.inputs import PredictedPieces
from headscope.passes.settings import state_width

States = Float[Tensor, "read width"]
LogProbabilities = Float[Tensor, "read piece"]


@dataclass(frozen=True)
class AffineMap:
    """A map of the states of a layer: `states @ weight + bias`."""

    weight: Float[Tensor, "width width"]
    bias: Float[Tensor, " width"]

    def __call__(self, states: Float[Tensor, "*token width"]) -> Float[Tensor, "*token width"]:
        """The mapped states."""
        return states @ self.weight.to(states.dtype) + self.bias.to(states.dtype)


@dataclass(frozen=True)
class LayerReader:
    """Reads states of each layer, and predictions of any states at chosen tokens; space 0 are the embeddings.

    Raises `HeadscopeError` for a model without a head for words, or whose layers are no stack.
    """

    model: Model
    stack: Stack

    @property
    def spaces(self) -> int:
        """The number of layers, and one for the embeddings."""
        return len(self.stack.layers) + 1

    @property
    def width(self) -> int:
        """The number of columns of a state."""
        return state_width(self.model.network.config)

    @property
    def most_tokens(self) -> int:
        """The number of tokens whose states of all spaces are kept together."""
        return max(1, CELLS // (self.spaces * self.width))

    @torch.inference_mode()
    def states(self, part: PredictedPieces) -> list[Float[Tensor, "row token width"]]:
        """The states of all tokens in each space: what enters the first layer, and the output of each layer."""
        with self._at(part.reads(0, 1)), _output_of(self.stack.layers[-1]) as outputs:
            calls, _ = self.stack.calls(part.inputs(self.model.device, self.model.network.dtype))
        return [*(call.states for call in calls), outputs[0]]

    @torch.inference_mode()
    def log_probabilities(self, part: PredictedPieces, states: Float[Tensor, "row token width"]) -> LogProbabilities:
        """The log-probabilities of all pieces at each read, of states in the place of those of the last layer."""
        with self._at(part):
            inputs = part.inputs(self.model.device, self.model.network.dtype)
            logits = wide(self.stack.finish(inputs, states).logits[0])
        return logits - logits.logsumexp(-1, keepdim=True)

    @contextmanager
    def _at(self, part: PredictedPieces) -> Iterator[None]:
        """Within this context the head of the model reads the chosen tokens alone."""
        network: Any = self.model.network
        with fast(network), chosen_states(network.base_model, lambda states: states[part.row, part.token][None]):
            yield


def layer_reader(model: Model) -> LayerReader:
    """The reader of a model; see `LayerReader` for what is raised."""
    refuse_without_words_head(model)
    layers = stack(model.network, len(model.capture.heads))
    if layers is None:
        kind = model.network.config.model_type
        raise HeadscopeError(f"model type '{kind}': its layers are not called one after the other; use another model")
    return LayerReader(model, layers)


def fit_maps(
    states: Float[Tensor, "space read width"], penalties: Sequence[float] = (1e-3, 1e-2, 1e-1)
) -> list[AffineMap]:
    """Affine maps of the states of each space to those of the last, by ridge regression (Din et al. 2024, section 3).

    * `penalties`: of the squared weights, as shares of the mean variance of a dimension; that with the smallest error
      on a fifth of the reads is taken for each space, and the map is then fitted to all reads.

    >>> states = torch.randn(1, 50, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    >>> (one,) = fit_maps(torch.cat([states, 2 * states + 1]), penalties=[1e-9])
    >>> (one.weight.diagonal().round(decimals=3).tolist(), one.bias.round(decimals=3).tolist())
    ([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    """
    target = states[-1]
    held_out = torch.arange(len(target), device=target.device) % 5 == 4
    maps = []
    for states_of_layer in states[:-1]:
        errors = []
        for penalty in penalties:
            fitted = _ridge(states_of_layer[~held_out], target[~held_out], penalty)
            errors.append((fitted(states_of_layer[held_out]) - target[held_out]).square().sum())
        best = int(torch.stack(errors).argmin()) if held_out.any() else len(penalties) - 1
        maps.append(_ridge(states_of_layer, target, penalties[best]))
    return maps


def _ridge(source: States, target: States, penalty: float) -> AffineMap:
    centre, aim = source.mean(0), target.mean(0)
    centred = (source - centre).double()
    gram = centred.T @ centred
    added = penalty * gram.diagonal().mean().clamp_min(1e-12) * torch.eye(len(gram), device=gram.device)
    weight = torch.linalg.solve(gram + added, centred.T @ (target - aim).double()).to(source.dtype)
    return AffineMap(weight, aim - centre @ weight)


@contextmanager
def _output_of(module: nn.Module) -> Iterator[list[Tensor]]:
    """Within this context the outputs of a module are added to a list."""
    outputs: list[Tensor] = []

    def keep(module: nn.Module, args: Any, output: Any) -> None:
        outputs.append(output)

    handle = module.register_forward_hook(keep)
    try:
        yield outputs
    finally:
        handle.remove()
