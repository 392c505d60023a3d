"""Attention that [CLS] gets in the examples with a linguistic feature, as a share of a token's attention.

What `feature_attention` of each feature is compared with (Kovaleva et al. 2019, section 4.4), over the same examples.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures import feature_attention
from headscope.measures._shared import received
from headscope.results.variables import Variable
from headscope.results.vocabulary import FEATURES

VARIABLE = Variable(
    name="start_attention",
    long_name="attention to [CLS] in the examples with each feature",
    units="share of attention",
    source="Kovaleva et al. 2019, section 4.4",
    coords={"feature": FEATURES},
)
START = FEATURES.index("cls")

observe = received


def finish(observed: Float[Tensor, "example head group key"], batch: Batch) -> Values:
    """Attention to [CLS] for each feature; examples without [CLS] or the feature are not valid."""
    largest = feature_attention.finish(observed, batch)
    start = largest.values[..., START, None].expand_as(largest.values)
    return Values(start, largest.valid & largest.valid[:, START, None])
