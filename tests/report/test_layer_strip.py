"""The strip of layers: a column a layer, rows of numbers and of kinds, from whatever results there are."""

import numpy as np
import pytest
import xarray as xr

from headscope.report.kinds import COLOURS
from headscope.report.layer_strip import layer_strip, shown
from headscope.report.parts import LayerNumber
from support.made_heads import model_of
from support.profile_result import profile_result


def number(topic: str, words: str, values: list[float], chosen: int | None = None, **more: bool) -> LayerNumber:
    layers = np.arange(1, len(values) + 1)
    return LayerNumber(topic, words, xr.DataArray(values, {"layer": layers}, ("layer",)), chosen, **more)


MANY = [number("Tasks", f"task {index}", [0.1, 0.2], 1) for index in range(6)]
TREE = number("Trees", "root", [0.5, 0.75, 0.25], 2)
NEED = number("Needs", "lost", [0.5, -0.25], is_share=False, is_needed=True)
OTHER = number("Space", "cosine", [0.5, np.nan], is_share=False)


def test_rows_come_from_all_topics_in_turn() -> None:
    assert [one.words for one in shown([*MANY, TREE])] == ["task 0", "root", "task 1"]
    assert [one.words for one in shown([OTHER, NEED, TREE])] == ["root", "lost", "cosine"]
    assert [one.words for one in shown([OTHER, NEED, *MANY])] == ["task 0", "task 1", "lost", "cosine"]
    assert shown([]) == []


def test_cells_are_shaded_within_their_row(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(profile_result(3, 4))
    monkeypatch.setitem(model.__dict__, "layers", [TREE, NEED, OTHER])
    strip = layer_strip(model)
    assert strip and strip.layers == (1, 2, 3) and strip.more == 0 and strip.has_choices
    tree, need, other = strip.rows
    assert [cell.shade for cell in tree.cells] == [0.5, 1, 0]
    assert [cell.chosen for cell in tree.cells] == [False, True, False]
    assert [cell.text for cell in tree.cells] == ["50%", "75%", "25%"] and tree.cells[1].words == "75.0%"
    assert [cell.text for cell in need.cells] == ["0.50", "-0.25", ""]
    assert [cell.text for cell in other.cells] == ["0.50", "", ""] and other.cells[0].shade == 0


def test_all_heads_of_a_layer_are_in_its_bar() -> None:
    strip = layer_strip(model_of(profile_result(3, 4)))
    assert strip and [sum(one.count for one in shares) for shares in strip.kinds] == [4, 4, 4]
    assert {one.colour for shares in strip.kinds for one in shares} <= set(COLOURS.values())
    assert strip.rows == () and not strip.has_choices
