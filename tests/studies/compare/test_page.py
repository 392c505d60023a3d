"""Findings and figures of a comparison say the numbers that were planted."""

from pathlib import Path

import numpy as np
import pytest

from headscope.report import write
from headscope.report.study_page import study_page
from headscope.report.tables import top_heads
from support.compare_result import CHANGE, compare_result
from support.findings import texts_of, verdicts_of
from support.snapshot import assert_page


def test_the_pages_say_the_planted_numbers() -> None:
    unsure = compare_result(restored=True, spread=0.2)
    cases = {"all": compare_result(), "restored": compare_result(restored=True), "restored, unsure": unsure}
    assert_page(__file__, cases | {"two models": compare_result("epoch 1", "epoch 2")})


def test_other_layers_that_changed_most_are_no_last_two() -> None:
    assert "The last two layers did not change most" in texts_of(compare_result(change=CHANGE[[0, 3, 1, 2]]))


def test_a_layer_without_a_value_has_no_rank() -> None:
    result = compare_result()
    result["layer_similarity"][{"layer": -1}] = np.nan
    assert "Layer 3 changed most" in verdicts_of(result)
    assert not any("last two" in topic for topic in texts_of(result))


def test_the_last_two_within_the_intervals_of_others_are_undecided() -> None:
    change = CHANGE.copy()
    change[1] = change[2] - 0.005
    assert "It cannot be told whether the last two layers changed most" in texts_of(compare_result(change=change))


def test_layers_and_heads_that_are_not_apart_are_not_said_to_have_changed_most() -> None:
    sure = {finding.topic: finding.verdict for finding in study_page(compare_result()).highlights()}
    assert sure["Layer 4 changed most"] == "holds" and sure["4 heads of 12 changed clearly"] == "holds"
    alike = study_page(compare_result(change=np.full((4, 3), 0.08), spread=0.05)).highlights()
    assert alike[0].topic == "Nothing stands out" and "holds" not in [finding.verdict for finding in alike]
    topics = {finding.topic for finding in alike}
    assert {"Layers 1 to 4 cannot be told apart", "No head surely changed far more than the others"} <= topics
    assert "No head surely changed clearly" in topics
    one = compare_result()
    for name in one.data_vars:
        if str(name).endswith("n_examples"):
            one[name] = one[name] * 0 + 1
    assert "holds" not in [finding.verdict for finding in study_page(one).highlights()]


def test_layers_changed_alike_that_surely_differ_by_less_than_a_point() -> None:
    change = np.full((4, 3), 0.08)
    change[0] = 0.02
    topics = [finding.topic for finding in study_page(compare_result(change=change, spread=0.001)).highlights()]
    assert "Layers 2 to 4 changed alike" in topics


def test_heads_that_did_not_change_do_not_hide_the_one_that_did() -> None:
    """Logarithms of what did not change at all spread so far that twelve times as much would be within them."""
    change = 10.0 ** np.random.default_rng(0).uniform(-12, -7, (4, 3))
    change[2, 1], change[3, 0] = 0.6, 0.05
    verdicts = {finding.topic: finding.verdict for finding in study_page(compare_result(change=change)).highlights()}
    assert verdicts["Head 3-2 changed most"] == "holds"
    change[3, 0] = 0.595
    verdicts = {finding.topic: finding.verdict for finding in study_page(compare_result(change=change)).highlights()}
    assert "holds" not in [verdict for topic, verdict in verdicts.items() if topic.endswith("changed most")]


def test_layers_that_did_not_change_did_not_change_alike() -> None:
    change = np.full((4, 3), 0.004)
    change[:2] = 0.0
    highlights = study_page(compare_result(change=change, spread=0.001)).highlights()
    texts = {finding.topic: finding.text for finding in highlights}
    assert "Layers 1 and 2 did not change." in texts["Layers 3 and 4 changed alike"]


def test_rises_and_falls_are_counted_by_their_intervals() -> None:
    result = compare_result()
    array = result["difference_attention_to"].sel(model="after", token_class="sep")
    text = texts_of(result)["Attention to separators"]
    up, down = int((array > 0.01).sum()), int((array < -0.01).sum())
    assert f"The interval lies above 0 in {up} and below 0 in {down} of 12 heads" in text
    assert f"Changes of heads: {float(array.min()):.2f} to {float(array.max()):.2f}, median " in text
    assert texts_of(result)["Breadth"].startswith("On average over heads")


def test_linguistic_features_are_told_together() -> None:
    result = compare_result()
    result["difference_feature_attention"].loc[{"layer": 2, "head": 1, "feature": "verb"}] = -0.75
    assert "changes of heads: -0.75 to " in texts_of(result)["Linguistic features"]


def test_models_that_are_the_same_say_nothing_else() -> None:
    texts = texts_of(compare_result(change=np.zeros((4, 3))))
    assert len(texts) == 1 and "all similarities are 1" in str(texts)


def test_several_models_are_told_one_after_the_other() -> None:
    result = compare_result("epoch 1", "epoch 2")
    assert {"Layer 4 changed most in epoch 1", "Layer 4 changed most in epoch 2"} <= verdicts_of(result).keys()
    topics = [topic for topic in texts_of(result) if ": " in topic]
    assert topics[0] == "epoch 1: the last two layers changed most"
    assert [topic.replace("epoch 1", "epoch 2") for topic in topics[: len(topics) // 2]] == topics[len(topics) // 2 :]


@pytest.mark.parametrize("models", [("after",), ("epoch 1", "epoch 2"), tuple("abcde")])
def test_figures_are_drawn_for_each_model(models: tuple[str, ...]) -> None:
    result = compare_result(*models, restored=True)
    names = [figure.name for figure in study_page(result).figures()]
    assert names[:4] == ["layer_similarity", "similarity", "similarity-by_layer", "js_divergence"]
    assert names[-1] == "restored_score"
    differences = [name for name in names if name.startswith("difference")]
    assert len(differences) == (0 if len(models) > 4 else 4 * len(models))
    assert len(set(names)) == len(names)


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


@pytest.mark.parametrize("models", [("after",), ("epoch 1", "../b")])
def test_the_page_is_written(models: tuple[str, ...], tmp_path: Path) -> None:
    text = write(compare_result(*models, restored=True), tmp_path, formats=("svg",)).read_text()
    assert "he last two layers changed most" in text
    assert (tmp_path / "figures" / "layer_similarity.svg").is_file()
