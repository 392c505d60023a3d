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
from support.snapshot import assert_cards


def noted(result: xr.Dataset, title: str) -> dict[str, str]:
    table = index(model_of(result))
    at = [column.words for column in table.columns].index(title)
    return {labels[0]: cells[at][0] for labels, cells in table.rows if cells[at]}  # type: ignore[index]


def complete(result: xr.Dataset, study: str) -> xr.Dataset:
    beside = {"model": "tiny", "model_sha256": "ab", "corpus": "made", "n_examples": 408, "n_tokens": 9000}
    return result.assign_attrs(beside | {"study": study})


def test_cards_say_the_planted_numbers() -> None:
    """What a head is special for or nearest to, its removal, its change, its neighbours, with intervals, rank and q."""
    ablated = complete(ablate_result(), "ablate")
    heads = {
        "syntax: special": (syntax_result(), 2, 3),
        "syntax: nearest": (syntax_result(), 1, 1),
        "ablate: needed": (ablated, 2, 2),
        "ablate: not needed": (ablated, 1, 1),
        "ablate: not tested": (ablated.drop_vars("head_q_value"), 2, 2),
        "prune": (pruned(), 2, 2),
        "compare": (compare_result(), 4, 2),
        "compare: two models": (compare_result("one", "two"), 1, 1),
        "clusters": (clusters_result(), 1, 1),
        "clusters: alone": (clusters_result(), 1, 3),
        "gradients": (gradients_result(), 1, 3),
        "gradients: no separators": (gradients_result(sep=False), 1, 3),
        "probe": (probe_result(), 2, 3),
    }
    assert_cards(__file__, {name: Card(model_of(result), *head) for name, (result, *head) in heads.items()})


def test_the_index_of_heads_names_relation_and_cluster() -> None:
    assert noted(syntax_result(), "What it does") == {"2-3": "obj"}
    assert noted(clusters_result(), "Cluster") == {"1-1": "1", "1-2": "1", "1-3": "2", "2-1": "3", "2-2": "3"}


def pruned() -> xr.Dataset:
    axes = {"layer": [1, 2], "head": [1, 2]}
    removed = xr.DataArray([[1.0, np.nan], [np.nan, 2.0]], axes, ("layer", "head"))
    left = xr.DataArray([[2, 2], [1, 1]], {"share_removed": [0.0, 0.5], "layer": [1, 2]}, ("share_removed", "layer"))
    attrs = {"long_name": "place", "units": "place", "source": "made"}
    result = xr.Dataset({"removed_at": removed.assign_attrs(attrs), "heads_left": left.assign_attrs(attrs)})
    return complete(result.assign_attrs(pruning='{"by": "importance"}'), "prune")


@pytest.mark.parametrize("name", ["../profile", "_card", "nothing"])
def test_a_study_is_never_a_path_or_another_module(name: str) -> None:
    made: Any = xr.Dataset(attrs={"study": name})
    assert study_page(made).card().sentences(made, []) == () and set(HOOKS) <= set(
        type(study_page(made).card()).__slots__
    )  # type: ignore[arg-type]
