"""What measures of frequency share: the attention that tokens get from those of the text, beside uniform attention."""

import torch
from jaxtyping import Bool, Float, Int, Num
from torch import Tensor

from headscope.encoding.batch import FIRST_OF_TEXT, Batch, Rows, Values
from headscope.results.vocabulary import FREQUENCIES

LEAST_TOKENS = 3
DECIMALS = 4  # of attention over the mean of these tokens: smaller differences are those of rounding


def from_text(rows: Rows) -> Float[Tensor, "example head key"]:
    """The attention that each key gets from the block's queries that are not special."""
    return rows.from_text


def by_class(
    observed: Float[Tensor, "example head key"], batch: Batch, frequency: Int[Tensor, "example key"]
) -> Values:
    """The attention that each class of tokens gets, over what uniform attention gives it.

    * `frequency`: the number of the class of each token, -1 for one in none.
    """
    classes = torch.arange(len(FREQUENCIES), device=frequency.device)
    in_class = (frequency[..., None] == classes).to(observed.dtype)  # [example, key, class]
    even = (uniform(batch, batch.seen)[:, None] @ in_class)[:, 0]
    return Values(multiples(observed @ in_class, even), even > 0)


def rank_correlation(
    observed: Float[Tensor, "example head key"], batch: Batch, count: Int[Tensor, "example key"]
) -> Values:
    """Spearman's correlation, within an example, of the multiples of its tokens with their counts.

    * `count`: of each token, -1 for one that is not counted.
    """
    has_count = count >= 0
    if not bool(has_count.any()):
        return Values(observed.new_zeros(observed.shape[:2]), has_count.any(-1))
    multiple = multiples(observed, uniform(batch, batch.seen)) * has_count[:, None]
    mean = multiple.sum(-1, keepdim=True) / has_count.sum(-1)[:, None, None].clamp_min(1)
    multiple = (multiple / mean.where(mean > 0, 1)).round(decimals=DECIMALS)
    x, y = _centred(multiple, has_count[:, None]), _centred(count[:, None].to(multiple.dtype), has_count[:, None])
    size = torch.linalg.vector_norm(x, dim=-1) * torch.linalg.vector_norm(y, dim=-1)
    correlation = torch.where(size > 0, (x * y).sum(-1) / size.clamp_min(1e-12), 0)
    return Values(correlation, (has_count.sum(-1) >= LEAST_TOKENS) & y.any(-1).any(-1))


def multiples(
    observed: Float[Tensor, "example head group"], even: Float[Tensor, "example group"]
) -> Float[Tensor, "example head group"]:
    """Attention over what uniform attention gives; 0 where it gives nothing."""
    return torch.where(even > 0, 1 / even.where(even > 0, 1), 0)[:, None] * observed


def uniform(batch: Batch, seen: Num[Tensor, "#example #key"]) -> Float[Tensor, "example key"]:
    """What each key would get from the queries that are not special if these looked equally at all that they see.

    * `seen`: how many tokens each token sees, from the first on; below 1 where that is not known.
    """
    in_text = (batch.token_class >= FIRST_OF_TEXT) & (seen > 0)
    weights, seen = in_text / seen.clamp_min(1), seen.clamp_min(0).long().expand_as(in_text)
    by_seen = weights.new_zeros(len(weights), weights.shape[1] + 1).scatter_add(1, seen, weights)
    # A key is seen by all queries that see more tokens than there are before it.
    return by_seen.flip(-1).cumsum(-1).flip(-1)[:, 1:]


def _centred(
    values: Float[Tensor, "example head token"], has_count: Bool[Tensor, "example 1 token"]
) -> Float[Tensor, "example head token"]:
    """The ranks of the known values, less their mean; 0 for others. Equal values share their mean rank."""
    values = torch.where(has_count, values, torch.inf).contiguous()
    ordered = values.sort(-1).values
    below, up_to = (torch.searchsorted(ordered, values, right=right) for right in (False, True))
    middle = (has_count.sum(-1, keepdim=True) - 1) / 2
    return torch.where(has_count, (below + up_to - 1) / 2 - middle, 0)
