"""The report of `coreference` says the numbers that were planted: in findings, in Table 2's layout, in figures."""

from pathlib import Path

import pytest
import xarray as xr

from headscope.report import write
from headscope.report.study_page import study_page
from support.coreference_result import gap_result, result_of, stereotype_result
from support.findings import texts_of, verdicts_of

RESULTS = {"documents": result_of, "gap": gap_result, "stereotypes": stereotype_result}


def cells(table) -> dict[str, list]:
    return {labels[0]: [cell and cell[0] for cell in its] for labels, its in table.rows}


def test_the_best_head_is_said_with_its_baselines() -> None:
    text = texts_of(result_of())["The chosen head"]
    assert "Head 2-3 was chosen on one half. It finds an antecedent of 75.0% [68.8, 81.2] of 250 mentions" in text
    assert "It gains +25.0 [18.8, 31.2] points over the nearest mention of the same head word" in text
    assert "nearest mention 25.0% [18.8, 31.2], nearest mention of the same head word 50.0%" in text
    assert "rules 62.5% [56.2, 68.8], chance 12.5%" in text


def test_a_head_finds_antecedents_only_where_it_surely_beats_the_rule_on_the_other_half() -> None:
    planted = verdicts_of(result_of())
    assert planted["Head 2-3 finds antecedents"] == planted["1 head of 6 beats both simple rules"] == "holds"
    assert planted["Rules written by hand do worse"] == "holds"
    worse = {name: result_of()[name] - 0.375 for name in ("accuracy", "chosen_accuracy", "chosen_gain")}
    worse |= {f"{name}_ci": result_of()[f"{name}_ci"] - 0.375 for name in worse}
    null = verdicts_of(result_of().assign(worse | {"special": result_of()["special"] * 0}))
    assert null["No head finds more antecedents than the nearest mention of the same head word does"] == "fails"
    assert null["No head beats both simple rules"] == null["Rules written by hand do as well or better"] == "fails"
    few = result_of().assign(chosen_accuracy_n_examples=result_of()["chosen_accuracy_n_examples"] * 0 + 1)
    assert verdicts_of(few)["Too few mentions or documents to tell whether a head finds antecedents"] == "undecided"


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
    assert verdicts_of(even)["The chosen head: no clear difference of feminine and masculine pronouns"] == "undecided"
    assert verdicts_of(stereotype_result())["Stereotypes show in 2 heads of 6"] == "holds"
    chance = stereotype_result().assign(attention_gap_q=stereotype_result()["attention_gap_q"] * 0 + 1)
    assert verdicts_of(chance)["Stereotypes show in no head of 6 beyond chance"] == "undecided"


def test_special_heads_are_counted_with_the_tests_that_were_made() -> None:
    text = texts_of(result_of())["Special heads"]
    assert text.startswith("1 head of 6 beats nearest and head match by at least 10 points")
    assert (
        "Benjamini-Hochberg over 18 heads and kinds): 2-3 (75%). Counts of heads grow with the data: here 500 mentions."
        in text
    )
    plain = result_of().assign(special=result_of()["special"] * 0)
    assert texts_of(plain)["Special heads"].startswith("No head of 6") and "2-3" not in texts_of(plain)["Special heads"]


def test_kinds_of_mentions_are_told_apart_where_there_are_several() -> None:
    assert "pronoun: 2-3 75.0% [68.8, 81.2]" in texts_of(result_of())["By kind of mention"]
    assert "n = 150; proper" in texts_of(result_of())["By kind of mention"]
    assert "By kind of mention" not in texts_of(gap_result())


def test_the_table_is_that_of_the_paper_with_the_papers_numbers() -> None:
    (table,) = study_page(result_of()).tables()
    rows = cells(table)
    assert [column.words for column in table.columns] == ["all", "pronoun", "proper"]
    assert (
        rows["Head match"] == ["50.0"] * 3 and rows["Best head"] == ["75.0"] * 3 and rows["best head is"] == ["2-3"] * 3
    )
    assert rows["gain over nearest and head match"] == ["+25.0"] * 3 and rows["q"] == ["0.001"] * 3
    assert rows["special"] == ["yes", "yes", ""] and rows["mentions"] == ["250", "150", "10"]
    assert rows["Clark et al.: head 5-4"] == ["65", "64", "73"] and rows["Clark et al.: rules"] == ["69", "70", "77"]
    assert {len(its) for its in rows.values()} == {3}


def test_of_gap_f1_is_told_by_gender() -> None:
    text = texts_of(gap_result())["Gender"]
    assert "masculine 0.750, feminine 0.500, overall 0.625. The nearest name has 0.250 there." in text
    assert "F1 of feminine over masculine pronouns is 0.60 [0.54, 0.66]; that of the nearest name is 1.50" in text
    assert "0 are better on feminine and 1 on masculine" in text
    assert "Clark" not in study_page(gap_result()).tables()[0].caption
    rows = cells(study_page(gap_result()).tables()[1])
    assert (
        rows["Head 2-3"]
        == rows["Head chosen on one half, scored on the other half"]
        == ["0.750", "0.500", "0.625", "0.60"]
    )
    assert rows["Nearest"][0] == "0.500" and "Head match" not in rows and list(rows)[3] == "Head 2-3"
    assert rows["Nearest, on that other half"] == ["0.250", "0.250", "0.250", "1.50"]


def test_of_stereotypes_gaps_are_told_in_both_directions() -> None:
    texts = texts_of(stereotype_result())
    assert texts["Stereotypes in attention"].startswith("In 1 of 6 heads the occupation gets more attention")
    assert "in 1 the reverse (q < 0.05 each, n = 240 pairs)" in texts["Stereotypes in attention"]
    assert "Largest gaps: 2-1 (-0.50 [-0.56, -0.44]), 1-2 (0.25 [0.19, 0.31])." in texts["Stereotypes in attention"]
    assert (
        "2-3" in texts["Stereotypes in the chosen head"]
        and "+12.5 [6.2, 18.8]" in texts["Stereotypes in the chosen head"]
    )
    rows = cells(study_page(stereotype_result()).tables()[1])
    assert list(rows)[:2] == ["2-1", "1-2"]
    assert rows["1-2"] == ["0.750", "0.500", "0.250", "0.001", "+25.0", "0.001"]


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("documents", ["chosen", "accuracy", "all-by_layer"]),
        ("gap", ["chosen", "accuracy", "all-by_layer", "f1", "f1_gap"]),
        ("stereotypes", ["chosen", "accuracy", "all-by_layer", "attention_gap", "preference_gap"]),
    ],
)
def test_figures_are_those_of_the_corpus(name: str, figures: list[str]) -> None:
    assert [figure.name for figure in study_page(RESULTS[name]()).figures()] == figures


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
    assert "same head word 50.0%" not in texts_of(result)["The chosen head"] and "Head match" not in cells(
        study_page(result).tables()[0]
    )
    bars = study_page(result).figures()[0].chart.to_dict()
    assert "nearest mention of the same head word" not in str(bars["layer"])
