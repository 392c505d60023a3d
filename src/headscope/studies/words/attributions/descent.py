"""The layers of a batch from the last to the first, each with its attention and the gradients of the target.

One plain pass keeps the states that enter each layer, which grow with the tokens. Each layer is then run again, alone,
with the gradient of the target at its output: one layer's maps are in memory at a time, never those of all layers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.attention_function import by_key_head, for_each_head, refuse_unknown
from headscope.capture.attention_mask import MASKED
from headscope.capture.attention_switch import attending
from headscope.capture.layer_stack import Call, Stack
from headscope.capture.projections import Projections
from headscope.capture.self_check import TOLERANCE

States = Float[Tensor, "example token width"]
# The scalars whose gradients are taken, of inputs and the states that leave the last layer.
Objective = Callable[[Mapping[str, Tensor], States], Float[Tensor, " example"]]
Maps = Float[Tensor, "example head query key"]


@dataclass(frozen=True)
class LayerPass:
    """A layer of a batch, and the gradients of the target.

    * `number`: from 0; `call`: with which the layer was run.
    * `states`: what enters it; `output`: what leaves it; `values`: of each head, [example, head, key, head_width].
    * `top`: the gradient at the output of the last layer, given with the last layer alone.
    """

    number: int
    call: Call
    states: States
    output: States
    attention: Maps
    values: Float[Tensor, "example head key head_width"]
    state_gradient: States
    attention_gradient: Maps
    value_gradient: Float[Tensor, "example head key head_width"]
    top: States | None = None

    def widened(self) -> "LayerPass":
        """Its numbers in single precision or more: sums of half-precision numbers lose their digits."""
        tensors = {part.name: getattr(self, part.name) for part in fields(self)}
        return replace(self, **{name: wide(part) for name, part in tensors.items() if isinstance(part, Tensor)})


@dataclass
class _Attend:
    """Plain attention, for `attending`, that keeps its maps and values with their graph."""

    attention: Tensor | None = None
    values: Tensor | None = None

    def __call__(
        self,
        module: nn.Module,
        query: Float[Tensor, "example head query head_width"],
        key: Float[Tensor, "example key_head key head_width"],
        value: Float[Tensor, "example key_head key head_width"],
        attention_mask: Tensor | None,
        scaling: float | None = None,
        **keywords: Any,
    ) -> tuple[Float[Tensor, "example query head head_width"], None]:
        """Raises `NotImplementedError` for a keyword that it would ignore."""
        refuse_unknown(keywords)
        values = for_each_head(value, query.shape[1], dim=1)
        scores = wide(by_key_head(query, key.mT)) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        if attention_mask is not None:
            scores = scores.masked_fill(~attention_mask, MASKED)
        attention = scores.softmax(-1)
        self.attention, self.values = attention, values
        # [example, query, head, head_width]
        return (attention.to(value.dtype) @ values).transpose(1, 2), None


def descend(
    stack: Stack,
    projections: Sequence[Projections],
    inputs: Mapping[str, Tensor],
    calls: Sequence[Call],
    objective: Objective,
) -> Iterator[LayerPass]:
    """Each layer, from the last to the first, within `switchable` and `frozen`.

    * `calls`: of a plain pass over `inputs`; `objective`: whose gradients are taken.
    """
    gradient: Tensor | None = None
    for number in reversed(range(len(calls))):
        layer = _layer(stack, projections[number], inputs, number, calls[number], objective, gradient)
        gradient = layer.state_gradient
        yield layer
        del layer  # its maps, before those of the next are made


def wide(tensor: Tensor) -> Tensor:
    """A tensor in single precision; one in double precision as it is."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def same_states(ones: States, others: States) -> bool:
    """Whether states differ by rounding alone."""
    close = max(1e-3, TOLERANCE[others.dtype])
    return torch.allclose(ones, others, rtol=close, atol=close * float(others.abs().max()))


def _layer(
    stack: Stack,
    projections: Projections,
    inputs: Mapping[str, Tensor],
    number: int,
    call: Call,
    objective: Objective,
    gradient: States | None,
) -> LayerPass:
    """Run a layer and take the gradients; `gradient` is that at its output, None for the last layer."""
    attend, states = _Attend(), call.states.detach().requires_grad_()
    with torch.enable_grad(), attending(attend):
        output = stack.run(number, states, call)
        top = None
        if gradient is None:
            (top,) = torch.autograd.grad(objective(inputs, output).sum(), output)
    attention, values = _parts(attend, states, projections)
    gradients = _gradients(output, (states, attention, values), top if gradient is None else gradient)
    tensors = (states.detach(), output.detach(), attention.detach(), values.detach())
    return LayerPass(number, call, *tensors, *gradients, top)


def _gradients(
    output: States, wanted: tuple[Tensor, Tensor, Tensor], at_output: States | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient at each of some tensors; 0 where the output does not depend on it."""
    indices = [number for number, tensor in enumerate(wanted) if tensor.requires_grad]
    found = torch.autograd.grad(output, [wanted[index] for index in indices], at_output, allow_unused=True)
    gradients = [torch.zeros_like(tensor) for tensor in wanted]
    for index, gradient in zip(indices, found, strict=True):
        if gradient is not None:
            gradients[index] = gradient
    states, attention, values = gradients
    return states, attention, values


def _parts(attend: _Attend, states: Tensor, projections: Projections) -> tuple[Tensor, Tensor]:
    """The maps and values of a layer; of one without heads there are none."""
    if attend.attention is None or attend.values is None:
        examples, tokens, _width = states.shape
        return states.new_zeros(examples, 0, tokens, tokens), states.new_zeros(examples, 0, tokens, projections.width)
    return attend.attention, attend.values
