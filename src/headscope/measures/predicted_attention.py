"""Attention to a token by how often the model predicts its piece, as a multiple of its share of uniform attention.

With `--predicted-frequency`: as `frequency_attention`, with the five classes made by the model's own predictions.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._frequency import by_class, from_text
from headscope.results.variables import Variable
from headscope.results.vocabulary import FREQUENCIES

VARIABLE = Variable(
    name="predicted_attention",
    long_name="attention to a token by how often the model predicts its piece",
    units="times uniform attention",
    source="after Clark et al. 2019, section 3.2",
    coords={"frequency": FREQUENCIES},
)


observe = from_text


def finish(observed: Float[Tensor, "example head key"], batch: Batch) -> Values:
    """The multiples; examples without a token of the class, and those of a pass without predictions, are not valid."""
    return by_class(observed, batch, batch.predicted_class)
