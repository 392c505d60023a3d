"""The report of a table of fine-tuning says and draws the numbers that were planted."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from headscope import report, results
from headscope.figures.export import svg
from headscope.report.study_page import study_page
from support.findings import texts_of, verdicts_of
from support.snapshot import assert_page

TASKS = {"RTE": ["accuracy"], "MRPC": ["accuracy", "f1"], "STS-B": ["pearson", "spearman"]}
SCORES = {"pretrained": 0.4, "random": 0.5, "frozen": 0.6, "finetuned": 0.8}
ATTRS = {"long_name": "score on dev", "units": "fraction", "source": "planted"}


def table(tasks: dict[str, list[str]] = TASKS, inits: tuple[str, ...] = tuple(SCORES), seeds: int = 2) -> xr.Dataset:
    """A table in which each task has the same scores, with intervals of 0.05 to both sides, and chance is 0.5."""
    metrics = list(dict.fromkeys(metric for names in tasks.values() for metric in names))
    axes = {"task": list(tasks), "init": list(inits), "metric": metrics}
    there = xr.DataArray(
        [[[metric in names for metric in metrics]] * len(inits) for names in tasks.values()], axes, list(axes)
    )
    score = there.where(there) * xr.DataArray([SCORES[init] for init in inits], {"init": list(inits)})
    epochs = xr.concat([score - 0.2, score], "epoch").assign_coords(epoch=[1, 2])
    parts = xr.DataArray(np.linspace(0.7, 0.2, 50), {"progress": np.arange(1, 51) / 50})
    trained = xr.DataArray([init != "pretrained" for init in inits], {"init": list(inits)})
    variables = {
        "score": score,
        "score_ci": xr.concat([score - 0.05, score + 0.05], "bound").assign_coords(bound=list(results.BOUNDS)),
        "score_n_examples": there.where(there) * 400,
        "epoch_score": epochs.where(trained),
        "train_loss": (parts * xr.ones_like(score.isel(metric=0, drop=True)).fillna(1.0)).where(trained),
        "chance": (there.where(there) * 0.5).isel(init=0, drop=True),
    }
    if seeds > 1:
        variables["score_std"] = score * 0 + 0.015
        variables["score_by_seed"] = xr.concat([score] * seeds, "seed").assign_coords(seed=range(seeds))
    if "MRPC" in tasks:
        variables["paper_score"] = score.where((score["task"] == "MRPC") & (score["init"] != "frozen")) + 0.1
    attrs = dict.fromkeys(results.ATTRIBUTES, "x") | {"study": "finetune", "n_examples": 400, "n_tokens": 9000}
    attrs |= {"recipe": '{"keep": "best"}', "duration_s": 1.0}
    result = xr.Dataset({name: array.assign_attrs(ATTRS) for name, array in variables.items()}, attrs=attrs)
    return results.check(result)


def test_the_pages_say_the_planted_numbers() -> None:
    harmed = table()
    harmed["score"].loc[{"init": "finetuned"}] -= 0.5
    where = {"init": "random", "task": "STS-B", "metric": "pearson"}
    for name in ("score", "score_ci"):
        harmed[name].loc[where] -= 0.4
    single = table({"birds": ["accuracy"]}, ("finetuned",), seeds=1)
    assert_page(__file__, {"all": table(), "harmed": harmed, "a single run": single})
    assert "On STS-B" in texts_of(harmed)["Random weights"]


def rows(chart: dict) -> list[dict]:
    return [row for data in chart["datasets"].values() for row in data]


def test_figure_has_all_scores_with_chance_and_the_papers_beside_them() -> None:
    figures = {figure.name: figure.chart.to_dict() for figure in study_page(table()).figures()}
    assert set(figures) == {"score", *(f"{name}-{task}" for name in ("train_loss", "epoch_score") for task in TASKS)}
    shown = {(row["whose"], row["task"], row["init"]): row for row in rows(figures["score"])}
    assert len(shown) == 5 * 5 + 2 * 3
    assert shown["this model", "MRPC f1", "finetuned"]["value"] == pytest.approx(0.8)
    assert shown["this model", "MRPC f1", "finetuned"]["lower"] == pytest.approx(0.75)
    assert shown["this model", "RTE accuracy", "constant answer"]["value"] == 0.5
    assert shown["BERT-base in the paper", "MRPC accuracy", "random"]["value"] == pytest.approx(0.6)
    losses = rows(figures["train_loss-RTE"])
    assert {row["init"] for row in losses} == {"random", "frozen", "finetuned"}
    assert len(losses) == 150
    assert all(svg(figure).startswith("<svg") for figure in figures.values())


def test_page_is_written(tmp_path: Path) -> None:
    page = report.write(table(), tmp_path, formats=()).read_text(encoding="utf-8")
    assert "Gain of fine-tuning" in page


@pytest.mark.parametrize(("random", "words"), [(0.862, "6.2 points higher"), (0.738, "6.2 points lower")])
def test_random_weights_score_higher_or_lower_never_minus_lower(random: float, words: str) -> None:
    result = table({"RTE": ["accuracy"], "QNLI": ["accuracy"]})
    result["score"].loc[{"init": "random"}] = random
    (found,) = (finding for finding in study_page(result).highlights() if "re-training" in finding.topic)
    assert words in found.text
    assert found.topic == "It cannot be told whether pre-training helps" and "3 seeds are wanted" in found.text
    assert f"RTE {words}, QNLI {words}." in texts_of(result)["Random weights"]


def test_pretraining_helps_over_three_seeds_or_it_does_not() -> None:
    assert verdicts_of(table(seeds=3))["Pre-training helps"] == "holds"
    better = table(seeds=3)
    better["score_by_seed"].loc[{"init": "random"}] = 0.9
    assert verdicts_of(better)["Pre-training does not help"] == "fails"
    spread = table(seeds=3)
    spread["score_by_seed"].loc[{"init": "random"}] += xr.DataArray([-0.3, 0.0, 0.3], dims="seed")
    assert verdicts_of(spread)["It cannot be told whether pre-training helps"] == "undecided"
    assert "holds" not in [verdict for topic, verdict in verdicts_of(table(seeds=1)).items() if "re-training" in topic]


@pytest.mark.parametrize(
    ("score", "topic", "verdict"),
    [
        (0.8, "birds: accuracy 0.80 after fine-tuning", "holds"),
        (0.51, "birds is not clearly learned", "undecided"),
        (0.551, "birds is not clearly learned", "undecided"),
        (0.4, "birds is not learned", "fails"),
    ],
)
def test_a_task_is_learned_above_a_constant_answer_alone(score: float, topic: str, verdict: str) -> None:
    result = table({"birds": ["accuracy"]}, ("finetuned",), seeds=1)
    shift = score - SCORES["finetuned"]
    result["score"] += shift
    result["score_ci"] += shift
    assert verdicts_of(result)[topic] == verdict
