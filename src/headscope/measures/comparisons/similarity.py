"""Cosine similarity of two models' attention maps, as a cosine from 0 to 1.

Kovaleva et al. 2019, section 4.3 (Figure 5): the cosine of the flattened L x L maps of a head. The released code
flattens maps that are padded to 200 tokens: see `padded_similarity`. Here padding counts for nothing.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.measures.comparisons._cosine import cosine, products
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="similarity",
    long_name="cosine similarity of attention with that of the first model",
    units="cosine",
    source="Kovaleva et al. 2019, section 4.3",
)


def observe(one: Rows, other: Rows) -> Float[Tensor, "example head 3"]:
    """The products of the block's real rows, summed; for later queries of the same examples this is added up."""
    return (products(one, other) @ one.place.real_queries[..., None]).squeeze(-1)


def finish(observed: Float[Tensor, "example head 3"], batch: Batch) -> Values:
    """The cosine of each example; heads of all layers stand in a row."""
    return Values(cosine(observed), batch.lengths > 0)
