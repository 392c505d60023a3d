"""How many tokens each token of an input sees, and what uniform attention over these gives each token."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


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
    """What each token gets from all tokens that see it, if these look at all that they see alike.

    A token is seen by those from `forward` before it to `back` behind it.
    """
    tokens = real.shape[1]
    sums = torch.nn.functional.pad((real / visible).double().cumsum(-1), (1, 0))  # [layer, example, query + 1]
    position = torch.arange(tokens, device=real.device)
    last = torch.minimum(position + reach[:, :1], torch.tensor(tokens - 1.0)).long() + 1
    first = (position - reach[:, 1:]).clamp_min(0).long()
    last, first = (bound[:, None].expand(-1, len(real), -1) for bound in (last, first))
    return (sums.gather(-1, last) - sums.gather(-1, first)).float()
