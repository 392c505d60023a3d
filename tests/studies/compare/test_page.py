"""Findings and figures of a comparison say the numbers that were planted."""

import numpy as np
import pytest
import xarray as xr

from headscope.report.study_page import study_page
from headscope.report.tables import top_heads
from support.compare_result import CHANGE, compare_result
from support.findings import texts_of
from support.snapshot import assert_page


def test_the_pages_say_the_planted_numbers() -> None:
    unsure = compare_result(restored=True, spread=0.2)
    cases = {"all": compare_result(), "restored": compare_result(restored=True), "restored, unsure": unsure}
    assert_page(__file__, cases | {"two models": compare_result("epoch 1", "epoch 2")}, claims())


def claims() -> dict[str, xr.Dataset]:
    """Layers and heads that changed more than others, or not for sure."""
    alike, still, few = np.full((4, 3), 0.08), np.full((4, 3), 0.004), compare_result()
    alike[0], still[:2] = 0.02, 0.0
    unsure = CHANGE.copy()
    unsure[1] = unsure[2] - 0.005
    # Logarithms of what did not change at all spread so far that twelve times as much would be within them.
    one = 10.0 ** np.random.default_rng(0).uniform(-12, -7, (4, 3))
    one[2, 1], one[3, 0] = 0.6, 0.05
    two = one.copy()
    two[3, 0] = 0.595
    for name in few.data_vars:
        if str(name).endswith("n_examples"):
            few[name] = few[name] * 0 + 1
    without = compare_result()
    without["layer_similarity"][{"layer": -1}] = np.nan
    changes = {"others": CHANGE[[0, 3, 1, 2]], "unsure": unsure, "one head": one, "two heads": two, "none": one * 0}
    return {f"changed: {name}": compare_result(change=change) for name, change in changes.items()} | {
        "all alike": compare_result(change=np.full((4, 3), 0.08), spread=0.05),
        "all but one alike": compare_result(change=alike, spread=0.001),
        "two did not change": compare_result(change=still, spread=0.001),
        "one example": few,
        "a layer without a value": without,
    }


def test_one_number_of_changed_heads_is_said_by_the_finding_and_the_atlas() -> None:
    result = compare_result("epoch 1")
    (topic,) = [finding.topic for finding in study_page(result).highlights() if "changed clearly" in finding.topic]
    assert topic == f"{len(study_page(result).kinds())} heads of 12 changed clearly" == "4 heads of 12 changed clearly"


def test_rises_and_falls_are_counted_by_their_intervals() -> None:
    result = compare_result()
    array = result["difference_attention_to"].sel(model="after", token_class="sep")
    text = texts_of(result)["Attention to separators"]
    up, down = int((array > 0.01).sum()), int((array < -0.01).sum())
    assert f"The interval lies above 0 in {up} and below 0 in {down} of 12 heads" in text
    assert f"Changes of heads: {float(array.min()):.2f} to {float(array.max()):.2f}, median " in text
    assert texts_of(result)["Breadth"].startswith("On average over heads")


def test_figures_draw_the_change_and_not_the_similarity() -> None:
    figures = {figure.name: figure for figure in study_page(compare_result()).figures()}
    rows = figures["similarity"].chart.to_dict(validate=False)["datasets"]
    values = [row for data in rows.values() for row in data if row.get("name") == "4-2"]
    assert values[0]["value"] == pytest.approx(0.4)
    assert (values[0]["lower"], values[0]["upper"]) == pytest.approx((0.39, 0.41))


def test_top_heads_are_those_that_changed_most() -> None:
    result = compare_result()
    table = top_heads(result, "similarity")
    assert table is not None and table.keys == ("Model",)
    assert table.rows[0][0] == ("after",) and str(table.rows[0][1][0]).startswith("('4-2 (0.60")
    result["difference_attention_to"].loc[{"layer": 2, "head": 1, "token_class": "cls"}] = -0.75
    table = top_heads(result, "difference_attention_to")
    assert table is not None and table.keys == ("Model", "Token class")
    assert table.rows[0][0] == ("after", "[CLS]") and str(table.rows[0][1][0]).startswith("('2-1 (-0.75")
