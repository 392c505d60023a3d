"""Attention to special tokens by the part of speech of the token that looks, as a share of its attention.

Clark et al. 2019, section 3.2: whether a head looks at [SEP] where its function does not apply. Where an
input has no special tokens, attention to its first token.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.encoding.batch import Batch, BlockIndex, Rows, Values
from headscope.results.variables import Variable
from headscope.results.vocabulary import UPOS

VARIABLE = Variable(
    name="sink_by_part_of_speech",
    long_name="attention to special tokens from the words of each part of speech",
    units="share of attention",
    source="Clark et al. 2019, section 3.2",
    coords={"part_of_speech": UPOS},
)


def observe(rows: Rows) -> Float[Tensor, "example head part_of_speech"]:
    """The attention of the block's queries to its special tokens, added up by part of speech."""
    members = rows.block.once(_members)
    return rows.zeros(len(UPOS)) if members is None else rows.to_sink @ members


def finish(observed: Float[Tensor, "example head part_of_speech"], batch: Batch) -> Values:
    """The means; examples without the part of speech, or without annotation, are not valid."""
    counts = _members_of(batch.upos).sum(1)
    return Values(observed / counts.clamp_min(1)[:, None], counts > 0)


def _members(block: BlockIndex) -> Float[Tensor, "example query part_of_speech"] | None:
    upos = block.batch.upos[block.examples, block.queries]
    # A GPU multiplies by zeros rather than wait.
    return _members_of(upos) if upos.is_cuda or bool(upos.any()) else None


def _members_of(upos: Int[Tensor, "example token"]) -> Float[Tensor, "example token part_of_speech"]:
    """1 for the parts of speech of the words of each token."""
    return (upos[..., None] >> torch.arange(len(UPOS), device=upos.device) & 1).to(torch.float32)
