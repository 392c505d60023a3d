"""Rank correlation of the share of attention that a token gets with the frequency of its piece in the corpus.

Spearman's correlation within an example, over the tokens that `frequency_attention` counts: of the attention that each
gets, over what uniform attention gives it, and the count of its piece. Above 0 a head looks at frequent pieces, below 0
at rare ones, whatever it gives special tokens.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._frequency import from_text, multiples, uniform
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="frequency_correlation",
    long_name="rank correlation of attention to a token with the frequency of its piece",
    units="rank correlation",
    source="after Clark et al. 2019, section 3.2",
)
LEAST_TOKENS = 3
DECIMALS = 4  # of attention over the mean of these tokens: smaller differences are those of rounding


observe = from_text


def finish(observed: Float[Tensor, "example head key"], batch: Batch) -> Values:
    """The correlations, 0 where a head gives all tokens the same.

    Examples of fewer than 3 counted tokens, or of tokens with one count, are not valid.
    """
    known = batch.frequency >= 0
    if not bool(known.any()):
        return Values(observed.new_zeros(observed.shape[:2]), known.any(-1))
    multiple = multiples(observed, uniform(batch)) * known[:, None]
    mean = multiple.sum(-1, keepdim=True) / known.sum(-1)[:, None, None].clamp_min(1)
    multiple = (multiple / mean.where(mean > 0, 1)).round(decimals=DECIMALS)
    x, y = _centred(multiple, known[:, None]), _centred(batch.count[:, None].to(multiple.dtype), known[:, None])
    size = torch.linalg.vector_norm(x, dim=-1) * torch.linalg.vector_norm(y, dim=-1)
    correlation = torch.where(size > 0, (x * y).sum(-1) / size.clamp_min(1e-12), 0)
    return Values(correlation, (known.sum(-1) >= LEAST_TOKENS) & y.any(-1).any(-1))


def _centred(
    values: Float[Tensor, "example head token"], known: Bool[Tensor, "example 1 token"]
) -> Float[Tensor, "example head token"]:
    """The ranks of the known values, less their mean; 0 for others. Equal values share their mean rank."""
    values = torch.where(known, values, torch.inf).contiguous()
    ordered = values.sort(-1).values
    below, up_to = (torch.searchsorted(ordered, values, right=right) for right in (False, True))
    middle = (known.sum(-1, keepdim=True) - 1) / 2
    return torch.where(known, (below + up_to - 1) / 2 - middle, 0)
