"""The page of `structure` says what was planted: trees in a layer beside baselines, by rank, and as pictures."""

import json

import numpy as np
import xarray as xr

from headscope.report.study_page import study_page
from support.made_result import made_result
from support.snapshot import assert_page

LAYERS = {"layer": [1, 2, 3]}
SCORES = {"uuas": 0.6, "root_accuracy": 0.7, "distance_spearman": 0.8, "norm_spearman": 0.75}
TREE = {"words": ["the", "cat", "sat"], "gold": [[0, 1], [1, 2]], "predicted": [[0, 2], [1, 2]]}


def result_of(base: float = 0.4, *, half: float = 0.02, n: int = 200, random: bool = True) -> xr.Dataset:
    """A result of three layers, of which the second is chosen; the best baseline has `base` of every score."""
    measured = {}
    for name, score in SCORES.items():
        measured[name] = xr.DataArray([score - 0.2, score, score - 0.1], LAYERS)
        baselines = {"baseline": ["embeddings", "decay", "linear"]}
        measured[f"{name}_baseline"] = xr.DataArray([base - 0.1, base, base - 0.2], baselines)
        if random:
            measured[f"{name}_random"] = xr.DataArray([0.3, 0.3, 0.3], LAYERS)
    measured["uuas_by_rank"] = xr.DataArray([[0.2, 0.4], [0.3, 0.6], [0.1, 0.5]], LAYERS | {"probe_rank": [2, 8]})
    beside = {}
    if random:
        measured["uuas_gain"] = measured["uuas"] - measured["uuas_random"]
        beside["uuas_random_by_seed"] = xr.DataArray(np.full((3, 3), 0.3), LAYERS | {"seed": [0, 1, 2]})
    result = made_result(
        "structure",
        measured,
        beside,
        half=half,
        n=n,
        chosen_layer=2,
        test_sentences=n,
        trees=json.dumps([TREE]),
        training=json.dumps({"corpus": "bank", "sentences": 1200, "words": 9000}),
        recipe=json.dumps({"ranks": [2, 8]}),
    )
    for name in SCORES:
        result[f"{name}_n_examples"].attrs["units"] = "sentences"
    return result


def test_the_pages_say_the_planted_numbers() -> None:
    claims = {"at the baseline": result_of(0.8), "noisy": result_of(half=0.4), "few sentences": result_of(n=9)}
    assert_page(__file__, {"all": result_of(), "no random weights": result_of(random=False)}, claims)


def test_figures_have_scores_ranks_and_trees() -> None:
    figures = {figure.name: figure.chart.to_dict() for figure in study_page(result_of()).figures()}
    assert list(figures) == [*SCORES, "uuas_by_rank", "tree-1"]
    rows = [row for data in figures["uuas"]["datasets"].values() for row in data]
    series = {row["series"] for row in rows}
    baselines = {"embeddings, without context", "nearest embeddings", "order of the words"}
    assert series == {"hidden states", "random weights"} | baselines
    by_rank = [row for data in figures["uuas_by_rank"]["datasets"].values() for row in data]
    assert {(row["series"], row["probe_rank"]): row["value"] for row in by_rank}["layer 2", 8] == 0.6
    edges = [row for data in figures["tree-1"]["datasets"].values() for row in data]
    assert any("sat" in str(row.values()) for row in edges)
