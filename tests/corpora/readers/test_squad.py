"""Questions and passages in the JSON of SQuAD: where answers stand, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from headscope import HeadscopeError
from headscope.corpora.tasks import read as read_task

CONTEXT = "The Normans came to Normandy. They were Norse."
ANSWERS = [{"text": "Normandy", "answer_start": 20}, {"text": "to Normandy", "answer_start": 17}] * 2
ASKED: dict[str, Any] = {"id": "1", "question": "Where did they come to?", "answers": ANSWERS}


def written(folder: Path, *asked: Any, name: str = "dev-v1.1.json") -> Path:
    paragraphs = [{"context": CONTEXT, "qas": [question]} for question in asked]
    (folder / name).write_text(json.dumps({"version": "1.1", "data": [{"title": "Normans", "paragraphs": paragraphs}]}))
    return folder


def test_an_answer_is_where_it_stands_and_a_passage_is_a_document(tmp_path: Path) -> None:
    task = read_task("squad", written(tmp_path, ASKED, ASKED, {"id": "2", "question": "Why?", "answers": []}))
    first, second = task.dev
    assert (first.first[0].text, first.second[0].text) == (ASKED["question"], CONTEXT)
    assert first.label == "20:28 17:28" and first.document != second.document
    assert (task.kind, task.metrics, task.train) == ("span", ("word_f1", "exact_match"), None)
    assert task.dev.skipped == {"questions without an answer": 1}


def test_wrong_files_are_refused_and_wrong_passages_may_be_left_out(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=r"no split 'dev'; name the folder that has its dev-v1\.1\.json"):
        read_task("squad", tmp_path)
    wrong = ASKED | {"answers": [{"text": "Normandy", "answer_start": 3}]}
    with pytest.raises(HeadscopeError, match="line 1: answer 'Normandy' does not stand at character 3"):
        read_task("squad", written(tmp_path, wrong, ASKED))
    assert read_task("squad", tmp_path, skip_bad=True).dev.n_examples == 1
    for text, message in (("{", "is not JSON"), ("[]", "is no object with 'data'"), ("{}", "no 'data'")):
        (tmp_path / "dev-v1.1.json").write_text(text)
        with pytest.raises(HeadscopeError, match=message):
            read_task("squad", tmp_path)
