"""The report of `coreference` says the numbers that were planted: in findings, in Table 2's layout, in figures."""

import xarray as xr

from headscope.report.study_page import study_page
from support.coreference_result import gap_result, result_of, stereotype_result
from support.snapshot import assert_page

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
