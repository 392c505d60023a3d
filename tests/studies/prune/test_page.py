"""The page of `prune` says what was planted: a promise that is kept or broken, the cost, and the order of removal."""

import json

import numpy as np
import pytest
import xarray as xr

from headscope.report.cards import numbers
from headscope.report.cards.head_numbers import rows, where
from headscope.report.study_page import study_page
from headscope.studies.size.prune import card as head_part
from support.made_result import made_result
from support.snapshot import assert_page

SHARES = {"share_removed": [0.0, 0.25, 0.5]}
HEADS = {"layer": [1, 2], "head": [1, 2, 3, 4]}
PRUNING = {"by": "importance", "estimator": "expected", "again": False, "keep": 1, "finetune_epochs": 0}


def result_of(
    loss: float = 0.0, *, tolerance: float | None = 0.02, half: float = 0.005, n: int = 800, chosen_on: str = "train"
) -> xr.Dataset:
    """A model of 2 layers with 4 heads that loses heads 1-1 to 1-3 and 2-1, and `loss` of its accuracy of 0.9."""
    removed = xr.DataArray([[1.0, 2.0, 3.0, np.nan], [4.0, np.nan, np.nan, np.nan]], HEADS)
    change = xr.DataArray([0.0, 0.0, -loss], SHARES).expand_dims(metric=["accuracy"], axis=1)
    measured = {"pruned_score": change + 0.9, "score_change": change}
    if tolerance is not None:
        measured |= {"tested_gain": change.isel(metric=0, drop=True), "choosing_gain": change.isel(metric=0, drop=True)}
    beside = {
        "removed_at": removed,
        "heads_left": xr.DataArray([[4, 4], [2, 4], [1, 3]], SHARES | {"layer": [1, 2]}),
        "parameters": xr.DataArray([4_000_000, 3_500_000, 3_000_000], SHARES),
        "megabytes": xr.DataArray([16.0, 14.0, 12.0], SHARES),
        "multiplications": xr.DataArray([8e6, 7e6, 6e6], SHARES),
        "reloaded_score": xr.DataArray([0.9 - loss], {"metric": ["accuracy"]}),
        "chance": xr.DataArray([0.5], {"metric": ["accuracy"]}),
    }
    pruning = PRUNING | {"tolerance": tolerance, "held_out": True, "in_order": False, "share": 0.5}
    return made_result(
        "prune", measured, beside, half=half, n=n, pruning=json.dumps(pruning), spared=1, chosen_on=chosen_on,
        corpus="dev", forward_s=json.dumps({"before": 1.0, "after": 0.75, "inputs": 8, "tokens": 128}),
    )  # fmt: skip


def test_the_pages_say_the_planted_numbers() -> None:
    """A promise that is kept, broken or not sure, or none; what was lost, the size and the time."""
    unlearned = result_of()
    unlearned["chance"] = unlearned["chance"] + 0.4
    pages = {"kept": result_of(), "broken": result_of(0.1), "no tolerance": result_of(0.01, tolerance=None)}
    claims = {"not sure": result_of(0.02), "may be chance": result_of(0.002), "not learned": unlearned}
    assert_page(__file__, pages, claims | {"chosen on dev": result_of(chosen_on="dev")})


def test_the_order_of_removal_is_drawn_where_a_head_was_removed() -> None:
    result = result_of()
    names = ["pruned_score", "score_change", "parameters", "removed_at"]
    figures = {figure.name: figure.chart.to_dict() for figure in study_page(result).figures()}
    assert list(figures) == names
    (order,) = figures["removed_at"]["datasets"].values()
    assert {row["name"]: row["value"] for row in order} == {"1-1": 1.0, "1-2": 2.0, "1-3": 3.0, "2-1": 4.0}
    none = result.assign(removed_at=result["removed_at"] * np.nan)
    assert [figure.name for figure in study_page(none).figures()] == names[:3]


@pytest.mark.parametrize(
    ("head", "text"),
    [(2, "Removed as the 2nd of 8 heads, the least important first"), (4, "Kept: 4 of 8 heads were removed before it")],
)
def test_the_card_of_a_head_says_when_it_went(head: int, text: str) -> None:
    result = result_of()
    all_numbers = numbers(result)
    (finding,) = head_part.sentences(
        result, rows(where(all_numbers, (all_numbers["layer"] == 1) & (all_numbers["head"] == head)))
    )
    assert finding.text.startswith(text)
