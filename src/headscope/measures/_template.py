"""Attention that a token gives to itself, as a share of its attention.

Copy this file to a name of your own; the first line of this docstring is what `headscope list` shows,
so it says what is measured and in which unit. Name the paper and section here, and where you differ
from them. The measure is then there: tests run over it, and a study names it among its measures.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="template",
    long_name="attention of a token to itself",
    units="share of attention",
    source="Clark et al. 2019, section 3.1",
)


def observe(rows: Rows) -> Float[Tensor, "example head"]:
    """Sums over a block of rows; those of later queries of the same examples are added to them.

    The first dimension is that of the block's examples (or rows of theirs, as links are), the second that of heads.
    """
    positions = torch.arange(rows.queries.start, rows.queries.stop, device=rows.attention.device)[:, None]
    return rows.sum_of_real(rows.gather(positions)[..., 0])  # [example, head, query]


def finish(observed: Float[Tensor, "example head"], batch: Batch) -> Values:
    """The value of each example, and a mask of the examples that have one; heads of all layers stand in a row."""
    return Values(observed / batch.lengths[:, None], batch.lengths > 0)
