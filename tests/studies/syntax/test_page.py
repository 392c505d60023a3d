"""The report of `syntax` says the numbers that were planted: in findings, in Table 1's layout, in figures."""

import numpy as np
import pytest
import xarray as xr

from headscope.report.study_page import study_page
from headscope.results.vocabulary import ATTRIBUTES, BOUNDS, DIRECTIONS
from support.snapshot import assert_page

# Words, baseline, its offset, the chosen head's accuracy; head 2-3 is best in all but "conj", and special for "obj".
RELATIONS = {
    "all": (500, 0.25, 1, 0.375),
    "obj": (100, 0.25, -2, 0.875),
    "punct": (80, 0.5, -1, 0.5625),
    "cop": (60, 0.25, 1, 0.5),
    "expl": (20, 0.5, 1, 0.75),
    "list": (1, 1.0, 1, np.nan),
}
REVERSED = ("cop",)


def result_of(as_coded: bool = False) -> xr.Dataset:
    """A result of `syntax` for a model of 2 layers with 3 heads."""
    names = list(RELATIONS)
    words, baseline, offset, accuracy = (np.array(column) for column in zip(*RELATIONS.values(), strict=True))
    coords = {"layer": [1, 2], "head": [1, 2, 3], "relation": names, "direction": list(DIRECTIONS)}
    accuracies = xr.DataArray(np.full((2, 3, len(names), 2), 0.125), coords, tuple(coords))
    q, special = xr.full_like(accuracies, 1.0), xr.full_like(accuracies, 0.0)
    for name in names[:-1]:
        labels = {"layer": 2, "head": 3, "relation": name, "direction": DIRECTIONS[name in REVERSED]}
        accuracies.loc[labels] = RELATIONS[name][3]
        q.loc[labels] = 0.001 if name != "cop" else 0.2
        special.loc[labels] = float(name in ("all", "obj"))
    known = ~np.isnan(accuracy)

    def by_relation(values: np.ndarray) -> xr.DataArray:
        return xr.DataArray(values, {"relation": names}, ("relation",))

    variables = {
        "accuracy": accuracies,
        "accuracy_n_examples": by_relation(words),
        "q_value": q,
        "special": special,
        "baseline": by_relation(baseline),
        "baseline_offset": by_relation(offset),
        "chosen_layer": by_relation(np.where(known, 2, np.nan)),
        "chosen_head": by_relation(np.where(known, 3, np.nan)),
        "chosen_direction": by_relation(np.array([DIRECTIONS[name in REVERSED] for name in names], dtype=object)),
        "chosen_offset": by_relation(np.where(known, offset, np.nan)),
        "chosen_position": by_relation(np.full(len(names), np.nan)),
        "chosen_accuracy": by_relation(accuracy),
        "chosen_accuracy_n_examples": by_relation(words // 2),
        "chosen_baseline": by_relation(np.where(known, baseline, np.nan)),
        "chosen_gain": by_relation(accuracy - baseline),
    }
    for name in ("accuracy", "baseline", "chosen_accuracy", "chosen_baseline", "chosen_gain"):
        bounds = [variables[name] - 0.0625, variables[name] + 0.0625]
        variables[f"{name}_ci"] = xr.concat(bounds, xr.Variable("bound", list(BOUNDS))).transpose(..., "bound")
    result = xr.Dataset(variables)
    for name, array in result.data_vars.items():
        units = {"q_value": "rate", "special": "1 if so"}.get(str(name), "share of words")
        array.attrs |= {"long_name": str(name), "units": units, "source": "made"}
    attrs = {name: "made" for name in ATTRIBUTES} | {"n_examples": 40, "n_tokens": 900, "study": "syntax"}
    return result.assign_attrs(attrs | {"options": f'{{"as_coded": {str(as_coded).lower()}}}'})


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return result_of()


def test_the_pages_say_the_planted_numbers(result: xr.Dataset) -> None:
    """Relations of fewer than 50 words have a table of their own."""
    plain = result.assign(special=result["special"] * 0, q_value=result["q_value"] * 0 + 1)
    null = result.assign(
        chosen_gain=result["chosen_gain"] * 0 - 0.25,
        chosen_gain_ci=result["chosen_gain_ci"] * 0 - [0.3125, 0.1875],
        special=result["special"] * 0,
        accuracy=result["accuracy"] * 0,
        accuracy_ci=result["accuracy_ci"] * 0 + [0, 0.0625],
    )
    few = result.assign(chosen_accuracy_n_examples=result["chosen_accuracy_n_examples"] * 0 + 1)
    pages = {"all": result, "as coded": result_of(as_coded=True), "no special head": plain}
    assert_page(__file__, pages, {"no head gains": null, "few words": few})


def test_a_position_that_is_the_baseline_is_said_in_words(result: xr.Dataset) -> None:
    for position, cell, words in ((1, "first", "the first word"), (-4, "word 4 from the end", "word 4 from the end")):
        at = result.assign(chosen_offset=result["chosen_offset"] * np.nan)
        at = at.assign(chosen_position=result["chosen_position"].fillna(position))
        assert f"always picking {words} is right" in " ".join(finding.text for finding in study_page(at).highlights())
        ((_, cells), *_) = study_page(at).tables()[0].rows
        assert [shown[0] for shown in cells if shown][3] == f"25.0 ({cell})"


def test_the_source_of_the_numbers_of_auxpass_is_said_where_they_stand(result: xr.Dataset) -> None:
    names = [{"cop": "auxpass"}.get(name, name) for name in result["relation"].values.tolist()]
    (main, _), (other, _) = (study_page(variant).tables() for variant in (result.assign_coords(relation=names), result))
    (row,) = (cells for labels, cells in main.rows if labels == ("auxpass",))
    assert row[-1] == ("94.1 (82.5) 4-10", "")
    assert "82.5 (40.5)" in main.caption and "auxpass" not in other.caption


def test_figures_show_relations_of_enough_words(result: xr.Dataset) -> None:
    figures = {figure.name: figure for figure in study_page(result).figures()}
    assert list(figures) == ["chosen", "gain", "all-by_layer"]
    bars = figures["chosen"].chart.to_dict()
    values = next(iter(bars["datasets"].values())) if "datasets" in bars else bars["data"]["values"]
    assert [row["relation"] for row in values[::2]] == ["all 2-3", "obj 2-3", "cop 2-3", "punct 2-3"]
    assert {(row["value"], row["lower"], row["upper"]) for row in values if row["relation"].startswith("obj ")} == {
        (0.875, 0.8125, 0.9375),
        (0.25, 0.1875, 0.3125),
    }
