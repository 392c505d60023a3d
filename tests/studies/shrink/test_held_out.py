"""Groups of inputs that lose more, and examples that are answered otherwise: closed forms and planted cases."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.stats import spearmanr

import headscope
from headscope import Settings
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.linguistics.sentence import Example, Sentence
from headscope.report.numbers import Numbers
from headscope.report.study_page import study_page
from headscope.statistics.bootstrap import poisson_draws
from headscope.studies.size.shrink import groups
from headscope.studies.size.shrink.groups import changed_share
from headscope.studies.size.shrink.held_out import share_added
from headscope.studies.size.shrink.judge import EmbeddingJudge, TaskJudge
from headscope.studies.size.shrink.page import changed, lossier_groups
from headscope.studies.size.shrink.scores import LETTERS, text_of
from headscope.studies.size.shrink.texts import Splits
from support.idle_neurons import TEXTS, idle
from support.runs import shrink as run

RANDOM = np.random.default_rng(0)


NOTHING: Any = None  # of a judge what a test does not ask for


def task_judge(task: Task) -> TaskJudge:
    """A judge by a task, whose dev split scores."""
    return TaskJudge(NOTHING, task, Splits((), (), tuple(task.dev), ()), Settings(), 0.02)


def embedding_judge(held_out: tuple[Example, ...] = ()) -> EmbeddingJudge:
    """A judge by embeddings."""
    return EmbeddingJudge(NOTHING, None, Splits((), (), held_out, ()), Settings(), 0.1, NOTHING)


def unit(values: np.ndarray) -> np.ndarray:
    """Rows of length 1."""
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def task(kind: Any, number: int) -> Task:
    """A task whose examples have the labels no and yes in turn."""
    made = [
        Example(f"made:{at}", (Sentence(f"text {at}"),), label="no yes".split()[at % 2] if kind != "regression" else at)
        for at in range(number)
    ]
    corpus = Corpus("made", "0" * 64, number, {}, partial(iter, made))
    labels = ("no", "yes") if kind == "classification" else ()
    return Task(name="made", kind=kind, labels=labels, metrics=("accuracy",), dev=corpus)


def test_a_text_loses_what_its_rank_correlation_lacks() -> None:
    before, after = unit(RANDOM.normal(size=(12, 5))), unit(RANDOM.normal(size=(12, 5)))
    expected = []
    for text in range(12):
        others = [other for other in range(12) if other != text]
        one, another = ([float(made[text] @ made[other]) for other in others] for made in (before, after))
        found: Any = spearmanr(one, another)
        expected.append(1 - found.statistic)
    np.testing.assert_allclose(embedding_judge().losses(before, after), expected, atol=1e-6)
    np.testing.assert_allclose(embedding_judge().losses(before, before), 0, atol=1e-9)


def test_a_class_is_lost_or_won() -> None:
    before, after = np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[1, 1, 1, 1]]
    found = task_judge(task("classification", 4)).losses(before, after)  # of the labels no, yes, no, yes
    assert found.tolist() == [1, -1, 0, 0]
    numbers = task_judge(task("regression", 2)).losses(np.array([[1.0], [2.0]]), np.array([[1.5], [3.0]]))
    assert numbers.tolist() == [0.5, 1.0]


def test_groups_are_thirds_of_lengths_marks_and_classes_of_enough_inputs() -> None:
    lengths, labels = list(range(30)), ["no"] * 25 + ["yes"] * 5
    classes = {name: np.array(labels) == name for name in ("no", "yes")}
    found = groups.input_groups(lengths, {"marked": np.arange(30) < 9} | classes)
    assert list(found) == ["short inputs", "long inputs"]
    assert np.flatnonzero(found["short inputs"]).tolist() == list(range(10))
    assert np.flatnonzero(found["long inputs"]).tolist() == list(range(20, 30))
    assert not groups.input_groups([5] * 40, {})


def result_of(losses: np.ndarray, masks: dict[str, np.ndarray], kind: Any = "classification") -> xr.Dataset:
    """A result with the groups alone."""
    units = range(len(losses))
    judge = task_judge(task(kind, 2))
    return xr.Dataset(groups.group_losses(losses, masks, units, judge, poisson_draws(units, 0, 400)))


def test_the_group_that_loses_is_named_and_others_are_not() -> None:
    planted, other = np.arange(200) < 60, np.arange(200) % 2 == 0
    losses = np.where(planted, (np.arange(200) % 2).astype(float), 0.0)
    losses[60:] = np.arange(140) % 20 == 0
    result = result_of(losses, {"long inputs": planted, "inputs of class no": other})
    np.testing.assert_allclose(result["group_loss"].sel(input_group="long inputs"), [0.5, 0.05])
    assert result["group_loss_n_examples"].sel(input_group="long inputs").values.tolist() == [60, 140]
    found = [finding for finding in lossier_groups(Numbers(result)) if finding.topic.startswith("Long")]
    assert found[0].topic == "Long inputs lose more than others" and found[0].verdict == "holds"
    assert "over 2 groups" in found[0].text


def test_nothing_is_said_of_groups_that_cannot_be_told_apart() -> None:
    said = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        masks = {f"group {number}": random.random(100) < 0.4 for number in range(6)}
        said += len(list(lossier_groups(Numbers(result_of((random.random(100) < 0.1).astype(float), masks)))))
    assert said <= 2  # of 120 groups
    assert not list(lossier_groups(Numbers(result_of(np.zeros(60), {"one": np.arange(60) < 20}))))


def test_changed_predictions_are_kept_with_the_surest_first() -> None:
    made = task("classification", 4)
    before = np.array([[2.0, 0.0], [0.0, 5.0], [0.0, 1.0], [1.0, 0.0]])
    after = np.array([[0.0, 1.0], [5.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    found = task_judge(made).changed(before, after)
    assert [row["text"] for row in found] == ["text 1", "text 0"]
    assert found[0] == {"text": "text 1", "label": "yes", "before": "yes", "after": "no"}


def test_changed_numbers_are_kept_with_the_furthest_first() -> None:
    made = task("regression", 3)
    found = task_judge(made).changed(np.zeros((3, 1)), np.array([[0.5], [0.0], [-2.0]]))
    assert [(row["text"], row["after"]) for row in found] == [("text 2", -2.0), ("text 0", 0.5)]


def test_pairs_that_moved_have_each_text_once() -> None:
    examples = tuple(task("classification", 4).dev)
    before = unit(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]))
    after = before.copy()
    after[1] = [0.0, 1.0]
    found = embedding_judge(examples).changed(before, after)
    assert {found[0]["text"], found[0]["other"]} in ({"text 0", "text 1"}, {"text 1", "text 3"}, {"text 1", "text 2"})
    texts = [row[name] for row in found for name in ("text", "other")]
    assert len(texts) == len(set(texts))
    moved = abs(before @ before.T - after @ after.T)
    assert abs(found[0]["before"] - found[0]["after"]) == pytest.approx(moved.max())
    assert not embedding_judge(examples).changed(before, before)


def test_long_texts_are_cut_and_segments_are_parted() -> None:
    long = Example("made:0", (Sentence("word " * 100),), (Sentence("end"),))
    assert len(text_of(long)) == LETTERS + 1 and text_of(long).endswith("…")
    assert text_of(Example("made:1", (Sentence("one"), Sentence("two")), (Sentence("three"),))) == "one two | three"


def test_share_of_changed_predictions() -> None:
    draws = poisson_draws(range(40), 0, 200)
    made = xr.Dataset(changed_share(np.arange(40) < 10, range(40), draws))
    assert float(made["changed_share"]) == 0.25
    lower, upper = made["changed_share_ci"].values
    assert 0.1 < lower < 0.25 < upper < 0.4
    assert "25.0%" in changed(Numbers(made)).text
    none = changed_share(np.zeros(40, bool), range(40), draws)["changed_share_ci"].values
    assert none[0] == 0 < none[1]


def test_share_of_what_neurons_add() -> None:
    values = [np.array([4.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 0.0, 5.0])]
    np.testing.assert_allclose(share_added(values, ((0, 2), (0, 3))), [0.7, 1.0])


def test_page_has_all_models_in_its_first_figure_and_what_stays_of_each_layer(tmp_path: Path) -> None:
    options: dict[str, Any] = {"size": "0.0655MB", "epochs": 0, "groups": 2}
    result = run(idle(), headscope.read(TEXTS), Settings(resamples=50), directory=tmp_path, **options)
    np.testing.assert_allclose(result["kept_share"].sel(kept="neurons"), 0.5)
    np.testing.assert_allclose(result["kept_share"].sel(kept="output_of_neurons"), 1, atol=1e-6)
    page = study_page(result)
    chart: Any = page.figures()[0].chart.to_dict()
    records = next(iter(chart["datasets"].values())) if "datasets" in chart else chart["layer"][0]["data"]["values"]
    assert {row["model"] for row in records} == {
        *("each step, untrained", "saved model", "longest weights, untrained", "random parts, untrained")
    }
    assert [table.name for table in page.tables()] == ["forms", "steps", "scores"]  # no similarity moved
