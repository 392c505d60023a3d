"""Findings say the numbers that were planted, and only what the model has."""

import numpy as np
import pytest
import xarray as xr

from support.findings import texts_of
from support.profile_result import profile_result
from support.snapshot import assert_page


def test_the_pages_say_the_planted_numbers() -> None:
    """The planted heads, one whose interval reaches below a half, one of a feature, one of a link."""
    result, even, few = profile_result(), profile_result(), profile_result()
    result["attention_offset"].loc[{"layer": 1, "head": 1, "offset": -1}] = 0.505
    result["attention_offset_ci"].loc[{"layer": 1, "head": 1, "offset": -1, "bound": "lower"}] = 0.495
    result["feature_attention"].loc[{"layer": 4, "head": 2, "feature": "neg"}] = 0.75
    result["token_attention"].loc[{"layer": 2, "head": 3, "relation": "verb_to_subject"}] = 0.75
    even["attention_to"][:], even["attention_to_ci"][:] = 0.06, 0.06
    even["attention_to_ci"].loc[{"bound": "upper"}] = 0.07
    unsure = even.copy(deep=True)
    unsure["attention_to_ci"].loc[{"token_class": "cls"}] = [0.0, 0.4]
    for name in few.data_vars:
        if str(name).endswith("n_examples"):
            few[name] = few[name] * 0 + 3
    pages = {"all": profile_result(), "more heads": result, "no special tokens": profile_result(special=False)}
    assert_page(__file__, pages, {"no token gets more": even, "[CLS] is unsure": unsure, "three examples": few})


def test_a_study_without_findings_gets_the_range_of_each_variable() -> None:
    axes = {"layer": [1, 2], "head": [1, 2], "metric": ["f1"]}
    score = xr.DataArray(
        np.array([[0.5, 0.25], [0.75, 0.125]])[..., None], axes, list(axes), attrs={"long_name": "score"}
    )
    result = xr.Dataset({"head_score": score, "share": ("metric", [0.5])}, attrs={"study": "a study to come"})
    texts = texts_of(result)
    assert texts["Score: F1"] == "0.12 to 0.75, median 0.38."
    assert texts["Share"] == "0.50 to 0.50, median 0.50."


@pytest.mark.parametrize("study", ["../profile", "_words", "os", ""])
def test_a_study_is_never_a_path_or_another_module(study: str) -> None:
    result = profile_result(study=study)
    assert "Previous token" not in texts_of(result)
