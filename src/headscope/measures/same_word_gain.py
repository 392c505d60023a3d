"""Attention of a word to the same word in the other segment, minus that of other words: a difference of shares.

As `same_word`, for each example: copies minus other words as far apart, and minus other words that look at the copies.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._shared import pair_sums
from headscope.results.variables import Variable
from headscope.results.vocabulary import PAIR_BASELINES

VARIABLE = Variable(
    name="same_word_gain",
    long_name="attention of a word to its copy in the other segment minus each baseline",
    units="difference of shares",
    source="Kovaleva et al. 2019, section 5",
    coords={"baseline": PAIR_BASELINES},
)


observe = pair_sums


def finish(observed: Float[Tensor, "example head sum"], batch: Batch) -> Values:
    """The differences; examples that are no pair, or share no word that can be compared, are not valid."""
    gains = observed[..., :1] - observed[..., 1 : 1 + len(PAIR_BASELINES)]
    return Values(gains, batch.pair_sums.has_copies[:, None].expand(-1, len(PAIR_BASELINES)))
