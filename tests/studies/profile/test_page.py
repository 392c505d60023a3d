"""Findings say the numbers that were planted, and only what the model has."""

import re

import numpy as np
import pytest
import xarray as xr

from headscope.report.study_page import study_page
from support.findings import texts_of, verdicts_of
from support.profile_result import profile_result


def test_planted_heads_are_named_with_value_interval_and_examples() -> None:
    texts = texts_of(profile_result())
    assert "1 of 12, 2-3 (0.88 [0.86, 0.89])" in texts["Previous token"]
    assert "1 of 12, 3-1 (0.94 [0.93, 0.95])" in texts["Separators"]
    assert " to 3.19, median " in texts["Broad and focused"] and "1-1" not in texts["Broad and focused"]
    assert "Uniform attention has 3.25 nats" in texts["Broad and focused"]
    assert all("n = 50" in text for text in texts.values())


def test_without_such_a_head_it_is_said_how_far_heads_reach_and_none_is_named() -> None:
    result = profile_result()
    highest = float(result["attention_offset"].sel(offset=1).max())
    text = texts_of(result)["Next token"]
    assert "none of 12 (" in text and f"to {highest:.2f}, median " in text
    assert re.search(r"\b\d+-\d+\b", text) is None


def test_mean_and_uniform_share_are_compared() -> None:
    result = profile_result()
    attention = result["attention_to"].sel(token_class="sep")
    above = int((attention - 0.01 > 0.1).sum())
    text = texts_of(result)["Separators"]
    assert f"gives {float(attention.mean()):.2f} of its attention to [SEP]" in text
    assert f"{float(attention.mean()) / 0.1:.1f} times uniform attention (0.10)" in text
    assert f"{above} heads lie above it by the 95% interval" in text


def test_no_token_gets_more_only_if_none_surely_does() -> None:
    """Of separators it is surely no more; of [CLS] it cannot be told."""
    result = profile_result()
    fails = "Neither special tokens nor punctuation get much more attention than other tokens"
    result["attention_to"][:], result["attention_to_ci"][:] = 0.06, 0.06
    result["attention_to_ci"].loc[{"bound": "upper"}] = 0.07
    assert verdicts_of(result)[fails] == "fails"
    result["attention_to_ci"].loc[{"token_class": "cls", "bound": "lower"}] = 0.0
    result["attention_to_ci"].loc[{"token_class": "cls", "bound": "upper"}] = 0.4
    (verdict,) = (verdict for topic, verdict in verdicts_of(result).items() if topic.startswith("[CLS] gets 6%"))
    assert verdict == "undecided"


def test_what_few_examples_do_not_show_is_not_denied() -> None:
    few = profile_result()
    for name in few.data_vars:
        if str(name).endswith("n_examples"):
            few[name] = few[name] * 0 + 3
    first, *others = study_page(few).highlights()
    assert first.topic == "No head surely stands out" and first.text.endswith("is not shown.")
    neighbour = next(one for one in others if "neighbour" in one.topic)
    assert neighbour.verdict == "undecided" and neighbour.text.endswith("10 examples are the least.")


def test_heads_whose_interval_reaches_below_a_half_are_said() -> None:
    result = profile_result()
    result["attention_offset"].loc[{"layer": 1, "head": 1, "offset": -1}] = 0.505
    result["attention_offset_ci"].loc[{"layer": 1, "head": 1, "offset": -1, "bound": "lower"}] = 0.495
    assert "2 of 12" in texts_of(result)["Previous token"]
    assert "for 1 of these the interval includes 0.5" in texts_of(result)["Previous token"]


def test_a_feature_says_how_far_heads_reach_and_how_many_are_above_the_median_head() -> None:
    result = profile_result()
    result["feature_attention"].loc[{"layer": 4, "head": 2, "feature": "neg"}] = 0.75
    attention = result["feature_attention"].sel(feature="neg")
    above = int((attention - float(attention.median()) > 0.01).sum())
    reach = f"negation {float(attention.min()):.2f} to 0.75, median {float(attention.median()):.2f}"
    assert f"{reach}, {above} heads give clearly more" in texts_of(result)["Linguistic features"]


def test_a_link_that_may_be_a_position_says_so() -> None:
    result = profile_result()
    result["token_attention"].loc[{"layer": 2, "head": 3, "relation": "verb_to_subject"}] = 0.75
    texts = texts_of(result)
    assert "Head 2-3 mostly attends to the previous token" in texts["Verb → subject"]
    assert "whatever it is" not in texts["Subject → verb"]


def test_a_model_without_special_tokens_has_no_findings_about_them() -> None:
    texts = texts_of(profile_result(special=False))
    assert texts["Separators"] == "Not measured: the tokenizer has no [SEP]."
    assert texts["Start token"] == "Not measured: the tokenizer has no [CLS]."
    assert not {"Separator to separator", "Breadth of [CLS]", "[CLS] in the last layer"} & set(texts)
    assert "nan" not in " ".join(texts.values())
    assert "2-3 (0.88" in texts["Previous token"]


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
