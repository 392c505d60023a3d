"""The report of `coreference` says the numbers that were planted: in findings, in Table 2's layout, in figures."""

from typing import Any

import numpy as np
import xarray as xr

from headscope.report.study_page import study_page
from headscope.results.variables import Variables
from headscope.results.vocabulary import ATTRIBUTES
from headscope.studies.heads.coreference.variables import COORDS
from headscope.study import Number
from support.snapshot import assert_page

KINDS = ("all", "pronoun", "proper")
# Nearest, head match, rules, random.
BASELINES = (0.25, 0.5, 0.625, 0.125)
ATTRS = {name: "made" for name in ATTRIBUTES} | {"n_examples": 40, "n_tokens": 900, "study": "coreference"}


def bounded(name: str, values: Any, *dims: str, wide: float = 0.0625) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """A variable with an interval around it."""
    array = np.asarray(values, dtype=float)
    return {name: (array, dims), f"{name}_ci": (np.stack([array - wide, array + wide], -1), (*dims, "bound"))}


def result_of(
    kinds: tuple[str, ...] = KINDS, extra: dict[str, tuple[Any, tuple[str, ...]]] | None = None
) -> xr.Dataset:
    """Head 2-3 is the best for all kinds, and special for all but the last, of which there are too few mentions."""
    accuracy, q, special = np.full((2, 3, len(kinds)), 0.125), np.ones((2, 3, len(kinds))), np.zeros((2, 3, len(kinds)))
    accuracy[1, 2], q[1, 2] = 0.75, 0.001
    counts = [500, 300, 20][: len(kinds)]
    special[1, 2, [count >= 50 for count in counts]] = 1
    dims, base = ("layer", "head", "mention_type"), [BASELINES] * len(kinds)
    found = {
        **bounded("accuracy", accuracy, *dims),
        "accuracy_n_examples": (counts, ("mention_type",)),
        "q_value": (q, dims),
        "special": (special, dims),
        **bounded("baseline_accuracy", base, "mention_type", "baseline"),
        "reference": (["head_match"] * len(kinds), ("mention_type",)),
        "chosen_layer": ([2.0] * len(kinds), ("mention_type",)),
        "chosen_head": ([3.0] * len(kinds), ("mention_type",)),
        "chosen_reference": (["head_match"] * len(kinds), ("mention_type",)),
        **bounded("chosen_accuracy", [0.75] * len(kinds), "mention_type"),
        "chosen_accuracy_n_examples": ([count // 2 for count in counts], ("mention_type",)),
        **bounded("chosen_baseline", base, "mention_type", "baseline"),
        **bounded("chosen_gain", [0.25] * len(kinds), "mention_type"),
    }
    found |= extra or {}
    labels = {name: Number(name, name, "share of mentions", dims) for name, (_, dims) in found.items()}
    variables = Variables(COORDS | {"mention_type": list(kinds)}, "made", labels)
    for name, (values, _) in found.items():
        variables.add(name, values)
    return xr.Dataset(variables.arrays, attrs=ATTRS)


def gap_result() -> xr.Dataset:
    """As of GAP: head 2-3 is better on masculine pronouns, and so is no other."""
    f1, ratio = np.full((2, 3, 3), 0.5), np.ones((2, 3))
    f1[1, 2], ratio[1, 2] = (0.75, 0.5, 0.625), 0.6
    extra = {
        **bounded("f1", f1, "layer", "head", "gender"),
        "f1_n_examples": ([60, 60, 120], ("gender",)),
        **bounded("bias_ratio", ratio, "layer", "head"),
        **bounded("baseline_f1", [[0.5] * 3, [0.0] * 3, [0.5] * 3, [0.375] * 3], "baseline", "gender"),
        **bounded("baseline_bias_ratio", [1, np.nan, 1, 1], "baseline"),
        **bounded("chosen_f1", [0.75, 0.5, 0.625], "gender"),
        "chosen_f1_n_examples": ([30, 30, 60], ("gender",)),
        **bounded("chosen_bias_ratio", 0.6),
        **bounded("chosen_baseline_f1", [[0.25] * 3, [0.0] * 3, [0.25] * 3, [0.375] * 3], "baseline", "gender"),
        **bounded("chosen_baseline_bias_ratio", [1.5, np.nan, 1, 1], "baseline"),
    }
    return result_of(("all",), extra)


def stereotype_result() -> xr.Dataset:
    """As of WinoBias: 1-2 looks more at the occupation in pro sentences, 2-1 less."""
    gap, q = np.zeros((2, 3)), np.ones((2, 3))
    gap[0, 1], gap[1, 0], q[0, 1], q[1, 0] = 0.25, -0.5, 0.001, 0.001
    pro = np.full((2, 3), 0.5) + np.maximum(gap, 0)
    both = np.stack([pro, pro - gap], -1)
    extra: dict[str, tuple[Any, tuple[str, ...]]] = {}
    for name in ("attention", "preference"):
        extra |= bounded(name, both, "layer", "head", "stereotype") | bounded(f"{name}_gap", gap, "layer", "head")
        extra |= {f"{name}_n_examples": (240, ()), f"{name}_gap_q": (q, ("layer", "head"))}
    return result_of(("all",), extra | bounded("chosen_preference_gap", 0.125))


RESULTS = {"documents": result_of, "gap": gap_result, "stereotypes": stereotype_result}


def cells(table) -> dict[str, list]:
    return {labels[0]: [cell and cell[0] for cell in its] for labels, its in table.rows}


def test_the_pages_say_the_planted_numbers() -> None:
    plain = result_of().assign(special=result_of()["special"] * 0)
    assert_page(__file__, {name: make() for name, make in RESULTS.items()} | {"no special head": plain}, claims())


def claims() -> dict[str, xr.Dataset]:
    """Heads below the rules, few mentions, kinds of mentions that are alike or not, no gender, no stereotype."""
    made = result_of()
    worse = {name: made[name] - 0.375 for name in ("accuracy", "chosen_accuracy", "chosen_gain")}
    worse |= {f"{name}_ci": made[f"{name}_ci"] - 0.375 for name in worse}
    equal = made.assign(accuracy_n_examples=made["accuracy_n_examples"] * 0 + 300)
    lower = xr.DataArray([0.0, 0.0, 0.25], coords={"mention_type": equal["mention_type"]})
    shifted = {name: equal[name] - lower for name in ("chosen_accuracy", "chosen_accuracy_ci")}
    stereotypes = stereotype_result()
    return {
        "worse than the rules": made.assign(worse | {"special": made["special"] * 0}),
        "few mentions": made.assign(chosen_accuracy_n_examples=made["chosen_accuracy_n_examples"] * 0 + 1),
        "kinds are alike": equal,
        "pronouns are easier": equal.assign(
            shifted | {"chosen_accuracy_n_examples": equal["chosen_accuracy_n_examples"] * 0 + 150}
        ),
        "no clear gender": gap_result().assign(chosen_bias_ratio_ci=("bound", [0.4, 1.2])),
        "stereotypes by chance": stereotypes.assign(attention_gap_q=stereotypes["attention_gap_q"] * 0 + 1),
    }


def test_the_chosen_head_stands_beside_all_baselines() -> None:
    bars = study_page(result_of()).figures()[0].chart.to_dict()
    values = next(iter(bars["datasets"].values())) if "datasets" in bars else bars["data"]["values"]
    pronouns = {row["which"]: row["value"] for row in values if row["mention_type"] == "pronoun"}
    assert pronouns == {
        "best head": 0.75,
        "nearest mention": 0.25,
        "nearest mention of the same head word": 0.5,
        "rules": 0.625,
        "chance": 0.125,
    }


def test_a_baseline_that_never_chooses_is_left_out() -> None:
    result = gap_result()
    result["baseline_accuracy"].loc[{"baseline": "head_match"}] = 0
    assert "Head match" not in cells(study_page(result).tables()[0])
    bars = study_page(result).figures()[0].chart.to_dict()
    assert "nearest mention of the same head word" not in str(bars["layer"])
