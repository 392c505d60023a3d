"""The sink of an input: its special tokens; where it has none, its first token.

Clark et al. 2019, section 3.2: a head whose function does not apply to a token looks at [SEP] ("no-op").
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.results.vocabulary import TOKEN_CLASSES

CLS, SEP = (TOKEN_CLASSES.index(name) for name in ("cls", "sep"))


def sink_of(token_class: Int[Tensor, "example token"]) -> Float[Tensor, "example token"]:
    """1 for the tokens of the sink, else 0.

    >>> sink_of(torch.tensor([[0, 3, 1], [3, 3, -1]])).tolist()
    [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    special = (token_class == CLS) | (token_class == SEP)
    first = torch.zeros_like(special)
    first[:, 0] = True
    return torch.where(special.any(-1, keepdim=True), special, first).to(torch.float32)
