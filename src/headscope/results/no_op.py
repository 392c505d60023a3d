"""Attention of chosen heads to special tokens, where their function applies and where it does not, as variables.

Clark et al. 2019, section 3.2; Rogers et al. 2020, section 5.1.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from headscope.common_numbers import SINK_SOURCE, sinks
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import benjamini_hochberg

NAMES = ("sink_applies", "sink_otherwise", "sink_gain")


def no_op_variables(dim: str, tallies: Mapping[str, Tally], labels: Sequence[str]) -> dict[str, xr.DataArray]:
    """The variables by label of a dimension, NaN for labels without a tally; see `statistics.paired_groups`.

    `sink_q_value` is the false discovery rate at which other words give special tokens no more (a t test over inputs or
    documents, corrected for all labels).
    """
    variables = Variables({dim: labels}, SINK_SOURCE, {number.name: number for number in sinks(dim)})
    measured = [tally if (tally := tallies.get(label)) is not None and int(tally.count) else None for label in labels]
    counts = Count(
        [int(tally.count) if tally else 0 for tally in measured], "inputs with words of both kinds", "inputs", (dim,)
    )
    for row, name in enumerate(NAMES):
        means = [tally.mean[row] if tally else np.nan for tally in measured]
        interval = [tally.interval[row] if tally else [np.nan, np.nan] for tally in measured]
        variables.add(name, means, interval=interval, count=counts)
    p = np.array([tally.p_above_zero[-1] if tally else np.nan for tally in measured])
    variables.add("sink_q_value", benjamini_hochberg(p))
    return variables.arrays
