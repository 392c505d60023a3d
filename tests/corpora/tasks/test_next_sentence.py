"""Pairs of neighbouring sentences and others; a planted head for next sentences is right, and not in reverse order."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from transformers import BertForNextSentencePrediction, BertForPreTraining

import headscope
from headscope import HeadscopeError, Settings
from headscope.corpora.tasks import Task, read
from headscope.corpora.tasks.shortcuts import LEXICON
from headscope.front import from_options
from support.planted_overlap import overlap_model, overlap_tokenizer

NOUNS, VERBS = LEXICON["noun"], LEXICON["verb"]
# Of each document the second line repeats a noun of the first.
DOCUMENTS = [
    (f"The {NOUNS[2 * number]} {verb} the {NOUNS[2 * number + 1]}.", f"The {NOUNS[2 * number]}.")
    for number, verb in enumerate(VERBS)
]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"= Title {lines[0]} =\n{lines[0]}\n= = Section = =\n{lines[1]}\n" for lines in DOCUMENTS))
    return path


def test_every_second_pair_has_a_sentence_of_another_document(text: Path) -> None:
    task = read("next-sentence", text)
    follows = dict(DOCUMENTS)
    assert task.labels == ("next", "other") and task.dev.n_examples == len(DOCUMENTS)
    for number, example in enumerate(task.dev):
        first, second = (segment[0].text for segment in example.segments)
        assert (follows[first] == second) == (example.label == "next") == (number % 2 == 0)
    assert read("next-sentence", text, limit=4).dev.n_examples == 4
    assert list(read("Next_Sentence", text).dev) == list(task.dev)


def test_of_one_document_the_other_sentence_is_not_near(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("".join(f"Line {number}.\n" for number in range(12)))
    for example in read("next-sentence", path).dev:
        one, other = (int(segment[0].text[5:-1]) for segment in example.segments)
        assert (other == one + 1) == (example.label == "next")
        assert example.label == "next" or abs(other - one) >= 2


def test_a_text_may_be_packed_of_any_suffix_and_of_any_kind(text: Path, tmp_path: Path) -> None:
    def firsts(task: Task) -> list[str]:
        return [example.first[0].text for example in task.dev]

    expected = firsts(read("next-sentence", text))
    packed = tmp_path / "wiki.test.raw.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    other = text.rename(tmp_path / "text.lines")
    assert firsts(read("next-sentence", packed)) == expected == firsts(read("next-sentence", f"text:{other}"))
    given = {"data": other, "columns": None, "skip_bad": False, "regression": None, "kind": "text", "limit": 4}
    task = from_options.task(given | {"task": "next-sentence", "corpus": "sample"}, {})
    assert firsts(task) == firsts(read("next-sentence", packed, limit=4))
    with pytest.raises(HeadscopeError, match="does not exist"):
        read("next-sentence", tmp_path / "none.txt")


def test_a_text_without_neighbours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "short.txt"
    path.write_text("One line.\n")
    with pytest.raises(HeadscopeError, match="has 0 pairs of neighbouring sentences"):
        read("next-sentence", path)


@pytest.mark.parametrize("kind", [BertForNextSentencePrediction, BertForPreTraining])
def test_a_planted_head_is_right_and_order_decides(kind: Any, text: Path, tmp_path: Path) -> None:
    overlap: Any = overlap_model(("next", "other"))
    network = kind(overlap.config)
    network.bert.load_state_dict(overlap.bert.state_dict())
    network.cls.load_state_dict(
        network.cls.state_dict()
        | {f"seq_relationship.{name}": value for name, value in overlap.classifier.state_dict().items()}
    )
    network.save_pretrained(tmp_path / "model")
    overlap_tokenizer().save_pretrained(tmp_path / "model")
    task = read("next-sentence", text)
    model = headscope.load(str(tmp_path / "model"), head=True)
    result: Any = headscope.ablate(
        model, task, Settings(resamples=20), directory=tmp_path / "out", importance=False, mode="zero"
    )
    assert float(result["baseline"].sel(metric="accuracy")) == 1
    kept = result["prediction_kept"].sel(perturbation="sentences swapped")
    assert float(kept) == 0.5  # what follows no longer does, and what does not still does not
    assert float(result["head_gain"].sel(layer=1, head=1, metric="accuracy")) == -0.5
