"""Attention between the words of a batch, with [CLS] and [SEP] as two words more that stand before them.

To a word it is the sum over the word's tokens, from a word the mean over them (Clark et al. 2019, section 4.1); the
tokens of each role, [CLS] and [SEP], are treated as one word.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows
from headscope.encoding.block_parts import BlockParts
from headscope.results.vocabulary import TOKEN_CLASSES

ROLES = tuple(TOKEN_CLASSES.index(name) for name in ("cls", "sep"))
# Attention from and to [CLS] and [SEP] stands before that of words.
SPECIAL = len(ROLES)


class WordAttention:
    """The attention of one batch, in `dtype`, collected block by block as an `Observer` is called."""

    def __init__(self, batch: Batch, dtype: torch.dtype = torch.float32):
        self.maps = BlockParts(batch.real.shape[1], lambda part, rows: part.to(dtype))
        self.members = members(batch)
        self.sources = (self.members / self.members.sum(1, keepdim=True).clamp_min(1)).mT  # [example, word, query]

    def add(self, layer: int, rows: Rows) -> None:
        """Add a block; it becomes attention between words as soon as all queries of some examples are there."""
        self.maps.add(layer, rows, rows.between(self.sources, self.members))

    def whole(self) -> Float[Tensor, "example head word word"]:
        """The attention of all layers, whose heads stand in a row."""
        return self.maps.joined().cpu()


def members(batch: Batch) -> Float[Tensor, "example token word"]:
    """1 for the tokens of [CLS], of [SEP], and of each word."""
    roles = torch.stack([batch.token_class == role for role in ROLES], dim=-1)
    return torch.cat([roles.to(torch.float32), batch.sum_of_pieces], dim=-1)
