"""A head as a part of what was disabled together: pairs with it, and a layer that it is left alone in."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.report.parts import Finding
from headscope.report.wording import estimate, measured, rate, several
from headscope.statistics.significance import RATE


def together(result: xr.Dataset, layer: int, head: int) -> Iterator[Finding]:
    """The pair with the head that loses most beyond the sum, and whether halves of the examples choose it alone."""
    metric = str(result["metric"].values[0])
    yield from _pairs(result, metric, layer, head)
    yield from _alone(result, metric, layer, head)


def _pairs(result: xr.Dataset, metric: str, layer: int, head: int) -> Iterator[Finding]:
    excess = measured(result, "pair_excess", metric=metric)
    named = [] if excess is None else excess["head_pair"].values.tolist()
    mine = [pair for pair in named if {head_name(layer, head), f"{layer}-*"} & set(pair.split(","))]
    if excess is None or not mine:
        return
    own, q = excess.sel(head_pair=mine), result["pair_q_value"].sel(metric=metric, head_pair=mine)
    sure = int(((q < RATE) & (own["lower"] > 0)).sum())
    most = mine[int(own.fillna(float("-inf")).argmax("head_pair"))]
    beyond = estimate(result, "pair_excess", head_pair=most, metric=metric)
    yield Finding(
        "Replaced by another head",
        f"{sure} of {several(len(mine), 'pair')} with it surely lose more {label('metric', metric)} together than each "
        f"head alone (q < {RATE}, corrected over {several(len(named), 'pair')}). Most beyond the sum: heads "
        f"{most.replace(',', ' and ')}, {beyond.signed} (q {rate(float(q.sel(head_pair=most)))}).",
    )


def _alone(result: xr.Dataset, metric: str, layer: int, head: int) -> Iterator[Finding]:
    if "one_head" not in result:
        return
    chosen = result["one_head"].sel(layer=layer, metric=metric).values.tolist()
    if times := chosen.count(head):
        gain = estimate(result, "one_head_gain", layer=layer, metric=metric)
        halves = "both halves" if times == len(chosen) else "one half"
        yield Finding(
            "As the only head of its layer",
            f"It is the best one by {halves} of the examples. With the head that each half chose, "
            f"{label('metric', metric)} of the other half changes by {gain.signed}.",
        )
