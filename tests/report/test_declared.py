"""Parts of a page that ask for what a result does not have are left out; charts and tables are made of data."""

import pytest
import xarray as xr

from headscope.report.declared import Chart, NumberTable, parts_of
from headscope.report.numbers import MissingNumber, Numbers
from headscope.report.parts import Finding


def result() -> xr.Dataset:
    """Two layers, one of which has a value, with an interval; a number without a value."""
    arrays = {
        "score": ("layer", [0.5, float("nan")], {"long_name": "score", "units": "share"}),
        "score_ci": (("layer", "bound"), [[0.25, 0.75], [float("nan")] * 2]),
        "empty": ("layer", [float("nan")] * 2, {"long_name": "nothing", "units": "share"}),
    }
    coords = {"layer": [1, 2], "bound": ["lower", "upper"]}
    return xr.Dataset(arrays, coords, {"study": "made", "suite": "blimp: verbs", "notes": "[1]"})


@pytest.mark.parametrize(
    "ask",
    [
        lambda numbers: numbers("absent"),
        lambda numbers: numbers("empty", layer=1),
        lambda numbers: numbers("score", layer=2),
        lambda numbers: numbers.array("absent"),
        lambda numbers: numbers.array("empty"),
        lambda numbers: numbers.attribute("absent"),
        lambda numbers: numbers.result["absent"],
        lambda numbers: numbers.result.attrs["absent"],
        lambda numbers: numbers("score", layer=7),
    ],
)
def test_a_part_that_asks_for_what_is_not_there_is_left_out(ask) -> None:
    assert parts_of(
        [lambda numbers: Finding("topic", str(ask(numbers))), lambda numbers: Finding("other", "")], result()
    ) == [Finding("other", "")]


def test_an_error_of_the_code_is_no_missing_number() -> None:
    with pytest.raises(KeyError, match="score"):
        parts_of([lambda numbers: {}["score"]], result())


def test_numbers_have_intervals_and_labels() -> None:
    numbers = Numbers(result())
    assert f"{numbers('score', layer=1):%}" == "50.0% [25.0, 75.0]" and numbers.labels("score", "layer") == [1]
    assert numbers.attribute("notes") == [1] and numbers.words["suite_name"] == "blimp"
    with pytest.raises(MissingNumber):
        numbers.labels("empty", "layer")


def test_a_grid_has_a_row_for_each_label_with_a_value_and_no_column_of_a_missing_number() -> None:
    columns = {"score": ("Score", "%"), "absent": ("Absent", "")}
    (table,) = parts_of(
        [NumberTable("scores", "Of {suite_name}.", {"layer": "Layer"}, columns, {"layer": {1: "first"}})], result()
    )
    assert table.caption == "Of blimp." and [column.words for column in table.columns] == ["Score"]
    assert table.rows == [(("first",), [("50.0", "25.0, 75.0")])]


def test_a_chart_is_drawn_of_the_labels_with_a_value() -> None:
    chart = Chart("score", "curve", "Section", "Of {suite}.", dims=("layer",), style={"dim": "layer"})
    (figure,) = parts_of([chart], result())
    assert figure.caption == "Of blimp: verbs." and len(figure.chart.layer) >= 2
    (data,) = figure.chart.to_dict()["datasets"].values()
    assert [row["layer"] for row in data] == [1]
