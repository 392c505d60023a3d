"""Arcs of two trees: over and under the words, wrong ones marked."""

import re
from itertools import pairwise
from typing import Any

from headscope.figures.export import svg
from headscope.figures.fit import fitted
from headscope.figures.words import dependency_trees


def rows(chart: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    """The rows of data of a layer."""
    return chart["datasets"][chart["layer"][layer]["data"]["name"]]


def test_gold_edges_lie_over_the_words_and_predicted_ones_under_them() -> None:
    chart = dependency_trees(["She", "often", "slept"], [(0, 2), (1, 2)], [(2, 0), (0, 1)]).to_dict()
    arcs = rows(chart, 0)
    heights = {kind: {row["y"] > 0 for row in arcs if row["kind"] == kind} for kind in {row["kind"] for row in arcs}}
    assert heights == {"gold tree": {True}, "predicted, right": {False}, "predicted, wrong": {False}}
    assert {row["edge"] for row in arcs if row["kind"] == "predicted, wrong"} == {"0-1 -1"}
    assert chart["description"].startswith("She often slept: 1 of 2 edges")


def test_words_stand_in_their_order_without_overlap() -> None:
    chart = dependency_trees(["a", "considerably", "b"], [], []).to_dict()
    positions = [row["x"] for row in rows(chart, 1)]
    assert positions == sorted(positions) and positions[2] - positions[1] > 6 * len("considerably") / 2


def test_words_stand_below_each_other_where_there_is_no_room_beside_each_other() -> None:
    words = "My neighbour , a retired teacher , used to read her newspaper there".split()
    spec = dependency_trees(words, [(0, 1), (1, 7)], [(1, 7), (2, 9)]).to_dict()
    assert "across" not in svg(fitted(spec, 1040)) and not fitted(spec, 1040)["layer"][0].get("transform")
    drawn = svg(fitted(spec, 340))
    positions = re.findall(r'<text[^>]*transform="translate\(([-\d.]+),([-\d.]+)\)"[^>]*>([^<]+)</text>', drawn)
    found = {text: (float(x), float(y)) for x, y, text in positions}
    heights = [found[word][1] for word in words if words.count(word) == 1]
    assert all(next - one > 12 for one, next in pairwise(heights))  # no word over another
    assert len({found[word][0] for word in words}) == 1
