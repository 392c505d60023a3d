"""Attention to a token by how frequent its piece is, as a multiple of its share of uniform attention.

With `--frequency`: the attention that the tokens of a class get from all tokens of the text, over what uniform
attention gives them. 1 is no more and no less; a head that mostly looks at special tokens is below 1 for all classes.
The classes divide the class "other" of `attention_to` into five by the count of pieces in this corpus. Another sample
has other classes; the interval holds them fixed, so that it has the value of a treebank in .65 to .89 of samples, with
a bias of up to .035. With `--frequency-list` the classes are those of a list, and stay: in a simulation of 50 and 200
sentences the interval had the value of the whole in .91 to .95 of samples, with classes of the sample in .21 to .69.
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
