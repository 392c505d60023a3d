"""Attention to each class of token, as a share of a token's attention.

Clark et al. 2019, section 3.2 (Figure 2). The mean over queries i of the sum of A[i, j] over the keys
j of a class: cls, sep, punct ("." and "," only) and other; the four sum to 1.
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import one_hot

from headscope.encoding.batch import Batch, Values
from headscope.measures._shared import received
from headscope.results.variables import Variable
from headscope.results.vocabulary import TOKEN_CLASSES

VARIABLE = Variable(
    name="attention_to",
    long_name="attention to each class of token",
    units="share of attention",
    source="Clark et al. 2019, section 3.2",
    coords={"token_class": TOKEN_CLASSES},
)


observe = received


def finish(observed: Float[Tensor, "example head group key"], batch: Batch) -> Values:
    """Each class's share; classes that the tokenizer does not have are not valid, absent ones are 0."""
    members = one_hot(batch.token_class + 1, len(TOKEN_CLASSES) + 1)[..., 1:].to(observed.dtype)
    shares = observed[:, :, 0] @ members / batch.lengths[:, None, None]
    return Values(shares, batch.class_exists.expand(len(batch.real), -1))
