"""Cosine similarity of two models' padded attention maps, as a cosine from 0 to 1.

Kovaleva et al. 2019, section 4.3, as the released notebook computes it: inputs are padded to 200 tokens and the
rows of padding, which attend to the real tokens as all rows do, count like any other. The shorter the text, the more
this figure is about what padding looks at.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.measures.comparisons.similarity import cosine, products

PADDED_TO = 200


def observe(first: Rows, second: Rows) -> Float[Tensor, "example head 3"]:
    """The products of all rows of the block, summed."""
    return products(first, second).sum(-1)


def finish(observed: Float[Tensor, "example head 3"], batch: Batch) -> Values:
    """The cosine of each example."""
    return Values(cosine(observed), batch.lengths > 0)
