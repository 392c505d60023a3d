"""The statistics of a batch's heads, read by fused kernels layer by layer without a map; and their check on a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from headscope.capture.attention_function import observed
from headscope.capture.band import ALL
from headscope.capture.eager import eager_pass, short_windows
from headscope.capture.self_check import TOLERANCE, furthest
from headscope.capture.transformers_logging import quiet

# Where kernels run, and the numbers that they read. A test adds "cpu", which Triton's interpreter serves.
DEVICES = {"cuda"}
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
# Keys of one head that fit into a tile.
WIDEST = 256


class NeedsMap(Exception):
    """The reason why numbers cannot be read without a map of attention."""


def kernels_run_on(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether fused kernels run on a device in a number format."""
    return device.type in DEVICES and dtype in DTYPES and find_spec("triton") is not None


@dataclass
class FusedStatistics:
    """The statistics of all layers of one batch; the heads of all layers are in one row.

    * `groups`: of each query: 1 a separator, 2 [CLS], 0 another token, 3 padding; `marks`: 1 for the keys of the sink.
    * `pairs`: rows (example, relation, query, key).
    * `heads`: the number of heads of each layer.
    * `weights`: of sums of attention, such as `encoding.pair_sums`; None for none.
    * `read`: `lse` (of base 2), `entropy` and `to_sink` [example, head, query], `received` by key from all queries and
      those of groups 1, 2 and 0 [example, head, 4, key], `at_offsets` [example, head, offset, block], `linked`
      [pair, head].
    * `weighed`: the sums of each layer [example, head, sum, block]; `layers`: how many were read.
    """

    groups: Int[Tensor, "example token"]
    marks: Int[Tensor, "example token"]
    pairs: Int[Tensor, "pair 4"]
    heads: tuple[int, ...]
    weights: Float[Tensor, "example sum token token"] | None = None
    read: dict[str, Tensor] = field(default_factory=dict)
    weighed: list[Tensor] = field(default_factory=list)
    layers: int = 0
    kinds: Any = None

    def attend(
        self,
        query: Float[Tensor, "example head token width"],
        key: Float[Tensor, "example key_head token width"],
        value: Float[Tensor, "example key_head token value_width"],
        scale: float,
        softcap: float | None,
        biases: Mapping[str, Tensor | None],
    ) -> Float[Tensor, "example token head value_width"]:
        """The output of a layer, whose statistics are kept.

        * `biases`: what is added to scores, by name; a mask says what it is by `visible`.

        Raises `NeedsMap` for scores with a bias that is no mask of padding and of a band, and for other shapes.
        """
        from headscope.capture.fused_attention import LayerAttention, TokenMarks

        present = [(name, bias) for name, bias in biases.items() if bias is not None]
        seen: list[Any] = [vars(bias).get("visible") for _, bias in present]
        if len(present) > 1 or None in seen:
            raise NeedsMap(f"scores have a {present[0][0]} of another shape")
        examples, heads, tokens, width = query.shape
        if max(width, value.shape[-1]) > WIDEST or tokens != key.shape[2] or heads != self.heads[self.layers]:
            raise NeedsMap(f"queries {tuple(query.shape)} and values {tuple(value.shape)} do not fit into tiles")
        if not self.layers:
            self.read, self.kinds = self._memory(query), (TokenMarks(self.groups), TokenMarks(self.marks))
        unpadded = torch.full((examples,), tokens, dtype=torch.int32, device=query.device), ALL
        lengths, band = seen[0] if present else unpadded
        query, key, value = (part if part.stride(-1) == 1 else part.contiguous() for part in (query, key, value))
        first = sum(self.heads[: self.layers])
        store = {name: memory[:, first : first + heads] for name, memory in self.read.items()}
        layer, lse, (groups, marks) = (
            LayerAttention(query, key, lengths, scale, softcap, band),
            store["lse"],
            self.kinds,
        )
        output = layer.attend(
            value, lse, store["entropy"], marked=store["to_sink"], marks=marks, offsets=store["at_offsets"]
        )
        sums = layer.receive(lse, groups, store["received"], self.weights)
        layer.look(lse, self.pairs, store["linked"])
        self.weighed += [] if sums is None else [sums]
        self.layers += 1
        return output

    def _memory(self, query: Tensor) -> dict[str, Tensor]:
        from headscope.capture.fused_attention import offset_blocks

        examples, tokens, heads = query.shape[0], query.shape[2], sum(self.heads)
        shapes = {
            **dict.fromkeys(("lse", "entropy", "to_sink"), (examples, heads, tokens)),
            "received": (examples, heads, 4, tokens),
            "at_offsets": (examples, heads, 3, offset_blocks(tokens, query)),
            "linked": (len(self.pairs), heads),
        }
        return {name: query.new_empty(shape, dtype=torch.float32) for name, shape in shapes.items()}


def why_maps(network: PreTrainedModel) -> str:
    """Why the attention of a network has to be read from maps; "" if fused kernels read it exactly."""
    device, dtype = network.device, network.dtype
    if not kernels_run_on(device, dtype):
        return f"kernels of triton do not run on {device.type} in {str(dtype).removeprefix('torch.')}"
    try:
        return _difference(network)
    except NeedsMap as reason:
        return str(reason)
    except Exception as error:  # whatever a compiler says of a device, or a model of a mask
        return f"{type(error).__name__}: {error}".splitlines()[0]


class _Look:
    """An observer that wants statistics alone."""

    def __init__(self, statistics: FusedStatistics):
        self.statistics = statistics

    def __call__(self, *block: object) -> None:
        raise NeedsMap("attention is computed in another way than by the attention function")


@torch.inference_mode()
def _difference(network: PreTrainedModel) -> str:
    with quiet(), short_windows(network):
        tolerance = TOLERANCE[network.dtype]
        inputs, expected = eager_pass(network, tolerance)
        real = inputs["attention_mask"].bool()
        nothing = torch.zeros_like(real, dtype=torch.int32)
        heads, groups = tuple(maps.shape[1] for maps in expected.attentions), torch.where(real, 0, 3).int()
        look = _Look(FusedStatistics(groups, nothing, real.new_zeros(0, 4, dtype=torch.long), heads))
        with observed(network, look):
            output = network(**inputs)[0]
    if look.statistics.layers != len(expected.attentions):
        return f"{look.statistics.layers} attention calls, expected {len(expected.attentions)}"
    rows, read = real[:, None].to(output.device), look.statistics.read
    maps = torch.cat(expected.attentions, dim=1).double() * rows[..., None]
    for name, computed, right in (
        ("entropy", read["entropy"], torch.special.entr(maps).sum(-1)),
        ("attention by key", read["received"][:, :, 0], maps.sum(2)),
    ):
        difference = float(((computed.double() - right) * rows).abs().amax())
        if not difference <= tolerance * max(1.0, float(right.amax())):
            return f"{name} differs from eager by {difference:.1e}"
    return _of_outputs(output, expected.output, real, tolerance)


def _of_outputs(output: Tensor, expected: Tensor, real: Tensor, tolerance: float) -> str:
    difference = furthest(output, expected, real)
    close = difference <= tolerance * max(1.0, expected.abs().amax().item())
    return "" if close else f"outputs differ from eager by {difference:.1e}"
