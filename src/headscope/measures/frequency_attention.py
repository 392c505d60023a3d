"""Attention to a token by how frequent its piece is, as a multiple of its share of uniform attention.

With `--frequency`: a head that mostly looks at special tokens is below 1 for all classes. The classes divide the class
"other" of `attention_to` into five by the count of pieces in this corpus, or with `--frequency-list` in a list. The
interval holds the classes fixed: another sample has others.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._frequency import by_class, from_text
from headscope.results.variables import Variable
from headscope.results.vocabulary import FREQUENCIES

VARIABLE = Variable(
    name="frequency_attention",
    long_name="attention to a token by the frequency of its piece",
    units="times uniform attention",
    source="after Clark et al. 2019, section 3.2",
    coords={"frequency": FREQUENCIES},
)


observe = from_text


def finish(observed: Float[Tensor, "example head key"], batch: Batch) -> Values:
    """The multiples; examples without a token of the class, and those of a pass without counts, are not valid."""
    return by_class(observed, batch, batch.frequency)
