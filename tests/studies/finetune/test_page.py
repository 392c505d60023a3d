"""The report of a table of fine-tuning says and draws the numbers that were planted."""

import numpy as np
import pytest
import xarray as xr

from headscope import results
from headscope.figures.export import svg
from headscope.report.study_page import study_page
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
    assert_page(__file__, {"all": table(), "harmed": harmed, "a single run": single}, claims())


def claims() -> dict[str, xr.Dataset]:
    """Pre-training helps over three seeds, or not; a task is learned above a constant answer alone."""
    better, spread = table(seeds=3), table(seeds=3)
    better["score_by_seed"].loc[{"init": "random"}] = 0.9
    spread["score_by_seed"].loc[{"init": "random"}] += xr.DataArray([-0.3, 0.0, 0.3], dims="seed")
    cases = {"three seeds": table(seeds=3), "random is better": better, "seeds differ": spread}
    for score in (0.862, 0.738):
        cases[f"random at {score}"] = table({"RTE": ["accuracy"], "QNLI": ["accuracy"]})
        cases[f"random at {score}"]["score"].loc[{"init": "random"}] = score
    for score in (0.8, 0.51, 0.551, 0.4):
        result = table({"birds": ["accuracy"]}, ("finetuned",), seeds=1)
        for name in ("score", "score_ci"):
            result[name] += score - SCORES["finetuned"]
        cases[f"a score of {score}"] = result
    return cases


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
