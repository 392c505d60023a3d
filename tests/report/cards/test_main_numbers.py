"""The numbers by which the atlas orders the heads."""

import json

import numpy as np

from headscope.report.cards.main_numbers import head_values
from support.made_heads import model_of, with_maps
from support.profile_result import profile_result


def test_main_numbers_of_every_result_are_there_by_head() -> None:
    values = {
        value["title"]: value["values"] for value in head_values(model_of(profile_result(), with_maps()).main_numbers)
    }
    assert values["attention to previous token"]["2-3"] == 0.875
    assert len(values["entropy"]) == 12
    assert [title for title in values if title.startswith("share")]


def test_head_without_a_value_is_left_out() -> None:
    result = profile_result().copy(deep=True)
    result["entropy"].loc[{"layer": 2, "head": 3}] = np.nan
    values = {value["title"]: value["values"] for value in head_values(model_of(result).main_numbers)}
    assert "2-3" not in values["entropy"] and "2-2" in values["entropy"]
    json.dumps(values, allow_nan=False)
