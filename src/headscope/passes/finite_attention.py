"""Refusal of attention that is not finite, such as after an overflow of float16; one column of a map is read."""

from contextlib import suppress
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.observer import Observer
from headscope.capture.watch import Enough
from headscope.encoding.batch import Batch
from headscope.errors import HeadscopeError
from headscope.models import Model


class FiniteAttention:
    """An observer that passes all blocks on to another one, and refuses a batch with attention that is not finite.

    A softmax over scores of which one is infinite or not a number makes the whole row NaN, and then the same row in all
    later layers. So the attention to the first token in the last layer stands for the rows of all layers; a second
    forward pass finds the first of them.
    """

    batch: Batch
    first: Float[Tensor, "layer example token"]

    def __init__(self, model: Model, observer: Observer):
        self.model, self.observer, self.locating = model, observer, False
        self.key_ranges = getattr(observer, "key_ranges", False)

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        shape = (len(self.model.capture.heads), *batch.real.shape)
        self.batch, self.first = batch, torch.zeros(shape, device=batch.real.device)

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, *details: Any) -> None:
        """See `Observer`."""
        if self.locating or layer == len(self.first) - 1:
            self.first[layer, examples, queries] += attention[..., 0].sum(1)
        if not self.locating:
            self.observer(layer, attention, examples, queries, *details)

    def refuse(self) -> None:
        """Raise `HeadscopeError` for the first layer and example of the batch with attention that is not finite.

        The observer is still in the model.
        """
        if not (self.first[-1].isnan() & self.batch.real).any():
            return
        self.locating = True
        with suppress(Enough):
            self.model.network(**self.batch.inputs)
        wrong = (self.first.isnan() & self.batch.real).any(-1)  # [layer, example]
        layer = int(wrong.any(-1).nonzero()[0])
        example = int(self.batch.index[wrong[layer]].min()) + 1
        dtype = str(self.model.network.dtype).removeprefix("torch.")
        remedy = "use --dtype float32" if dtype in ("float16", "bfloat16") else "leave the example out"
        raise HeadscopeError(
            f"model '{self.model.name}': the attention of layer {layer + 1} is not finite in example {example}, "
            f"computed in {dtype}; {remedy}, or use another model"
        )
