"""What each study's numbers come to for one head: sentences with the values that were planted."""

from typing import Any

import numpy as np
import pytest
import xarray as xr

from headscope.report.cards import Card, index
from headscope.report.study_page import HOOKS, study_page
from studies.ablate.test_page import result as ablate_result
from studies.clusters.test_page import result_of as clusters_result
from studies.gradients.test_page import result_of as gradients_result
from studies.probe.test_page import result_of as probe_result
from studies.syntax.test_page import result_of as syntax_result
from support.compare_result import compare_result
from support.made_heads import model_of


def texts_of_card(result: xr.Dataset, layer: int, head: int) -> dict[str, str]:
    (part,) = Card(model_of(result), layer, head).parts
    return {finding.topic: finding.text for finding in part.findings}


def noted(result: xr.Dataset, title: str) -> dict[str, str]:
    table = index(model_of(result))
    at = [column.words for column in table.columns].index(title)
    return {labels[0]: cells[at][0] for labels, cells in table.rows if cells[at]}  # type: ignore[index]


def complete(result: xr.Dataset, study: str) -> xr.Dataset:
    beside = {"model": "tiny", "model_sha256": "ab", "corpus": "made", "n_examples": 408, "n_tokens": 9000}
    return result.assign_attrs(beside | {"study": study})


def test_syntax_tells_what_a_head_is_special_for_with_baseline_q_and_words() -> None:
    texts = texts_of_card(syntax_result(), 2, 3)
    (first, *_) = texts["Special for"].split("; ")
    assert first.startswith("obj, dependent → head 0.88 [0.81, 0.94]") and "0.25 (1st of 6, " in first
    assert "n = 100 " in first and ", q 0.001" in first
    assert "corrected for 72 heads, relations and directions" in texts["Special for"]
    assert "cop" not in texts["Special for"] and "expl" not in texts["Special for"]
    assert "fixed word (-2) has 0.25, n = 50" in texts["Chosen head of"]
    assert noted(syntax_result(), "What it does") == {"2-3": "obj"}


def test_syntax_tells_what_is_nearest_where_nothing_is_special() -> None:
    texts = texts_of_card(syntax_result(), 1, 1)
    assert texts["Special for"].startswith("No relation (at least 10 points over the best fixed word")
    assert "Nearest: " in texts["Special for"] and "Chosen head of" not in texts


def test_ablate_tells_gains_and_whether_they_are_more_than_noise() -> None:
    texts = texts_of_card(complete(ablate_result(), "ablate"), 2, 2)
    assert "Gain of accuracy -0.30 [-0.35, -0.25] (4th of 4, " in texts["Without it"]
    assert "Accuracy changes beyond chance (McNemar" in texts["Without it"]
    assert "corrected for 4 heads: q 0.001)" in texts["Without it"]
    assert texts["Importance by gradient"] == "Michel et al. 0.90 (1st of 4, the median head has 0.25)."
    assert "does not change beyond chance" in texts_of_card(complete(ablate_result(), "ablate"), 1, 1)["Without it"]


def test_ablate_without_tests_says_whether_intervals_include_no_change() -> None:
    result = complete(ablate_result(), "ablate").drop_vars("head_q_value")
    assert "All intervals include 0." in texts_of_card(result, 1, 1)["Without it"]
    assert "No test corrects for all heads." in texts_of_card(result, 2, 2)["Without it"]


def test_prune_tells_when_a_head_went() -> None:
    axes = {"layer": [1, 2], "head": [1, 2]}
    removed = xr.DataArray([[1.0, np.nan], [np.nan, 2.0]], axes, ("layer", "head"))
    left = xr.DataArray([[2, 2], [1, 1]], {"share_removed": [0.0, 0.5], "layer": [1, 2]}, ("share_removed", "layer"))
    attrs = {"long_name": "place", "units": "place", "source": "made"}
    result = xr.Dataset({"removed_at": removed.assign_attrs(attrs), "heads_left": left.assign_attrs(attrs)})
    result = complete(result.assign_attrs(pruning='{"by": "importance"}'), "prune")
    assert "Removed as the 2nd of 4 heads" in texts_of_card(result, 2, 2)["Pruning"]
    assert "is no test" in texts_of_card(result, 2, 2)["Pruning"]


def test_compare_tells_how_much_a_head_changed() -> None:
    texts = texts_of_card(compare_result(), 4, 2)
    assert "0.60 [0.59, 0.61]" in texts["Change in after"] and "1st most changed of 12" in texts["Change in after"]
    assert "by chance: about 1)" in texts["Changes in after"]
    two = texts_of_card(compare_result("one", "two"), 1, 1)
    assert {"Change in one", "Change in two"} <= set(two) and "12th most changed" in two["Change in two"]


def test_clusters_tells_the_nearest_heads() -> None:
    texts = texts_of_card(clusters_result(), 1, 1)
    assert texts["Nearest heads"].startswith("1-2 0.062; 2-1 0.25; 2-2 0.31; 1-3 0.62 nats")
    assert texts["Nearest heads"].endswith("of 4 heads.")
    assert "0.31 nats (2nd of 5, the median head has 0.27)" in texts["From all heads"]
    assert texts["Cluster"].startswith("Cluster 1: with 1-2 (")
    assert texts_of_card(clusters_result(), 1, 3)["Cluster"].startswith("Cluster 2: alone")
    assert noted(clusters_result(), "Cluster") == {"1-1": "1", "1-2": "1", "1-3": "2", "2-1": "3", "2-2": "3"}


def test_gradients_tells_the_worth_beside_how_much_there_is() -> None:
    text = texts_of_card(gradients_result(), 1, 3)["Gradient by attention"]
    assert "Gradient of masked words: in nats, by attention to" in text
    assert "[SEP] 0.38 [0.31, 0.44] (1st of 6" in text and "attention 0.50 [0.44, 0.56])" in text
    assert "[SEP]" not in texts_of_card(gradients_result(sep=False), 1, 3)["Gradient by attention"]


def test_probe_tells_what_a_head_gives_to_a_parser() -> None:
    text = texts_of_card(probe_result(), 2, 3)["In a parser, dependent → head"]
    assert "by 0.75 [0.73, 0.77]" in text
    assert "median head has 0.062" in text and "weight of 6.00 (1st" in text


@pytest.mark.parametrize("name", ["../profile", "_card", "nothing"])
def test_a_study_is_never_a_path_or_another_module(name: str) -> None:
    made: Any = xr.Dataset(attrs={"study": name})
    assert study_page(made).card().sentences(made, []) == () and set(HOOKS) <= set(
        type(study_page(made).card()).__slots__
    )  # type: ignore[arg-type]
