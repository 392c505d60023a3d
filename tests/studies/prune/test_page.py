"""The page of `prune` says what was planted: a promise that is kept or broken, the cost, and the order of removal."""

import json
import re

import numpy as np
import pytest
import xarray as xr

from headscope.report.cards import numbers
from headscope.report.cards.head_numbers import rows, where
from headscope.report.study_page import study_page
from headscope.studies.size.prune import page as head_part
from support.findings import all_texts_of
from support.made_result import made_result

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


def judged(result: xr.Dataset) -> dict[str, str | None]:
    """The verdict of each finding that is a claim."""
    page = study_page(result)
    findings = [*page.highlights(), *page.findings()]
    return {finding.topic: finding.verdict for finding in findings if finding.claim}


def test_the_promise_is_kept_broken_or_not_sure() -> None:
    assert judged(result_of())["Safe to remove: 4 heads for less than 0.020 of accuracy"] == "holds"
    assert judged(result_of(0.1))["The promise is broken: more than 0.020 of accuracy is lost"] == "fails"
    assert judged(result_of(0.02))["It is not sure that 4 heads can go"] == "undecided"


def test_a_promise_that_is_not_kept_says_up_to_which_share_it_holds() -> None:
    (text,) = (finding.text for finding in study_page(result_of(0.1)).findings() if finding.claim)
    assert "With up to 25% of the heads removed it holds." in text


def test_without_a_tolerance_nothing_is_promised_and_the_interval_says_what_is_open() -> None:
    text = all_texts_of(result_of(0.01, tolerance=None))["No promise"]
    assert "No tolerance is given" in text and "accuracy may be worse by up to 0.015" in text


def test_a_task_that_is_not_learned_promises_nothing() -> None:
    result = result_of()
    result["chance"] += 0.4
    assert "Safe to remove: 4 heads for less than 0.020 of accuracy" not in judged(result)


@pytest.mark.parametrize(("loss", "sure"), [(0.1, "beyond chance"), (0.002, "which may be chance")])
def test_the_cost_says_whether_it_may_be_chance(loss: float, sure: str) -> None:
    texts = all_texts_of(result_of(loss))
    cost = texts[f"Accuracy was 0.90 and is {0.9 - loss:.2f}"]
    assert cost.startswith("A change of -0.") and sure in cost
    assert re.findall(r"\d+", texts["4 of 8 heads are removed"]) == ["1", "3", "1", "1"]
    assert texts["Removed first"].startswith("By importance, in the order of removal: 1-1, 1-2, 1-3, 2-1.")
    assert ".25 to .46 between two seeds" in texts["The importance of heads is that of one training"]
    assert texts["Size"].startswith("4,000,000 parameters became 3,000,000 (25% fewer).")


def test_examples_that_choose_and_score_are_said_to_be_the_same() -> None:
    assert "too good" in all_texts_of(result_of(chosen_on="dev"))["How heads were chosen"]
    assert "too good" not in all_texts_of(result_of())["How heads were chosen"]


def test_the_first_screen_has_size_and_time() -> None:
    texts = {finding.topic: finding.text for finding in study_page(result_of()).highlights()}
    assert texts["4 of 8 heads are removed"].startswith("Layers keep 1 to 3.")
    assert texts["The model is 25% smaller"] == "The saved model takes 12.0 MB in the place of 16.0 MB."
    assert texts["It takes 75% of the time"] == "Measured on a forward pass of 8 inputs of 128 tokens."


def test_the_table_has_a_row_for_each_share() -> None:
    table, *_ = study_page(result_of(0.1)).tables()
    cells = {key[0]: [cell and cell[0] for cell in row] for key, row in table.rows}
    assert cells["0%"][:2] == ["8", "0.900"] and cells["50%"][:3] == ["4", "0.800", "-0.100"]
    assert cells["50%"][-2:] == ["12.0", "6.0"] and {len(row) for row in cells.values()} == {len(table.columns)}


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
