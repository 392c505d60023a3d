"""The report of `probe` says the numbers that were planted, with the baselines and the paper's numbers beside them."""

import json

import numpy as np
import pytest
import xarray as xr

from headscope.report.study_page import study_page
from headscope.results.vocabulary import ATTRIBUTES, BOUNDS, DIRECTIONS
from support.snapshot import assert_page

UAS = {
    "right_branching": 0.25,
    "fixed_offset": 0.3125,
    "attention": 0.5,
    "attention_and_words": 0.75,
    "distances_and_words": 0.375,
    "random_attention": 0.125,
    "random_attention_and_words": 0.1875,
}
RELATIONS = {"nsubj": (200, 0.25), "obj": (100, 0.75), "list": (4, 1.0)}


def result_of(random: bool = True, seeds: int = 3) -> xr.Dataset:
    """A result of `probe` for a model of 2 layers with 3 heads; 2-3 has half of what all heads contribute."""
    names = [name for name in UAS if random or not name.startswith("random")]
    uas = xr.DataArray([UAS[name] for name in names], {"probe": names}, ("probe",))
    coords = {"layer": [1, 2], "head": [1, 2, 3], "direction": list(DIRECTIONS)}
    contribution = xr.DataArray(np.full((2, 3, 2), 0.0625), coords, tuple(coords))
    contribution.loc[{"layer": 2, "head": 3, "direction": DIRECTIONS[0]}] = 0.75
    of_relation = contribution.expand_dims(relation=list(RELATIONS), axis=3).copy()
    of_relation.loc[{"relation": "list"}] = np.nan
    words = xr.DataArray([count for count, _ in RELATIONS.values()], {"relation": list(RELATIONS)}, ("relation",))
    share = xr.DataArray([share for _, share in RELATIONS.values()], {"relation": list(RELATIONS)}, ("relation",))
    recall = (share + 0 * uas).transpose("probe", "relation").copy()
    recall.loc[{"probe": "attention_and_words", "relation": "nsubj"}] = 0.875
    by_seed = uas.expand_dims(seed=list(range(seeds)), axis=1)
    variables = {
        "uas": uas,
        "uas_n_examples": xr.DataArray(1234),
        "uas_argmax": uas - 0.0625,
        "uas_by_seed": by_seed,
        "recall": recall,
        "recall_n_examples": words,
        "epochs": xr.where(uas.isin([0.25, 0.3125]), 0.0, by_seed * 0 + 7).transpose("probe", "seed"),
        "weight": contribution * 8,
        "contribution": contribution,
        "contribution_n_examples": xr.DataArray(1100),
        "relation_contribution": of_relation,
    }
    if seeds > 1:
        variables["uas_std"] = uas * 0 + 0.0025
    for name in ("uas", "recall", "contribution"):
        bounds = [variables[name] - 0.015625, variables[name] + 0.015625]
        variables[f"{name}_ci"] = xr.concat(bounds, xr.Variable("bound", list(BOUNDS))).transpose(..., "bound")
    result = xr.Dataset(variables)
    for name, array in result.data_vars.items():
        array.attrs |= {"long_name": str(name), "units": "share of words", "source": "made"}
    attrs = {name: "made" for name in ATTRIBUTES} | {"n_examples": 40, "n_tokens": 900, "study": "probe"}
    said = {"corpus": "ud/train.conllu", "sentences": 3136}
    beside = {"training": json.dumps(said), "test_sentences": 2001, "vectors": "glove.txt", "words_with_vectors": 0.95}
    return result.assign_attrs(attrs | beside)


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return result_of()


def test_the_pages_say_the_planted_numbers(result: xr.Dataset) -> None:
    """Relations of few words are left out."""
    pages = {"all": result, "one seed, no random weights": result_of(random=False, seeds=1)}
    scores = {"attention": (0.3125, 0.25), "attention_and_words": (0.3,), "random_attention": (0.6,)}
    claims = {f"{probe} at {value}": scored(probe, value) for probe, values in scores.items() for value in values}
    assert_page(__file__, pages, claims | {"one seed": result_of(seeds=1)})


def scored(probe: str, value: float) -> xr.Dataset:
    """The result with another score of a probe."""
    result = result_of().copy(deep=True)
    result["uas_by_seed"] = result["uas_by_seed"].copy()
    for name, values in (("uas", value), ("uas_by_seed", value), ("uas_ci", [value - 0.02, value + 0.02])):
        result[name].loc[{"probe": probe}] = values
    return result


def test_figures(result: xr.Dataset) -> None:
    figures = {figure.name: figure for figure in study_page(result).figures()}
    assert list(figures) == ["uas", "contribution", "recall"]
    chart = figures["recall"].chart.to_dict()
    values = next(iter(chart["datasets"].values())) if "datasets" in chart else chart["data"]["values"]
    assert {row["relation"] for row in values} == {"nsubj", "obj"}
    assert {row["probe"] for row in values} == {"attention alone", "attention and words", "distances and words"}
