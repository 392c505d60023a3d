"""Refusal of attention that is not finite, such as after an overflow of float16; one column of each map is read."""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.batch import Batch
from headscope.capture.observer import Observer
from headscope.errors import HeadscopeError
from headscope.models import Model


class FiniteAttention:
    """An observer that passes all blocks on to another one, and refuses a batch with attention that is not finite.

    A softmax over scores of which one is infinite or not a number makes the whole row NaN, so the attention to the
    first token stands for the row.
    """

    batch: Batch
    first: Float[Tensor, "layer example token"]

    def __init__(self, model: Model, observer: Observer):
        self.model, self.observer = model, observer

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        shape = (len(self.model.capture.heads), *batch.real.shape)
        self.batch, self.first = batch, torch.zeros(shape, device=batch.real.device)

    def __call__(
        self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor | None = None
    ) -> None:
        """See `Observer`."""
        if layer < len(self.first):  # more calls than layers are refused after the forward pass
            self.first[layer, examples, queries] = attention[..., 0].sum(1)
        self.observer(layer, attention, examples, queries, scores)

    def refuse(self) -> None:
        """Raise `HeadscopeError` for the first layer and example of the batch with attention that is not finite."""
        wrong = (self.first.isnan() & self.batch.real).any(-1)  # [layer, example]
        if not wrong.any():
            return
        layer = int(wrong.any(-1).nonzero()[0])
        example = int(self.batch.index[wrong[layer]].min()) + 1
        dtype = str(self.model.network.dtype).removeprefix("torch.")
        remedy = "use --dtype float32" if dtype in ("float16", "bfloat16") else "leave the example out"
        raise HeadscopeError(
            f"model '{self.model.name}': the attention of layer {layer + 1} is not finite in example {example}, "
            f"computed in {dtype}; {remedy}, or use another model"
        )
