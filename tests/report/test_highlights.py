"""The few findings that stand first: plain words, at most two numbers each."""

import re

import pytest
import xarray as xr

from headscope.figures import with_interval
from headscope.report.numbers import leaving_out
from headscope.report.study_page import study_page
from headscope.report.wording import estimate, of_array
from support.compare_result import compare_result
from support.patterns_result import patterns_result
from support.profile_result import profile_result

RESULTS = {"profile": profile_result(6, 12), "patterns": patterns_result(), "compare": compare_result()}
NAME = re.compile(r"\b\d+-\d+\b|\blayers? \d+|\d+% to \d+%")


@pytest.mark.parametrize("study", RESULTS)
def test_highlights_are_few_and_short(study: str) -> None:
    highlights = study_page(RESULTS[study]).highlights()
    assert 1 <= len(highlights) <= 5
    for finding in highlights:
        numbers = re.findall(r"\d+(?:\.\d+)?", NAME.sub("", finding.text))
        assert len(numbers) <= 2 and "nan" not in finding.text and len(finding.text) < 200, finding


def test_profile_highlights_name_what_was_planted() -> None:
    texts = {finding.topic: finding.text for finding in study_page(profile_result()).highlights()}
    assert texts["1 head mostly attends to a neighbour"] == "Previous token: 2-3."


def test_a_signed_change_and_the_head_without_one_are_in_words() -> None:
    topics = [finding.topic for finding in study_page(compare_result().isel(model=[0])).highlights()]
    assert "Layer 4 changed most" in topics


def test_study_without_highlights_shows_its_first_findings() -> None:
    result: xr.Dataset = profile_result().assign_attrs(study="unheard")
    page = study_page(result)
    assert page.highlights() == page.findings()[:4]


def test_a_label_that_a_page_misses_leaves_its_part_out_though_a_variable_has_its_name():
    result = profile_result()
    with leaving_out(result):
        result["attention_to"].sel(token_class="entropy")
    with leaving_out(result):
        estimate(result, "attention_to", layer=1, head=1, token_class="entropy")
    with pytest.raises(KeyError), leaving_out(result):
        raise KeyError("entropy")  # of a variable that is there: the code is wrong


def test_an_estimate_is_the_number_of_its_labels_in_any_order_of_bounds():
    result = profile_result()
    labels = {"head": 2, "token_class": "sep", "layer": 2}
    expected = of_array(with_interval(result, "attention_to").sel(labels))
    turned = result.isel(bound=[1, 0]).transpose("bound", "head", ...)
    assert estimate(result, "attention_to", **labels) == estimate(turned, "attention_to", **labels) == expected
    assert expected.lower < expected.value < expected.upper
