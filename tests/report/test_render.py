"""Charts as JSON of a page."""

import json

import altair as alt

from headscope.report.render import charts_json, embedded, script_json


def test_numbers_that_json_does_not_have_are_missing() -> None:
    rows = [{"value": value} for value in (0.5, float("nan"), float("inf"))]
    made = json.loads(script_json(embedded({"chart": {"datasets": {"rows": rows}}})))
    assert made["data"]["rows"] == {"value": [0.5, None, None]}


def test_charts_have_no_characters_that_cannot_be_drawn() -> None:
    chart = alt.Chart(alt.Data(values=[{"label": "a\x1bb"}])).mark_bar()
    assert "a\\ufffdb" in charts_json({"name": chart.to_dict()})
