"""The report of `probe` says the numbers that were planted, with the baselines and the paper's numbers beside them."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from headscope.report import write
from headscope.report.study_page import study_page
from headscope.results.vocabulary import ATTRIBUTES, BOUNDS, DIRECTIONS
from support.findings import texts_of
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
    assert_page(__file__, {"all": result, "one seed, no random weights": result_of(random=False, seeds=1)})


def test_without_random_weights_and_with_one_seed_nothing_is_said_of_them() -> None:
    texts = texts_of(result_of(random=False, seeds=1))
    assert "seeds" not in texts["Limits"] and not any("random weights" in topic for topic in texts)
    main = study_page(result_of(random=False, seeds=1)).tables()[0]
    assert len(main.rows) == 5 and all(cells[2] is None for _, cells in main.rows)


def test_the_table_is_that_of_the_paper(result: xr.Dataset) -> None:
    main, recall = study_page(result).tables()
    rows = {labels[0]: [cell and cell[0] for cell in cells] for labels, cells in main.rows}
    assert list(rows)[:3] == ["attention and words", "attention alone", "distances and words"]
    assert rows["attention and words"] == ["75.0", "68.8", "0.2", "7.0", "77"]
    assert rows["right-branching"] == ["25.0", "18.8", None, None, "26"]
    assert rows["random weights: attention alone"][-1] is None
    by_relation = {labels[0]: [cell and cell[0] for cell in cells] for labels, cells in recall.rows}
    assert by_relation["nsubj"] == ["200", "87.5", "25.0", "25.0", "25.0"]
    assert {len(cells) for _, cells in recall.rows} == {len(recall.columns)}


def test_figures(result: xr.Dataset) -> None:
    figures = {figure.name: figure for figure in study_page(result).figures()}
    assert list(figures) == ["uas", "contribution", "recall"]
    chart = figures["recall"].chart.to_dict()
    values = next(iter(chart["datasets"].values())) if "datasets" in chart else chart["data"]["values"]
    assert {row["relation"] for row in values} == {"nsubj", "obj"}
    assert {row["probe"] for row in values} == {"attention alone", "attention and words", "distances and words"}


def test_the_page_has_it_all(result: xr.Dataset, tmp_path: Path) -> None:
    page = write(result, tmp_path, formats=()).read_text()
    assert "best fixed offset" in page and "<td>75.0" in page and "Which heads" in page


@pytest.mark.parametrize(
    ("probe", "value", "topic", "verdict"),
    [
        ("attention", 0.5, "Attention alone finds 50% of the syntactic heads", "holds"),
        ("attention", 0.3125, "Too few words to tell attention from a fixed offset", "undecided"),
        ("attention", 0.25, "Attention alone finds no more syntactic heads than a fixed offset does", "fails"),
        ("attention_and_words", 0.75, "Attention adds to what words show", "holds"),
        ("attention_and_words", 0.3, "Attention adds nothing to words and their distance", "fails"),
        ("random_attention", 0.125, "Syntax in the attention of all heads comes from training", "holds"),
        ("random_attention", 0.6, "Syntax in the attention of all heads: random weights do as well", "fails"),
    ],
)
def test_titles_say_what_intervals_say(probe: str, value: float, topic: str, verdict: str) -> None:
    result = result_of().copy(deep=True)
    result["uas_by_seed"] = result["uas_by_seed"].copy()
    for name, values in (("uas", value), ("uas_by_seed", value), ("uas_ci", [value - 0.02, value + 0.02])):
        result[name].loc[{"probe": probe}] = values
    verdicts = {finding.topic: finding.verdict for finding in study_page(result).highlights()}
    assert verdicts[topic] == verdict


def test_one_seed_of_random_weights_tells_nothing() -> None:
    texts = [finding.text for finding in study_page(result_of(seeds=1)).highlights() if "could not" in finding.topic]
    assert len(texts) == 1 and "3 seeds are wanted" in texts[0]
