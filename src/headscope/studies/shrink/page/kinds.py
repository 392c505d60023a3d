"""Kinds of the heads that stay, on the page: beside as many random heads of the same layers."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.claims import Claim
from headscope.report.parts import Finding
from headscope.report.tables import Table, titled
from headscope.report.wording import estimate, measured, number, rate, several

ADJECTIVES = {
    "rare words": "for rare words",
    "positional, syntactic or rare words": "positional, syntactic or for rare words",
}


def kept_kinds(result: xr.Dataset) -> Iterator[Finding]:
    """For each kind whether more heads of it stay than of random ones; nothing without other results."""
    if "head_kind" not in result.dims or measured(result, "kept_kind_excess") is None:
        return
    for kind in result["head_kind"].values.tolist():
        stay, random, excess = (
            estimate(result, name, head_kind=kind)
            for name in ("kept_kind_share", "random_kind_share", "kept_kind_excess")
        )
        q, of_model = (float(result[name].sel(head_kind=kind)) for name in ("kept_kind_q_value", "kind_heads"))
        n = int(result["kept_kind_excess_n_examples"])
        claim, words = Claim(stay.value, random.value, excess, n, q), ADJECTIVES.get(kind, kind)
        text = (
            f"Of the heads that stay {stay.value:.0%} are {words}, of as many random heads of the same layers "
            f"{random.value:.0%} on average (exact test, false discovery rate {rate(q)} over "
            f"{several(result.sizes['head_kind'], 'kind')}). {of_model:.0f} of all {n} heads are, by the results given."
        )
        yield Finding.judged(
            claim,
            text,
            holds=f"More heads that stay are {words} than of random ones",
            fails=f"Fewer heads that stay are {words} than of random ones",
            undecided=f"Heads that stay are not surely more often {words} than random ones",
            unit="",
        )


def kinds_table(result: xr.Dataset) -> Iterator[Table]:
    """A row for each kind; none without other results."""
    if "head_kind" not in result.dims:
        return
    caption = (
        "Kinds of the heads that stay, by other results, beside as many random heads of the same layers (exact test). "
        "The bounds are what the share is beyond 97.5% and 2.5% of random choices."
    )
    titles = ["Heads of the model", "Share of those that stay", "Share of random ones", "Bounds of the excess", "q"]
    rows = []
    for kind in result["head_kind"].values.tolist():
        excess = estimate(result, "kept_kind_excess", head_kind=kind)
        cells = [(f"{float(result['kind_heads'].sel(head_kind=kind)):.0f}", "")]
        cells += [
            (number(float(result[name].sel(head_kind=kind)), ".2f"), "")
            for name in ("kept_kind_share", "random_kind_share")
        ]
        q = float(result["kept_kind_q_value"].sel(head_kind=kind))
        rows.append((kind, [*cells, (excess.cell("+.2f")[1], ""), (rate(q), "")]))
    yield titled("kept_kinds", caption, "Kind", titles, rows)
