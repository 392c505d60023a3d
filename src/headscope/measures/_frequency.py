"""What measures of frequency share: the attention that tokens get from those of the text, beside uniform attention."""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, BlockIndex, Rows
from headscope.results.vocabulary import TOKEN_CLASSES

# Of padding and special tokens the class is smaller.
FIRST_OF_TEXT = TOKEN_CLASSES.index("punct")


def from_text(rows: Rows) -> Float[Tensor, "example head key"]:
    """The attention that each key gets from the block's queries that are not special."""
    return rows.for_all_keys(rows.block.once(_text_queries) @ rows.attention).squeeze(2)


def multiples(
    observed: Float[Tensor, "example head group"], even: Float[Tensor, "example group"]
) -> Float[Tensor, "example head group"]:
    """Attention over what uniform attention gives; 0 where it gives nothing."""
    return torch.where(even > 0, 1 / even.where(even > 0, 1), 0)[:, None] * observed


def uniform(batch: Batch) -> Float[Tensor, "example key"]:
    """What each key would get from the queries that are not special if these looked at all that they see alike."""
    of_text = (batch.token_class >= FIRST_OF_TEXT) & (batch.seen > 0)
    weights = of_text / batch.seen.clamp_min(1)
    by_seen = weights.new_zeros(len(weights), weights.shape[1] + 1).scatter_add(1, batch.seen.clamp_min(0), weights)
    # A key is seen by all queries that see more tokens than there are before it.
    return by_seen.flip(-1).cumsum(-1).flip(-1)[:, 1:]


def _text_queries(block: BlockIndex) -> Float[Tensor, "example 1 1 query"]:
    of_text = block.batch.token_class[block.examples, None, None, block.queries] >= FIRST_OF_TEXT
    return of_text.to(torch.float32)
