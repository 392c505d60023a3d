"""The linear maps of the first layer, computed once for tokens that have the same piece at the same position.

Masked copies of a text differ in few tokens, so that most queries, keys and values of the first layer are the same.
It is exact where what these are made from depends on the piece and the position alone. Who uses it has to check that.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.capture.layer_stack import instead
from headscope.capture.projections import Projections

States = Float[Tensor, "example token width"]


@contextmanager
def first_layer_once(projections: Projections, ids: Int[np.ndarray, "example token"]) -> Iterator[None]:
    """Within this context and for the inputs `ids`, these maps are applied to one token of each piece and position."""
    tokens = ids.shape[1]
    _, first, inverse = np.unique(ids * tokens + np.arange(tokens), return_index=True, return_inverse=True)
    chosen, places = torch.from_numpy(first), torch.from_numpy(inverse.reshape(ids.shape))

    def once(forward: Callable[[Tensor], Tensor], states: States) -> States:
        if states.shape[:2] != ids.shape:  # such as embeddings of relative positions
            return forward(states)
        # [example, token, width] -> [example_token, width] -> [example, token, output]
        return forward(states.flatten(0, 1)[chosen])[places]

    maps = {projections.query, projections.key, projections.value}
    with instead({module: partial(once, module.forward) for module in maps}):
        yield
