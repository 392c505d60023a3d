"""Charts as JSON of a page."""

import json

from headscope.report.render import embedded, script_json


def test_numbers_that_json_does_not_have_are_missing() -> None:
    rows = [{"value": value} for value in (0.5, float("nan"), float("inf"))]
    made = json.loads(script_json(embedded({"chart": {"datasets": {"rows": rows}}})))
    assert made["data"]["rows"] == {"value": [0.5, None, None]}
