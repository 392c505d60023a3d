"""The page of `cloze` says what was planted: suites above chance or not, phenomena, baselines and controls."""

import json

import numpy as np
import pytest
import xarray as xr

from headscope.report.study_page import study_page
from support.findings import all_texts_of, texts_of
from support.made_result import made_result
from support.snapshot import assert_page

ACCURACY = {"agreement": 0.9, "islands": 0.5, "polarity": 0.2}
CONDITIONS = {
    "polarity: only_npi_licensor_present": 0.75,
    "polarity: only_npi_scope": 0.25,
    "agreement: attractor": 0.8,
    "agreement: plain": 1.0,
}


def result_of(suite: float = 0.9, unigram: float = 0.5, n: int = 400) -> xr.Dataset:
    """A result of one suite of three phenomena; words alone are right in `unigram`, shuffled words in 60%."""
    accuracy = xr.DataArray(list(ACCURACY.values()), {"phenomenon": list(ACCURACY)}, name="accuracy")
    own = accuracy * 0 + 0.9
    series = {"baseline": {"random weights": 0.5, "unigram": unigram}, "control": {"shuffled": 0.6, "truncated": 0.9}}
    others = {
        f"accuracy_{dim}": xr.concat([own - 0.9 + score for score in scores.values()], xr.Variable(dim, list(scores)))
        for dim, scores in series.items()
    }
    measured = {"accuracy": accuracy, "accuracy_by_lemma": accuracy, **others}
    result = made_result(
        "cloze", measured, {"chance": own - 0.4}, n=own.astype(int) * 0 + n, skipped='{"long": 3}', counted="{}"
    )
    result["accuracy_by_suite"] = xr.DataArray([suite], {"suite": ["blimp"]})
    result["accuracy_by_suite_ci"] = xr.DataArray([[suite - 0.02, suite + 0.02]], dims=("suite", "bound"))
    result["accuracy_by_suite_n_examples"] = xr.DataArray([n], dims="suite")
    result["accuracy_by_condition"] = xr.DataArray(list(CONDITIONS.values()), {"condition": list(CONDITIONS)})
    for name in ("accuracy_by_suite", "accuracy_by_condition"):
        result[name].attrs |= {"long_name": name, "units": "share", "source": "made"}
    return result.assign_attrs(suites=json.dumps({"blimp": list(ACCURACY)}))


def judged(result: xr.Dataset) -> dict[str, str | None]:
    """The verdict of each finding."""
    page = study_page(result)
    return {finding.topic: finding.verdict for finding in (*page.highlights(), *page.findings())}


@pytest.mark.parametrize(
    ("suite", "n", "topic", "verdict"),
    [
        (0.9, 400, "BLiMP: 90% right", "holds"),
        (0.51, 400, "BLiMP: not distinguishable from chance", "undecided"),
        (0.4, 400, "BLiMP: no better than chance", "fails"),
        (0.9, 9, "BLiMP: not distinguishable from chance", "undecided"),
    ],
)
def test_a_suite_is_right_where_its_interval_lies_above_chance(suite: float, n: int, topic: str, verdict: str) -> None:
    assert judged(result_of(suite, n=n))[topic] == verdict


def test_the_model_is_better_than_words_alone_only_where_it_is_surely() -> None:
    def verdicts(unigram: float) -> dict[str, str | None]:
        return judged(result_of(unigram=unigram))

    assert verdicts(0.3)["Words alone: the model is better"] == "holds"
    assert verdicts(0.8)["Words alone: it does as well"] == "fails"
    assert verdicts(0.52)["Words alone: no clear difference"] == "undecided"
    assert verdicts(0.3)["Near words: near words do as well"] == "fails"


def test_polarity_items_are_said_by_condition_and_facts_are_ranked() -> None:
    texts = [finding.text for finding in study_page(result_of()).findings() if finding.topic.startswith("Negative")]
    assert [text.partition(" on average")[0] for text in texts] == [
        "A licensor is there: 75.0% right",
        "The item is in its scope: 25.0% right",
    ]
    facts = result_of()
    facts["precision_at_10"] = facts["accuracy"] * 0 + 0.75
    assert_page(__file__, {"all": result_of(), "facts": facts})


@pytest.mark.parametrize(("other", "verdict"), [(0.6, "holds"), (0.96, "fails"), (0.88, "undecided")])
def test_attractors_make_agreement_harder_only_where_they_surely_do(other: float, verdict: str) -> None:
    condition = {"condition": ["agreement: 0 attractors", "agreement: 1 attractor"]}
    own = xr.DataArray([0.9, other], condition, name="accuracy_by_condition")
    words = xr.DataArray([[0.4], [0.4]], condition | {"baseline": ["unigram"]})
    made = made_result(
        "cloze", {"accuracy_by_condition": own, "baseline_by_condition": words}, n=own.astype(int) * 0 + 400
    )
    result = result_of().drop_dims("condition").drop_dims("baseline").merge(made, compat="override")
    (text,) = (found for found in study_page(result).findings() if "attractor" in found.topic)
    assert text.verdict == verdict and "by the frequency of words alone 40.0% [38.0, 42.0]" in text.text


def test_figures_have_all_series_and_phenomena_without_items_are_left_out() -> None:
    result = result_of()
    figures = {figure.name: figure for figure in study_page(result).figures()}
    assert list(figures) == ["accuracy-blimp", "conditions-blimp"]
    specification = json.dumps(figures["accuracy-blimp"].chart.to_dict())
    for name in ("model", "chance", "words alone (unigram)", "shuffled words", "islands"):
        assert name in specification
    result["accuracy"].loc[{"phenomenon": "islands"}] = np.nan
    (table,) = study_page(result).tables()
    assert [key[1] for key, _ in table.rows] == ["agreement", "polarity"]
    assert all_texts_of(result)["All 2 phenomena differ from chance"].startswith("By 95% intervals, over items")


def test_a_baseline_without_its_interval_is_drawn() -> None:
    drawn = study_page(result_of().drop_vars("accuracy_baseline_ci")).figures()
    assert [figure.name for figure in drawn] == [figure.name for figure in study_page(result_of()).figures()]


def test_facts_are_judged_beside_the_most_frequent_answer_and_by_their_best_wording() -> None:
    facts = result_of()
    own = facts["accuracy"]
    made = {"accuracy_among_answers": own * 0 + 0.6, "accuracy_of_most_frequent": own * 0 + 0.5}
    measured = {"accuracy_of_best_wording": own * 0 + 0.4, "best_wording_gain": own * 0 + 0.3}
    facts = facts.merge(made_result("cloze", measured, made, n=own.astype(int) * 0 + 400), compat="override")
    facts = facts.assign_attrs(result_of().attrs)
    topics = {0.1: "holds", -0.1: "fails", 0.015: "undecided"}
    for value, verdict in topics.items():
        gain = xr.DataArray([value], {"suite": ["blimp"]}, name="among_gain")
        judged_facts = facts.drop_vars("among_gain", errors="ignore")
        judged_facts["among_gain"] = gain.assign_attrs(long_name="gain", units="share", source="made")
        judged_facts["among_gain_ci"] = xr.DataArray([[value - 0.02, value + 0.02]], dims=("suite", "bound"))
        judged_facts["among_gain_n_examples"] = xr.DataArray([400], dims="suite")
        found = {topic: said for topic, said in judged(judged_facts).items() if topic.startswith("Among the answers")}
        assert list(found.values()) == [verdict]
    assert judged(facts)["Wording matters: the best one is better"] == "holds"
    assert "40.0% are right, in all wordings 10.0%" in texts_of(facts)["Wording matters: the best one is better"]


def with_shares(result: xr.Dataset, **shares: xr.DataArray) -> xr.Dataset:
    for name, share in shares.items():
        result[name] = share.assign_attrs(long_name=name, units="share", source="made")
    return result


def test_predictions_facts_and_pieces_have_tables_and_figures() -> None:
    result = result_of()
    agreement = result["accuracy"].where(result["phenomenon"] == "agreement") * 0
    result = with_shares(
        result,
        prediction_kept=result["accuracy_control"] * 0 + 0.7,
        accuracy_of_most_frequent=agreement + 0.5,
        accuracy_among_answers=agreement + 0.25,
        accuracy_by_pieces=xr.DataArray([[0.5, 0.25]], {"suite": ["blimp"], "pieces": ["1", "2"]}),
    )
    tables = {table.name: table for table in study_page(result).tables()}
    assert list(tables) == ["phenomena", "kept", "facts", "pieces"]
    assert [column.words for column in tables["kept"].columns] == ["Stays: shuffled words", "Stays: near words alone"]
    assert len(tables["kept"].rows) == 3
    ((key, cells),) = tables["facts"].rows  # relations whose answers are not ranked have no row
    assert key == ("blimp", "agreement") and [cell and cell[0] for cell in cells] == ["90.0", "25.0", "50.0"]
    assert [cell and cell[0] for cell in tables["pieces"].rows[0][1]] == ["50.0", "25.0"]
    names = [figure.name for figure in study_page(result).figures()]
    assert names == ["accuracy-blimp", "kept-blimp", "facts-blimp", "pieces", "conditions-blimp"]


@pytest.mark.parametrize(("masking", "paper"), [("within-word", "84.7"), ("plain", "84.2")])
def test_published_figures_stand_beside_the_same_number_with_how_sure_they_are(masking: str, paper: str) -> None:
    table = {made.name: made for made in study_page(result_of().assign_attrs(masking=masking)).tables()}["published"]
    (row,) = table.rows  # the suite alone: no planted phenomenon is one of the paper's
    assert row[0] == ("blimp", "all")
    own, published, source = (cell and cell[0] for cell in row[1])
    assert (own, published) == ("90.0", paper) and source and source.startswith("Kauf and Ivanova 2023")


def test_answers_that_are_filled_are_said_to_know_their_number_of_pieces() -> None:
    result = with_shares(result_of(), accuracy_of_fill=result_of()["accuracy"] * 0 + 0.25)
    text = texts_of(result)["Answers filled from the left"]
    assert text.startswith("25.0% of answers") and "told how many pieces" in text


def test_differences_of_suites_have_a_table() -> None:
    result = result_of()
    values, bounds = np.array([[0.25]]), np.array([[[0.125, 0.375]]])
    at, bound = {"suite": ["s1"], "control": ["shuffled"]}, {"bound": ["lower", "upper"]}
    result = result.drop_dims("suite", errors="ignore").assign(
        control_fall=xr.DataArray(values, at, ("suite", "control")),
        control_fall_ci=xr.DataArray(bounds, at | bound, ("suite", "control", "bound")),
        accuracy_given_away=xr.DataArray([0.5], {"suite": ["s1"]}, ("suite",)),
    )
    table = {made.name: made for made in study_page(result).tables()}["suites"]
    assert [column.words for column in table.columns] == ["More than shuffled words", "Name gives it away"]
    assert table.rows == [(("s1",), [("25.0", "12.5, 37.5"), ("50.0", "")])]
