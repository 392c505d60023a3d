"""The page says whether fine-tuning beats every simple model, and whether one sentence alone is enough."""

import numpy as np
import pytest
import xarray as xr

from headscope import results
from headscope.report.study_page import study_page
from support.findings import all_texts_of, texts_of, verdicts_of

BASELINES = {"bag of words": 0.6, "second sentence": 0.7, "first sentence": 0.5, "mean embeddings": 0.55}
ATTRS = {"long_name": "score", "units": "fraction", "source": "planted"}


def with_baselines(score: float = 0.8, half: float = 0.05, alone: float = 0.7, n: int = 400) -> xr.Dataset:
    """A fine-tuned model of a task of pairs whose constant answer has 0.5; intervals are `half` to both sides."""
    known = BASELINES | {"second sentence": alone}
    axes = {"task": ["RTE"], "baseline": list(known), "metric": ["accuracy"]}
    simple = xr.DataArray(np.array([*known.values()])[None, :, None], axes, list(axes))
    start = {"task": ["RTE"], "init": ["finetuned"], "metric": ["accuracy"]}
    own = xr.DataArray([[[score]]], start, list(start))
    gain = (own - simple).transpose("task", "init", "baseline", "metric")
    variables = {"chance": own.isel(init=0, drop=True) * 0 + 0.5}
    for name, array in {"score": own, "baseline_score": simple, "baseline_gain": gain}.items():
        variables[name] = array
        bounds = xr.concat([array - half, array + half], "bound").assign_coords(bound=list(results.BOUNDS))
        variables[f"{name}_ci"] = bounds
        variables[f"{name}_n_examples"] = array * 0 + n
    attrs = dict.fromkeys(results.ATTRIBUTES, "x") | {"study": "finetune", "n_examples": n, "n_tokens": 9000}
    attrs |= {"recipe": "{}", "duration_s": 1.0}
    return results.check(
        xr.Dataset({name: array.assign_attrs(ATTRS) for name, array in variables.items()}, attrs=attrs)
    )


@pytest.mark.parametrize(
    ("score", "n", "topic", "verdict"),
    [
        (0.8, 400, "RTE: above all simple models", "holds"),
        (0.72, 400, "RTE: not clearly better than the second sentence alone", "undecided"),
        (0.6, 400, "RTE: no better than the second sentence alone", "fails"),
        (0.8, 9, "RTE: not clearly better than the second sentence alone", "undecided"),
    ],
)
def test_a_model_has_to_beat_the_simple_model_that_it_beats_least_surely(
    score: float, n: int, topic: str, verdict: str
) -> None:
    result = with_baselines(score, n=n)
    assert verdicts_of(result)[topic] == verdict
    assert "0.70 [0.65, 0.75] of the second sentence alone" in all_texts_of(result)[topic]


@pytest.mark.parametrize(
    ("alone", "topic", "verdict"),
    [
        (0.7, "RTE: the second sentence alone tells part of the answer", "holds"),
        (0.53, "RTE: not clear whether one sentence alone tells anything", "undecided"),
        (0.4, "RTE: not clear whether one sentence alone tells anything", "undecided"),
    ],
)
def test_the_better_sentence_alone_is_judged_beside_a_constant_answer(alone: float, topic: str, verdict: str) -> None:
    findings = {finding.topic: finding.verdict for finding in study_page(with_baselines(alone=alone)).findings()}
    assert findings[topic] == verdict


def test_the_fine_tuned_model_is_drawn_with_its_interval() -> None:
    charts = {figure.name: figure.chart for figure in study_page(with_baselines()).figures()}
    rows = [row for data in charts["simple"].to_dict()["datasets"].values() for row in data]
    assert [row["lower"] for row in rows if row["series"] == "finetuned"] == pytest.approx([0.75, 0.75])


def test_table_and_figure_have_all_simple_models_with_gains() -> None:
    page = study_page(with_baselines())
    _, table = page.tables()
    assert table.name == "simple" and [column.key for column in table.columns] == list(BASELINES)
    (own, gains) = table.rows
    assert own[0][2] == "score" and [cell and cell[0] for cell in own[1]] == ["0.600", "0.700", "0.500", "0.550"]
    assert [cell and cell[0] for cell in gains[1]] == ["+0.200", "+0.100", "+0.300", "+0.250"]
    figure = next(figure for figure in page.figures() if figure.name == "simple")
    shown = [row["series"] for data in figure.chart.to_dict()["datasets"].values() for row in data]
    assert {"constant answer", *BASELINES} < set(shown)


def test_a_result_without_simple_models_has_no_part_about_them() -> None:
    result = with_baselines()
    plain = result.drop_vars([name for name in result.variables if str(name).startswith("baseline")])
    assert [table.name for table in study_page(plain).tables()] == ["scores"]
    assert not [topic for topic in texts_of(plain) if "simple" in topic or "alone" in topic]
