"""Arcs of two trees: over and under the words, wrong ones marked."""

from typing import Any

from headscope.figures.dependency_trees import dependency_trees


def rows(chart: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    """The rows of data of a layer."""
    return chart["datasets"][chart["layer"][layer]["data"]["name"]]


def test_gold_edges_lie_over_the_words_and_predicted_ones_under_them() -> None:
    chart = dependency_trees(["She", "often", "slept"], [(0, 2), (1, 2)], [(2, 0), (0, 1)]).to_dict()
    arcs = rows(chart, 0)
    heights = {kind: {row["y"] > 0 for row in arcs if row["kind"] == kind} for kind in {row["kind"] for row in arcs}}
    assert heights == {"gold tree": {True}, "predicted, right": {False}, "predicted, wrong": {False}}
    assert {row["edge"] for row in arcs if row["kind"] == "predicted, wrong"} == {"0-1 -1"}
    assert chart["description"] == "She often slept: 1 of 2 edges of the gold tree are predicted."


def test_words_stand_in_their_order_without_overlap() -> None:
    chart = dependency_trees(["a", "considerably", "b"], [], []).to_dict()
    places = [row["x"] for row in rows(chart, 1)]
    assert places == sorted(places) and places[2] - places[1] > 6 * len("considerably") / 2
