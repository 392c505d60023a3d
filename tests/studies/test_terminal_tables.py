"""The tables that `ablate`, `prune` and `finetune` print: the numbers of the result, with interval and test."""

from collections.abc import Callable

import pytest

from headscope import open_result
from headscope.report.study_page import study_page
from headscope.report.tables import Table
from support.every_study import Run


def first_table(ended: Callable[[str, str], Run], study: str) -> Table:
    return study_page(open_result(ended(study, "annotated").directory)).tables()[0]


def test_ablate_lists_the_heads_with_the_largest_losses(ended: Callable[[str, str], Run]) -> None:
    result = open_result(ended("ablate", "annotated").directory)
    gains = result["head_gain"].isel(metric=0)
    table = first_table(ended, "ablate")
    (head,), (change, interval, _) = table.rows[0]
    assert change is not None and float(change[0]) == pytest.approx(float(gains.min()), abs=5e-4)
    layer, number = map(int, head.split("-"))
    assert float(gains.sel(layer=layer, head=number)) == float(gains.min())
    assert interval is not None and interval[0].count(",") == 1
    assert [column.words for column in table.columns] == ["Change of accuracy", "95% interval", "q"]


def test_prune_lists_score_and_size_at_each_share(ended: Callable[[str, str], Run]) -> None:
    result = open_result(ended("prune", "annotated").directory)
    table = first_table(ended, "prune")
    assert [labels for labels, _ in table.rows] == [(f"{share:.0%}",) for share in result["share_removed"].values]
    heads = [cells[0] for _, cells in table.rows]
    assert heads == [(str(int(left)), "") for left in result["heads_left"].sum("layer")]
    assert {"Heads", "Accuracy", "Change", "95% interval", "MB", "M mult."} <= {
        column.words for column in table.columns
    }


def test_finetune_lists_scores_beside_a_constant_answer(ended: Callable[[str, str], Run]) -> None:
    result = open_result(ended("finetune", "annotated").directory)
    labels, cells = first_table(ended, "finetune").rows[0]
    assert labels[0] == "RTE"
    values = [float(cell[0]) for cell in (cells[0], cells[2]) if cell]
    expected = [float(result[name].isel(task=0, metric=0).squeeze()) for name in ("score", "chance")]
    assert values == pytest.approx(expected, abs=5e-4)


def test_terminal_prints_the_table_and_no_means_by_layer(ended: Callable[[str, str], Run]) -> None:
    for study in ("ablate", "prune"):
        output = ended(study, "annotated").output
        assert "95% interval" in output and "mean of heads, by layer" not in output
