"""What the attention of each head of a batch is like, from one forward pass without a map, gradients or dropout."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import one_hot
from transformers import PreTrainedModel

from headscope.capture.attention_function import LAZY, WHOLE, block_scores, by_key_head, observed
from headscope.capture.attention_mask import WHOLE_MASK
from headscope.capture.attention_switch import uncached
from headscope.capture.eager import eager
from headscope.capture.observer import blocks
from headscope.capture.self_check import CAPTURES, Capture
from headscope.capture.softmax import exact_softmax, shifted, tapped
from headscope.results.variables import by_layer

# A text is divided into this many parts of equal length.
TENTHS = 10


@dataclass
class LayerSums:
    """Sums over the queries of a layer that were seen so far, by head.

    * `entropy`: in nats; `largest`: the largest score before the softmax; `received`: attention by text and key.
    """

    entropy: Float[Tensor, " head"]
    largest: Float[Tensor, " head"]
    received: Float[Tensor, "example head key"]


@dataclass
class HeadStatistics:
    """An observer of one forward pass that keeps a few sums of each layer, on the device of the layer.

    * `real`: which tokens are no padding. Queries at padding count for nothing.
    """

    real: Bool[Tensor, "example token"]
    layers: list[LayerSums] = field(default_factory=list)

    @property
    def statistics(self) -> "HeadStatistics":
        """Itself, to which `capture.attention_function` leaves the attention of a layer."""
        return self

    def attend(
        self,
        query: Float[Tensor, "example head query width"],
        key: Float[Tensor, "example key_head key width"],
        value: Float[Tensor, "example key_head key value_width"],
        scale: float,
        softcap: float | None,
        biases: Mapping[str, Tensor | None],
    ) -> Float[Tensor, "example query head value_width"]:
        """The output of the next layer, as transformers' eager attention computes it, block by block."""
        layer, (examples_, heads, tokens, _) = len(self.layers), query.shape
        output = value.new_empty(examples_, tokens, heads, value.shape[-1])
        added = [bias for bias in biases.values() if bias is not None]
        for examples, all_heads, queries in blocks(examples_, heads, tokens, key.shape[2], query.device):
            scores = block_scores(query, key, scale, softcap, added, (examples, all_heads, queries, slice(None)))
            largest = scores.amax(-1)
            attention, entropy = exact_softmax(shifted(scores))
            output[examples, queries] = by_key_head(attention.to(value.dtype), value[examples]).transpose(1, 2)
            self._add(layer, attention, examples, queries, entropy(), largest)
        return output

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, *_: Any) -> None:
        """See a block of a model whose softmax is observed; how large its scores were is not seen."""
        entropy = torch.special.entr(attention).sum(-1)
        self._add(layer, attention, examples, queries, entropy, torch.full_like(entropy, torch.nan))

    def _add(
        self, layer: int, attention: Tensor, examples: slice, queries: slice, entropy: Tensor, largest: Tensor
    ) -> None:
        real = self.real[examples, None, queries].to(attention.device)
        if layer == len(self.layers):
            _, heads, _, keys = attention.shape
            zeros = attention.new_zeros(heads), attention.new_full((heads,), -torch.inf)
            self.layers.append(LayerSums(*zeros, attention.new_zeros(len(self.real), heads, keys)))
        sums = self.layers[layer]
        sums.entropy += entropy.where(real, 0).sum((0, 2))
        sums.largest = torch.maximum(sums.largest, largest.where(real, -torch.inf).amax((0, 2)))
        sums.received[examples] += (real.to(attention.dtype)[:, :, None] @ attention).squeeze(2)

    def numbers(self) -> dict[str, Float[np.ndarray, "layer head *place"]]:
        """The numbers of all heads, NaN where a layer has fewer than another.

        * `entropy`: in nats, the mean over queries; `largest`: the largest score before the softmax.
        * `sink`: the share of a text's attention that its most attended token receives, and `received` [layer, head,
          tenth] that of the tokens in each tenth of the text; both are means over texts.
        """
        length = self.real.sum(-1, keepdim=True)
        rank = (self.real.cumsum(-1) - 1).clamp_min(0)
        tenth = (rank * TENTHS // length.clamp_min(1)).clamp_max(TENTHS - 1)
        tenths = (one_hot(tenth, TENTHS) * self.real[..., None]).float()
        flat: dict[str, list[Tensor]] = {"entropy": [], "largest": [], "sink": [], "received": []}
        for sums in self.layers:
            here = sums.received.device
            shares = sums.received / length.clamp_min(1).to(here)[..., None]
            flat["entropy"].append(sums.entropy / length.sum().to(here))
            flat["largest"].append(sums.largest)
            flat["sink"].append(shares.amax(-1).mean(0))
            flat["received"].append((shares @ tenths.to(here)).mean(0))
        heads = tuple(len(sums.entropy) for sums in self.layers)
        arrays = {name: torch.cat([part.float().cpu() for part in parts]).numpy() for name, parts in flat.items()}
        return {name: by_layer(array, heads) for name, array in arrays.items()}


@torch.no_grad()
def head_statistics(network: PreTrainedModel, capture: Capture, batch: Mapping[str, Any]) -> HeadStatistics:
    """Read a batch in one forward pass of a network that passed the self-check.

    * `batch`: the arguments of its forward pass; those that it does not take, such as labels, are left out.

    Nothing of a training changes: no gradient is kept, and no random number is drawn.
    """
    known = signature(network.forward).parameters
    inputs = {name: value for name, value in batch.items() if name in known and isinstance(value, Tensor)}
    ids = inputs["input_ids"]
    mask = inputs.get("attention_mask")
    real = mask.bool() if mask is not None and mask.ndim == 2 else torch.ones_like(ids, dtype=torch.bool)
    statistics = HeadStatistics(real)
    with evaluating(network), _capture(network, capture, statistics, ids.shape[-1]):
        network(**inputs)
    return statistics


@contextmanager
def evaluating(network: PreTrainedModel) -> Iterator[None]:
    """Within this context a network in training has no dropout, and keeps no keys; afterwards it is as before."""
    training = [module for module in network.modules() if module.training]
    with uncached(network):
        try:
            network.eval()
            yield
        finally:
            for module in training:
                module.training = True


@contextmanager
def _capture(network: PreTrainedModel, capture: Capture, statistics: HeadStatistics, tokens: int) -> Iterator[None]:
    """Within this context the attention of a forward pass goes to `statistics`, as the self-check found to be exact."""
    if CAPTURES[capture.method] is tapped:
        with eager(network), tapped(network, statistics):
            yield
    else:
        long = capture.method == "attention interface" and tokens**2 > WHOLE_MASK
        with observed(network, statistics, LAZY if long else WHOLE):
            yield
