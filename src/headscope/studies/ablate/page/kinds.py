"""Heads that the score of the task, or one of its phenomena, needs."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.kinds import by_name, where_true
from headscope.report.parts import HeadKind
from headscope.report.wording import measured
from headscope.statistics.thresholds import RATE
from headscope.studies.ablate.page.rates import rates


def kinds(result: xr.Dataset) -> Iterator[HeadKind]:
    """A lower score by the first metric without the head, or a lower accuracy of a phenomenon, q < 0.05."""
    metric = str(result["metric"].values[0])
    gains = measured(result, "head_gain", metric=metric)
    q = None if gains is None else rates(result, metric, gains)
    if gains is not None and q is not None:
        yield from where_true((gains < 0) & (q < RATE), "needed", "needed")
    if "phenomenon_q_value" in result:
        loss = -result["phenomenon_gain"]
        yield from by_name(loss.where((loss > 0) & (result["phenomenon_q_value"] < RATE)), "phenomenon", "needed")
