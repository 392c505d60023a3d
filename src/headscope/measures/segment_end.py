"""Attention to the last token of a segment, the final punctuation of a sentence, as a share of a token's attention.

Raganato and Tiedemann 2018: heads that look at the end of the sentence.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import FIRST_OF_TEXT, Batch, Values
from headscope.measures._shared import received
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="segment_end",
    long_name="attention to the last token of a segment",
    units="share of attention",
    source="Raganato and Tiedemann 2018",
)


observe = received


def finish(observed: Float[Tensor, "example head group key"], batch: Batch) -> Values:
    """The share; examples of special tokens alone are not valid."""
    in_text = batch.token_class >= FIRST_OF_TEXT
    last = in_text.clone()
    last[:, :-1] &= ~in_text[:, 1:]
    return Values((observed[:, :, 0] * last[:, None]).sum(-1) / batch.lengths[:, None], last.any(-1))
