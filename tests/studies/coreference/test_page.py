"""The report of `coreference` says the numbers that were planted: in findings, in Table 2's layout, in figures."""

from pathlib import Path

import pytest
import xarray as xr

from headscope.report import write
from headscope.report.study_page import study_page
from support.coreference_result import gap_result, result_of, stereotype_result
from support.findings import verdict_about, verdicts_of
from support.snapshot import assert_page

RESULTS = {"documents": result_of, "gap": gap_result, "stereotypes": stereotype_result}


def cells(table) -> dict[str, list]:
    return {labels[0]: [cell and cell[0] for cell in its] for labels, its in table.rows}


def test_the_pages_say_the_planted_numbers() -> None:
    plain = result_of().assign(special=result_of()["special"] * 0)
    assert_page(__file__, {name: make() for name, make in RESULTS.items()} | {"no special head": plain})


def test_a_head_finds_antecedents_only_where_it_surely_beats_the_rule_on_the_other_half() -> None:
    planted = verdicts_of(result_of())
    assert planted["Head 2-3 finds antecedents"] == planted["1 head of 6 beats both simple rules"] == "holds"
    assert planted["Rules written by hand do worse"] == "holds"
    worse = {name: result_of()[name] - 0.375 for name in ("accuracy", "chosen_accuracy", "chosen_gain")}
    worse |= {f"{name}_ci": result_of()[f"{name}_ci"] - 0.375 for name in worse}
    worse["special"] = result_of()["special"] * 0
    null = verdicts_of(result_of().assign(worse))
    assert verdict_about(result_of().assign(worse), "No head finds more antecedents") == "fails"
    assert null["No head beats both simple rules"] == null["Rules written by hand do as well or better"] == "fails"
    few = result_of().assign(chosen_accuracy_n_examples=result_of()["chosen_accuracy_n_examples"] * 0 + 1)
    assert verdict_about(few, "Too few mentions") == "undecided"


def test_a_kind_of_mention_is_the_easiest_only_where_it_is_apart_from_the_others() -> None:
    equal = result_of().assign(accuracy_n_examples=result_of()["accuracy_n_examples"] * 0 + 300)
    assert verdicts_of(equal)["It cannot be told which kind of mention is the easiest"] == "undecided"
    lower = xr.DataArray([0.0, 0.0, 0.25], coords={"mention_type": equal["mention_type"]})
    shifted = {name: equal[name] - lower for name in ("chosen_accuracy", "chosen_accuracy_ci")}
    more = equal.assign(shifted | {"chosen_accuracy_n_examples": equal["chosen_accuracy_n_examples"] * 0 + 150})
    assert verdicts_of(more)["Pronouns are the easiest"] == "holds"


def test_gender_and_stereotypes_are_claimed_only_beyond_chance() -> None:
    assert verdicts_of(gap_result())["The chosen head is better on masculine pronouns"] == "holds"
    even = gap_result().assign(chosen_bias_ratio_ci=("bound", [0.4, 1.2]))
    assert verdict_about(even, "The chosen head: no clear difference") == "undecided"
    assert verdicts_of(stereotype_result())["Stereotypes show in 2 heads of 6"] == "holds"
    chance = stereotype_result().assign(attention_gap_q=stereotype_result()["attention_gap_q"] * 0 + 1)
    assert verdicts_of(chance)["Stereotypes show in no head of 6 beyond chance"] == "undecided"


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


@pytest.mark.parametrize("name", RESULTS)
def test_the_page_has_it_all(name: str, tmp_path: Path) -> None:
    page = write(RESULTS[name](), tmp_path, formats=()).read_text()
    assert page.count('id="own"') == 1 and "Best head" in page and "Table 2" in page


def test_a_baseline_that_never_chooses_is_left_out() -> None:
    result = gap_result()
    result["baseline_accuracy"].loc[{"baseline": "head_match"}] = 0
    assert "Head match" not in cells(study_page(result).tables()[0])
    bars = study_page(result).figures()[0].chart.to_dict()
    assert "nearest mention of the same head word" not in str(bars["layer"])
