"""Rank correlation, within an example, of a token's share of attention with how often its piece is predicted.

With `--predicted-frequency`: as `frequency_correlation`, by predictions of the model instead of counts.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._frequency import from_text, rank_correlation
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="predicted_correlation",
    long_name="rank correlation of attention to a token with how often the model predicts its piece",
    units="rank correlation",
    source="after Clark et al. 2019, section 3.2",
)


observe = from_text


def finish(observed: Float[Tensor, "example head key"], batch: Batch) -> Values:
    """The correlations, 0 where a head gives all tokens the same.

    Examples of fewer than 3 counted tokens, or whose pieces are predicted equally often, are not valid.
    """
    return rank_correlation(observed, batch, batch.predicted)
