"""Sets of labels: F1 equals a slow loop, labels share a mix, and a planted set is read where it stands."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import Settings
from headscope.errors import HeadscopeError
from headscope.report.study_page import study_page
from headscope.studies.layers.layers import study
from headscope.studies.layers.layers.features import ClassifierSettings
from headscope.studies.layers.layers.groups import Answers, CaseGroup, Units, grouped
from headscope.studies.layers.layers.measure import UnitDraws, measured
from headscope.studies.layers.layers.sampling import RARE, TaskCases, named, sample
from headscope.studies.layers.layers.tasks.spans import own_tasks
from headscope.studies.layers.layers.texts import split
from headscope.studies.layers.layers.train import f1_parts
from support.findings import all_texts_of
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=20)
FAST: dict[str, Any] = {"cases": 120, "penalties": "10", "random": False, "codes": False}
LETTERS = "abcdefgh"


def test_f1_equals_a_loop_over_decisions() -> None:
    random = np.random.default_rng(0)
    gold, guess = random.integers(0, 2, (4, 30)), random.integers(0, 2, (4, 30, 2))
    answers = [Answers("task", 2, {"report": labels}, label=str(number)) for number, labels in enumerate(gold)]
    loss, base = f1_parts(
        answers, [(one != labels[:, None]).astype(float) for one, labels in zip(guess, gold, strict=True)]
    )
    for space in range(2):
        both = sum(int(gold[at] and guess[at][space]) for at in np.ndindex(gold.shape))
        given, right = guess[..., space].sum(), gold.sum()
        precision, recall = both / given, both / right
        assert 1 - loss[:, space].sum() / base[:, space].sum() == pytest.approx(
            2 * precision * recall / (precision + recall)
        )


def group_of(sets: np.ndarray, tables: int) -> CaseGroup:
    parts = {"train": slice(0, 200), "choose": slice(200, 250), "report": slice(250, 400)}
    rows = {part: np.arange(400)[some] for part, some in parts.items()}
    answers = [
        Answers("task", 2, {part: labels[some] for part, some in parts.items()}, label=str(number))
        for number, labels in enumerate(sets)
    ]
    return CaseGroup({part: some[:, None] for part, some in rows.items()}, rows, answers)


def test_planted_sets_are_read_in_their_space_by_one_mix() -> None:
    random = np.random.default_rng(1)
    sets = random.integers(0, 2, (3, 400))
    tables = [random.normal(size=(400, 8)).astype(np.float16) for _ in range(4)]
    tables[2][:, :3] += 4 * sets.T
    draws = UnitDraws(range(400), 0, 50)
    settings = ClassifierSettings(penalties=(1.0,), codes=True)
    (task,) = measured([group_of(sets, 4)], tables, settings, draws, torch.device("cpu")).values()
    assert task.score.mean[2] > 0.9 > 0.8 > task.score.mean[[0, 1, 3]].max() and task.chosen == 2
    assert task.mix is not None and task.mix[2] > 0.5 and abs(task.mix.sum() - 1) < 1e-5
    assert task.cumulative is not None and task.cumulative.mean[2] > 0.9 > task.cumulative.mean[1]
    assert task.report_cases == 150 and task.trained.code[2] < task.trained.code[1]
    assert (task.score.interval[2, 0] <= task.score.mean[2]) and (task.score.mean[2] <= task.score.interval[2, 1])


def lines(path: Path, rows: list[dict], **more: Any) -> headscope.Corpus:
    path.write_text("\n".join(json.dumps(row | more) for row in rows), encoding="utf-8")
    return headscope.read(path, kind="spans")


def words(number: int, label: Any = None) -> list[dict]:
    """A text of two words, with a case for each: the word is its label."""
    one, other = LETTERS[number % 3], LETTERS[3 + number % 2]
    text = f"{one} {other} {number}"
    return [{"text": text, "span": span, "label": label or word} for span, word in (([0, 1], one), ([2, 3], other))]


ROWS = [row for number in range(60) for row in words(number)]


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model, tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    rows = [row | {"group": "first" if row["span"] == [0, 1] else "second"} for row in ROWS]
    corpus = lines(tmp_path_factory.mktemp("spans") / "own.jsonl", rows)
    return study.run(model, (corpus,), QUICK, **FAST)


def test_labelled_spans_are_the_task_and_groups_are_scored_apart(result: xr.Dataset) -> None:
    assert result["task"].values.tolist() == ["span_label", "span_label: first", "span_label: second"]
    assert result["score_n_examples"].values.tolist() == [24, 12, 12]
    overall, first, second = result["score"].transpose("task", ...).values
    np.testing.assert_allclose(overall, (first + second) / 2)
    assert float(result["score_embeddings"].sel(task="span_label")) == 1  # the word is the label
    assert json.loads(result.attrs["left_out"]) == {}
    scores = next(table for table in study_page(result).tables() if table.name == "scores")
    assert [labels[0] for labels, _ in scores.rows] == [f"label of a span{end}" for end in ("", ": first", ": second")]


def test_no_text_is_both_trained_on_and_tested(tmp_path: Path) -> None:
    corpus = lines(tmp_path / "own.jsonl", sorted(ROWS, key=lambda row: row["span"]))  # each text comes twice
    texts = split([corpus], [], 0.2, 0)
    parts = {part: {texts.sentences[number].text for number in numbers} for part, numbers in texts.order.items()}
    assert not parts["report"] & (parts["train"] | parts["choose"]) and len(parts["report"]) >= 10


def test_sets_ask_for_each_label_and_rare_ones_together(tmp_path: Path) -> None:
    labels = [["a", "b"], ["a"], [], ["c"]]
    rows = [{"text": f"x {at}", "span": [0, 1], "label": labels[at % 3 if at != 7 else 3]} for at in range(90)]
    texts = split([lines(tmp_path / "own.jsonl", rows)], [], 0.2, 0)
    (task,) = sample(texts, named("all", own_tasks(texts)), 500, 0)[0]
    assert isinstance(task, TaskCases) and task.task.is_set and task.classes == ("a", "b", RARE)
    (group,) = grouped([task], Units(), 0)
    own = [answers for answers in group.answers if not answers.control]
    assert [(answers.label, answers.classes) for answers in own] == [("a", 2), ("b", 2), (RARE, 2)]
    total = {answers.label: sum(numbers.sum() for numbers in answers.numbers.values()) for answers in own}
    assert total == {"a": 59, "b": 30, RARE: 1}  # row 7 has a rare label in the place of "a"


def test_a_result_of_sets_names_its_unit(model: headscope.Model, tmp_path: Path) -> None:
    rows = [row | {"label": [row["label"], "letter"]} for row in ROWS]
    result = study.run(model, (lines(tmp_path / "own.jsonl", rows),), QUICK, **FAST)
    assert "of the labels (F1) in layer" in " ".join(all_texts_of(result).values())
    assert 0.9 < result["score_embeddings"].item() <= 1


def test_refusals(model: headscope.Model, tmp_path: Path) -> None:
    one = lines(tmp_path / "one.jsonl", ROWS)
    pairs = lines(tmp_path / "pairs.jsonl", ROWS, other_span=[2, 3])
    with pytest.raises(HeadscopeError, match=r"one.jsonl' has one span a line and .*pairs.jsonl' has two spans a line"):
        study.run(model, (one,), QUICK, trainings=(pairs,), **FAST)
    alike = lines(tmp_path / "alike.jsonl", [row | {"label": "a"} for row in ROWS])
    with pytest.raises(HeadscopeError, match=r"gives no task \(span_label: one class \('a'\)\); give it more lines"):
        study.run(model, (alike,), QUICK, **FAST)
    few = lines(tmp_path / "few.jsonl", ROWS[:6])
    with pytest.raises(HeadscopeError, match=r"no answer has 5 training cases\); give it more lines"):
        study.run(model, (few,), QUICK, **FAST)
    groups = [row | {"group": str(number)} for number, row in enumerate(ROWS * 2)]
    many = lines(tmp_path / "many.jsonl", [row | {"text": f"{row['text']} {row['group']}"} for row in groups])
    with pytest.raises(HeadscopeError, match=r"labelled spans have .* groups, at most 20 are scored apart"):
        study.run(model, (many,), QUICK, **FAST)


def test_spans_behind_the_end_of_what_the_model_reads_are_counted(model: headscope.Model, tmp_path: Path) -> None:
    rows, room = list[dict](), model.max_tokens
    for number in range(60):
        text = f"{LETTERS[number % 3]} {'a ' * room}{number}"
        spans = [[0, 1]] if number % 3 else [[0, 1], [2 * room, 2 * room + 1]]
        rows += [{"text": text, "span": span, "label": LETTERS[number % 3]} for span in spans]
    cut = Settings(resamples=20, long="truncate")
    result = study.run(model, (lines(tmp_path / "far.jsonl", rows),), cut, **FAST)
    said = {finding.topic: finding.text for finding in study_page(result).findings()}
    lost = json.loads(result.attrs["tasks"])["span_label"]["lost"]
    assert 15 <= lost <= 20 and said["Without a token"].endswith(f"label of a span {lost}.")
    late = [row | {"span": [2 * room, 2 * room + 1]} for row in rows if row["span"] == [0, 1]]
    with pytest.raises(HeadscopeError, match="no span has a token that the model reads; shorten the texts"):
        study.run(model, (lines(tmp_path / "late.jsonl", late),), cut, **FAST)
    tested = lines(tmp_path / "tested.jsonl", [row for row in rows if row["span"] == [0, 1]])
    with pytest.raises(HeadscopeError, match="no case to train on has a token that the model reads; shorten the texts"):
        study.run(model, (tested,), cut, trainings=(lines(tmp_path / "late.jsonl", late),), **FAST)
