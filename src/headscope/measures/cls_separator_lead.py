"""Attention of [CLS] to a separator beyond that to a linguistic feature, as a share of its attention.

Kovaleva et al. 2019, section 4.5. For an example that has both, the maximum over its separators j of A[CLS, j]
minus that over its tokens of the feature.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures import cls_feature_attention
from headscope.measures._shared import received
from headscope.results.variables import Variable
from headscope.results.vocabulary import FEATURES

VARIABLE = Variable(
    name="cls_separator_lead",
    long_name="attention from [CLS] to the most attended separator minus that to each feature in the same examples",
    units="difference of shares",
    source="Kovaleva et al. 2019, section 4.5",
    coords={"feature": FEATURES},
)
SEPARATOR = FEATURES.index("sep")

observe = received


def finish(observed: Float[Tensor, "example head group key"], batch: Batch) -> Values:
    """The difference of both maxima; examples without one of them are not valid."""
    largest = cls_feature_attention.finish(observed, batch)
    separator, there = largest.values[..., SEPARATOR, None], largest.valid[:, SEPARATOR, None]
    return Values(separator - largest.values, largest.valid & there)
