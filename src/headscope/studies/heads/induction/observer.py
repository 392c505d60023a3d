"""Observers: attention along links, to sinks and over distances, for each input; what each token and layer sees."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.encoding.batch import Batch, BlockIndex, Rows
from headscope.encoding.block_parts import BlockParts
from headscope.encoding.encoded import CLASS
from headscope.measures import token_attention
from headscope.passes.observing import RowsObserver
from headscope.statistics.columns import Columns

FOCI = ("first", "delimiter", "punctuation")
# Of each layer, how far a token sees back and forward; infinite where nothing limits it.
Reach = Float[np.ndarray, "layer 2"]


@dataclass(frozen=True)
class HeadAttention(Columns):
    """A row for each input; heads of all layers in a row.

    * `input`, `unit`: its number, and that of what is resampled with it.
    * `linked`: attention along the links of each relation, summed; `queries`: the tokens that have such links.
    * `uniform`: what `linked` would be if a layer looked equally at all tokens that it sees.
    * `to`: mean attention to each of `FOCI`; `share`: that of uniform attention; `present`: whether the input has it.
    * `distance`: mean distance of what is attended to, in tokens.
    """

    ORDER = ("input",)

    input: Int[np.ndarray, " input"]
    unit: Int[np.ndarray, " input"]
    linked: Float[np.ndarray, "input head relation"]
    queries: Int[np.ndarray, "input relation"]
    uniform: Float[np.ndarray, "input layer relation"]
    to: Float[np.ndarray, "input head focus"]
    share: Float[np.ndarray, "input layer focus"]
    present: Bool[np.ndarray, "input focus"]
    distance: Float[np.ndarray, "input head"]


class AttentionObserver(RowsObserver):
    """Reads the attention of a batch.

    * `relations`: how many relations its links have; `reach`: how far each layer sees.
    """

    def __init__(self, relations: int, reach: Reach):
        self.relations, self.reach = relations, reach

    def start(self, batch: Batch) -> None:
        """Forget the batch before."""
        self.batch = batch
        self.links, self.received, self.distance = (BlockParts(batch.real.shape[1]) for _ in range(3))

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`."""
        self.links.add(layer, rows, token_attention.observe(rows))
        self.received.add(layer, rows, rows.received[:, :, 0])
        weighted = torch.einsum("ehqk,qk->ehq", rows.attention, rows.block.once(_distances).to(rows.attention.dtype))
        self.distance.add(layer, rows, rows.sum_of_real(weighted))

    def finish(self) -> HeadAttention:
        """The rows of the batch."""
        batch, foci, lengths = self.batch, foci_of(self.batch), self.batch.lengths
        example, relation, query, _ = batch.links.unbind(-1)
        seen = torch.from_numpy(self.reach).to(lengths)
        visible = visible_keys(lengths, batch.real.shape[1], seen)  # [layer, example, query]
        linked = self.links.joined().double()  # [link, head]
        uniform = (1 / visible)[:, example, query].T.double()  # [link, layer]
        cell, shape = example * self.relations + relation, (len(batch.real), self.relations)
        queries = torch.unique(batch.links[:, :3], dim=0)[:, :2]
        counts = torch.bincount(queries[:, 0] * self.relations + queries[:, 1], minlength=shape[0] * shape[1])
        received = uniform_received(visible, batch.real, seen)
        uniform_share = torch.einsum("lek,ekf->lef", received, foci) / lengths[:, None]
        return HeadAttention(
            input=batch.index.numpy(),
            unit=batch.unit.numpy(),
            linked=_sums(linked, cell, shape),
            queries=counts.view(shape).cpu().numpy(),
            uniform=_sums(uniform, cell, shape),
            to=(self.received.joined() @ foci / lengths[:, None, None]).cpu().numpy(),
            share=uniform_share.transpose(0, 1).cpu().numpy(),
            present=(foci.sum(1) > 0).cpu().numpy(),
            distance=(self.distance.joined() / lengths[:, None]).cpu().numpy(),
        )


class ReachObserver(RowsObserver):
    """Keeps the largest distance back and forward that any head of each layer gives some attention."""

    def start(self, batch: Batch) -> None:
        """Forget the batch before."""
        self.batch, self.farthest = batch, dict[int, tuple[int, int]]()

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`."""
        seen = (rows.attention > 0).flatten(0, 1).any(0)
        distances = rows.block.once(_back)[seen]
        back, forward = self.farthest.get(layer, (0, 0))
        if len(distances):
            back, forward = max(back, int(distances.max())), max(forward, -int(distances.min()))
        self.farthest[layer] = back, forward

    def finish(self) -> Int[np.ndarray, "layer 2"]:
        """The distances of each layer."""
        return np.array([self.farthest[layer] for layer in sorted(self.farthest)])


def foci_of(batch: Batch) -> Float[Tensor, "example token focus"]:
    """Membership of the tokens in each of `FOCI`, as ones and zeros; the first token is nothing else."""
    first = torch.zeros_like(batch.real)
    first[:, 0] = True
    kinds = [batch.token_class == CLASS[name] for name in ("sep", "punct")]
    return torch.stack([first, *(kind & ~first for kind in kinds)], dim=-1).to(torch.float32)


def _back(block: BlockIndex) -> Int[Tensor, "query key"]:
    """How far each key of a block stands before each query."""
    device = block.batch.real.device
    queries, keys = (torch.arange(part.start, part.stop, device=device) for part in (block.queries, block.keys))
    return queries[:, None] - keys


def _distances(block: BlockIndex) -> Int[Tensor, "query key"]:
    return block.once(_back).abs()


def _sums(
    values: Tensor, cell: Int[Tensor, " link"], shape: tuple[int, int]
) -> Float[np.ndarray, "input head relation"]:
    """The sums of the values [link, head] of each input and relation."""
    sums = values.new_zeros(shape[0] * shape[1], values.shape[1]).index_add_(0, cell, values)
    return sums.view(*shape, -1).mT.float().cpu().numpy()


def visible_keys(
    lengths: Float[Tensor, " example"], tokens: int, reach: Float[Tensor, "layer 2"]
) -> Float[Tensor, "layer example query"]:
    """How many tokens each token of an input sees; 1 or more, for padding too."""
    position = torch.arange(tokens, device=lengths.device)
    back = torch.minimum(position, reach[:, :1])[:, None]
    forward = torch.minimum((lengths[:, None] - 1 - position).clamp_min(0), reach[:, 1, None, None])
    return back + forward + 1


def uniform_received(
    visible: Float[Tensor, "layer example query"], real: Bool[Tensor, "example token"], reach: Float[Tensor, "layer 2"]
) -> Float[Tensor, "layer example key"]:
    """What each token gets from all tokens that see it, if these look equally at all that they see.

    A token is seen by those from `forward` before it to `back` after it.
    """
    tokens = real.shape[1]
    sums = torch.nn.functional.pad((real / visible).double().cumsum(-1), (1, 0))  # [layer, example, query + 1]
    position = torch.arange(tokens, device=real.device)
    last = torch.minimum(position + reach[:, :1], torch.tensor(tokens - 1.0)).long() + 1
    first = (position - reach[:, 1:]).clamp_min(0).long()
    last, first = (bound[:, None].expand(-1, len(real), -1) for bound in (last, first))
    return (sums.gather(-1, last) - sums.gather(-1, first)).float()
