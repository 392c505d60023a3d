"""Attention from one word of a linked pair to the other, as a share of the first word's attention.

Kovaleva et al. 2019, section 4.5 (token-to-token attention). The maximum of an example over its pairs
of tokens; verb to subject and pronoun to noun, both ways, in the same sentence.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.measures._shared import maximum_by_example
from headscope.results.variables import Variable
from headscope.results.vocabulary import RELATIONS

VARIABLE = Variable(
    name="token_attention",
    long_name="attention from one word of a pair to the other",
    units="share of attention",
    source="Kovaleva et al. 2019, section 4.5",
    coords={"relation": RELATIONS},
)


def observe(rows: Rows) -> Float[Tensor, "link_row head"]:
    """The attention of each link of the block's examples; zero where its query or its key is not in the block."""
    return rows.linked


def finish(observed: Float[Tensor, "link_row head"], batch: Batch) -> Values:
    """The maximum over the links of each relation; examples without one are not valid."""
    example, relation, _, _ = batch.links.unbind(-1)
    return maximum_by_example(observed, example, relation, (len(batch.real), len(RELATIONS)))
