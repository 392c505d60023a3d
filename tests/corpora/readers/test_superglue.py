"""Tasks of SuperGLUE in the JSON lines that it is published in: texts, choices, labels, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from headscope import HeadscopeError, read
from headscope.corpora.tasks import Task, chance
from headscope.corpora.tasks import read as read_task

COPA: dict[str, Any] = {
    "premise": "My body cast a shadow over the grass.",
    "choice1": "The sun was rising.",
    "choice2": "The grass was cut.",
    "question": "cause",
    "label": 0,
    "idx": 0,
}
MULTIRC: dict[str, Any] = {
    "idx": 0,
    "passage": {
        "text": "Ann ran. She fell.",
        "questions": [
            {
                "idx": 0,
                "question": "Who fell?",
                "answers": [{"text": "Ann", "idx": 0, "label": 1}, {"text": "Tom", "idx": 1, "label": 0}],
            }
        ],
    },
}
WSC: dict[str, Any] = {
    "text": "Mark told Pete many lies, which Pete included. He should have been more truthful.",
    "target": {"span1_text": "Mark", "span1_index": 0, "span2_text": "He", "span2_index": 8},
    "label": True,
    "idx": 0,
}
PASSAGE = "Ann met Tom in Rome.\n@highlight\nTom, born Thomas, left."
RECORD: dict[str, Any] = {
    "passage": {
        "text": PASSAGE,
        "entities": [
            {"start": PASSAGE.index(name), "end": PASSAGE.index(name) + len(name) - 1}
            for name in ("Thomas", "Rome", "Ann", "Tom")
        ],
    },
    "qas": [
        {"query": "@placeholder went away.", "answers": [{"text": "Thomas"}, {"text": "Tom"}], "idx": 0},
        {"query": "@placeholder sang.", "answers": [{"text": "Eve"}], "idx": 1},
    ],
}


def written(folder: Path, *lines: Any, name: str = "val.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


def texts(task: Task) -> list[tuple[str, list[str], Any]]:
    return [(item.first[0].text, [choice.text for choice in item.second], item.label) for item in task.dev]


@pytest.mark.parametrize("inner", ["COPA", "."])
def test_copa_asks_for_a_cause_or_an_effect(tmp_path: Path, inner: str) -> None:
    written(tmp_path / "COPA", COPA, COPA | {"question": "effect", "label": 1})
    written(tmp_path / "COPA", COPA, name="train.jsonl")
    task = read_task("copa", tmp_path / inner)
    premise, choices = COPA["premise"], [COPA["choice1"], COPA["choice2"]]
    assert texts(task) == [
        (f"{premise} What was the cause of this?", choices, "0"),
        (f"{premise} What happened as a result?", choices, "1"),
    ]
    assert (task.kind, task.labels, task.metrics) == ("choice", (), ("accuracy",))
    assert task.targets(task.dev).tolist() == [0, 1] and task.training().n_examples == 1
    assert chance(task, task.targets(task.dev)).tolist() == [0.5]


def test_names_of_the_passage_fill_the_query_and_other_right_ones_are_no_choices(tmp_path: Path) -> None:
    task = read_task("record", written(tmp_path / "ReCoRD", RECORD))
    choices = ["Ann went away.", "Tom went away.", "Rome went away."]
    assert texts(task) == [("Ann met Tom in Rome. Tom, born Thomas, left.", choices, "1")]
    assert task.dev.skipped == {"queries whose answer is no name of the passage": 1}


def test_answers_stand_with_their_question_and_a_passage_is_a_document(tmp_path: Path) -> None:
    task = read_task("multirc", written(tmp_path / "MultiRC", MULTIRC, MULTIRC))
    assert texts(task)[:2] == [
        ("Ann ran. She fell.", ["Who fell? Ann"], "1"),
        ("Ann ran. She fell.", ["Who fell? Tom"], "0"),
    ]
    assert (task.kind, task.labels, task.metrics) == ("classification", ("0", "1"), ("f1", "accuracy"))
    assert task.dev.n_examples == 4 and task.dev.n_documents == 2


def test_a_noun_phrase_takes_the_place_of_the_pronoun(tmp_path: Path) -> None:
    moved = WSC | {"target": WSC["target"] | {"span2_index": 2}}
    task = read_task("wsc", written(tmp_path / "WSC", WSC, moved, WSC | {"label": False}))
    second = WSC["text"].replace("He", "Mark")
    assert texts(task) == [(WSC["text"], [second], "True"), (WSC["text"], [second], "False")]
    assert task.dev.skipped == {"pronouns that do not stand at their index": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (COPA | {"label": 2}, r"line 1: label 2 is not in 0\.\.1"),
        (COPA | {"question": "why"}, "line 1: question 'why' is not one of cause, effect"),
        ({"premise": "It rained."}, "line 1: no 'question'"),
        ([1], "line 1: not an object"),
    ],
)
def test_a_wrong_line_is_named_and_may_be_left_out(tmp_path: Path, line: Any, message: str) -> None:
    written(tmp_path, line, COPA)
    with pytest.raises(HeadscopeError, match=message):
        read_task("copa", tmp_path)
    assert read_task("copa", tmp_path, skip_bad=True).dev.n_examples == 1


def test_missing_files_name_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=r"no split 'dev' of COPA; name the folder that has its val\.jsonl"):
        read_task("copa", tmp_path)
    with pytest.raises(HeadscopeError, match=r"no SuperGLUE task 'cope'; did you mean 'COPA'"):
        read(str(tmp_path), kind="superglue", task="cope")
    assert read_task("copa", written(tmp_path, COPA)).train is None


def test_a_limit_draws_evenly_over_the_right_choices(tmp_path: Path) -> None:
    written(tmp_path, *(COPA | {"label": number // 20} for number in range(40)))
    task = read_task("copa", tmp_path, limit=10)
    assert task.targets(task.dev).tolist() == [0] * 5 + [1] * 5
    assert task.dev.drawn == "10 of 40, drawn evenly over labels, seed 0"
