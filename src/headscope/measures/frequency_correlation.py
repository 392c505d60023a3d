"""Rank correlation, within an example, of a token's share of attention with the frequency of its piece.

With `--frequency`: Spearman's, over the tokens that `frequency_attention` counts, of attention over what uniform
attention gives. Above 0 a head looks at frequent pieces, below 0 at rare ones.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._frequency import from_text, rank_correlation
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="frequency_correlation",
    long_name="rank correlation of attention to a token with the frequency of its piece",
    units="rank correlation",
    source="after Clark et al. 2019, section 3.2",
)


observe = from_text


def finish(observed: Float[Tensor, "example head key"], batch: Batch) -> Values:
    """The correlations, 0 where a head gives all tokens the same.

    Examples of fewer than 3 counted tokens, or of tokens with one count, are not valid.
    """
    return rank_correlation(observed, batch, batch.count)
