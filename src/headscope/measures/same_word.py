"""Attention of a word to the same word in the other segment of a pair, as a share of the word's attention.

Kovaleva et al. 2019, section 5. The mean over the words with a copy in the other segment; beside it the attention
between other words as far apart, and from other words of the same segment to the same copies.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._shared import pair_sums
from headscope.results.variables import Variable
from headscope.results.vocabulary import WORD_PAIRS

VARIABLE = Variable(
    name="same_word",
    long_name="attention of a word to its copy in the other segment, and baselines",
    units="share of attention",
    source="Kovaleva et al. 2019, section 5",
    coords={"word_pair": WORD_PAIRS},
)


observe = pair_sums


def finish(observed: Float[Tensor, "example head sum"], batch: Batch) -> Values:
    """The means; examples that are no pair, or share no word that can be compared, are not valid."""
    has_copies = batch.pair_sums.has_copies[:, None]
    return Values(observed[..., : len(WORD_PAIRS)], has_copies.expand(-1, len(WORD_PAIRS)))
