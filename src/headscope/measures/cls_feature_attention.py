"""Attention of [CLS] to a linguistic feature, as a share of its attention.

Kovaleva et al. 2019, section 4.5 (Figure 7, where the last layer is read). For an example, the maximum
over its tokens j of the feature of A[CLS, j].
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._shared import maximum_by_feature, received
from headscope.results.variables import Variable
from headscope.results.vocabulary import FEATURES

VARIABLE = Variable(
    name="cls_feature_attention",
    long_name="attention from [CLS] to the most attended token of each feature",
    units="share of attention",
    source="Kovaleva et al. 2019, section 4.5",
    coords={"feature": FEATURES},
)


observe = received


def finish(observed: Float[Tensor, "example head group key"], batch: Batch) -> Values:
    """The maximum over each feature's tokens; examples without the feature or [CLS] are not valid."""
    maximum = maximum_by_feature(observed[:, :, 2], batch)
    return Values(maximum.values, maximum.valid & (batch.query_groups[:, 2].sum(-1) == 1)[:, None])
