"""Attention of words to the words of their own and of the other segment, as a share of a token's attention.

Kovaleva et al. 2019, section 5. Punctuation counts as a word; the rest of the attention goes to special tokens.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._shared import pair_sums
from headscope.results.variables import Variable
from headscope.results.vocabulary import SEGMENTS

VARIABLE = Variable(
    name="segment_attention",
    long_name="attention within and across the segments of a pair",
    units="share of attention",
    source="Kovaleva et al. 2019, section 5",
    coords={"segments": SEGMENTS},
)


observe = pair_sums


def finish(observed: Float[Tensor, "example head sum"], batch: Batch) -> Values:
    """The shares; examples that are no pair are not valid."""
    return Values(observed[..., -len(SEGMENTS) :], batch.pair_sums.is_pair[:, None].expand(-1, len(SEGMENTS)))
