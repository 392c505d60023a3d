"""Attention that a linguistic feature gets from all tokens, as a share of a token's attention.

Kovaleva et al. 2019, section 4.4 (Figure 6). For an example, the maximum over its tokens j of the feature
of (1/L) sum_i A[i, j]. Examples without the feature are left out, as the paper says; its released code
counts most of them as 0.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._shared import maximum_by_feature, received
from headscope.results.variables import Variable
from headscope.results.vocabulary import FEATURES

VARIABLE = Variable(
    name="feature_attention",
    long_name="attention to the most attended token of each feature",
    units="share of attention",
    source="Kovaleva et al. 2019, section 4.4",
    coords={"feature": FEATURES},
)


observe = received


def finish(observed: Float[Tensor, "example head group key"], batch: Batch) -> Values:
    """The maximum over each feature's tokens; examples without the feature are not valid."""
    return maximum_by_feature(observed[:, :, 0] / batch.lengths[:, None, None], batch)
