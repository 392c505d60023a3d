"""Texts of one's own: labels that the whole model answers, and texts in the place of a task's train split."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import AutoModelForSequenceClassification, BertForSequenceClassification

import headscope
from headscope import HeadscopeError, Model, Settings
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, chance, intervals
from headscope.linguistics.sentence import Example, Sentence
from headscope.outputs.outputs import logits
from headscope.outputs.promise import Promise
from headscope.report.study_page import study_page
from headscope.studies.size.shrink import groups
from headscope.studies.size.shrink.texts import encode, judged_by, split, task_texts
from support.every_study import run as run_command
from support.planted_task import LABELS, planted_classifier, planted_task, write_planted_task
from support.runs import shrink as run
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=50)
SMALL: dict[str, Any] = {"size": "0.001MB", "best_effort": True, "groups": 2}
WORDS = ("--size", "0.001MB", "--best-effort", "--groups", "2")
BIRDS = planted_task(60, 80)
TEXTS = [example.first[0].text for example in BIRDS.training()]


def birds() -> Model:
    """A classifier that answers "yes" where there is a bird."""
    return headscope.wrap(planted_classifier(), tiny_tokenizer())


def scorer(seed: int = 0) -> Model:
    """A model with random weights that gives a score."""
    network = tiny_bert(seed, BertForSequenceClassification, num_hidden_layers=2, num_labels=1)
    return headscope.wrap(network, tiny_tokenizer())


def three_classes() -> Model:
    """A model with random weights that gives three classes about as often."""
    network: Any = tiny_bert(3, BertForSequenceClassification, num_hidden_layers=2, num_labels=3)
    model = headscope.wrap(network, tiny_tokenizer())
    means = logits(model, encode(model, tuple(headscope.read(TEXTS)))).mean(0)
    with torch.no_grad():
        network.classifier.bias.sub_(torch.from_numpy(means))
    return model


def corpus_of(examples: Sequence[Example], name: str = "own.txt") -> Corpus:
    """Examples as a corpus."""
    return Corpus(name, "0" * 64, len(examples), {}, partial(iter, examples))


def facts(result: xr.Dataset) -> dict[str, Any]:
    """The sizes and options of a result."""
    return json.loads(result.attrs["shrinking"])


def texts_on(result: xr.Dataset) -> str:
    """All that the page of a result says."""
    page = study_page(result)
    return " ".join(f"{one.topic}. {one.text}" for one in (*page.highlights(), *page.findings()))


def answers_by_hand(folder: Path, texts: Sequence[str]) -> np.ndarray:
    """The outputs of a saved model, one text at a time."""
    network, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder).eval(), tiny_tokenizer()
    with torch.no_grad():
        return np.concatenate([network(**tokenizer(text, return_tensors="pt")).logits.numpy() for text in texts])


def test_pseudo_labels_are_the_answers_and_the_splits_those_of_plain_texts() -> None:
    corpus = headscope.read(TEXTS)
    model, task = judged_by(birds(), None, corpus, QUICK)
    task, texts = task_texts(model, corpus, task, QUICK)
    plain = split(model, corpus, None, QUICK.seed)
    assert task is not None and (task.labels, task.kind) == (LABELS, "classification")
    for labelled, unlabelled in (
        (texts.training, plain.training), (texts.stopping, plain.stopping), (texts.held_out, plain.held_out),
    ):  # fmt: skip
        assert [example.id for example in labelled] == [example.id for example in unlabelled] and len(labelled) > 4
        said = ["yes" if "bird" in example.first[0].text.split() else "no" for example in labelled]
        assert [example.label for example in labelled] == said
    assert tuple(task.dev) == texts.held_out


def test_scores_of_classes_are_agreement_with_the_whole_model(tmp_path: Path) -> None:
    model = three_classes()
    result = run(model, headscope.read(TEXTS), QUICK, directory=tmp_path, epochs=0, **SMALL)
    assert result["metric"].values.tolist() == ["class_agreement", "macro_f1_agreement"]
    assert result["whole_score"].values.tolist() == [1, 1]
    held_out = [example.first[0].text for example in split(model, headscope.read(TEXTS), None, 0).held_out]
    model.network.save_pretrained(tmp_path / "whole")
    before, after = (answers_by_hand(tmp_path / name, held_out).argmax(-1) for name in ("whole", "model"))
    agreement = float((before == after).mean())
    assert 0 < agreement < 1 and float(result["shrunk_score"][0]) == pytest.approx(agreement)
    assert result.attrs["n_examples"] == len(held_out) == 16
    counts = {f"LABEL_{number}": int((before == number).sum()) for number in range(3)}
    assert facts(result)["pseudo_labels"]["answers"] == counts


def test_agreement_is_judged_as_the_metric_that_it_is() -> None:
    """With bounds for answers of which none is lost, and with the score of a constant answer."""
    random = np.random.default_rng(0)
    outputs, targets = random.normal(size=(2, 20, 2)), random.integers(0, 2, 20).astype(float)
    for name, other in (("class_agreement", "accuracy"), ("macro_f1_agreement", "macro_f1")):
        found, expected = (
            Promise(metric, outputs[0].argmax(-1).astype(float), range(20), 0.02, 0, 50, in_order=True).gain(
                outputs[0], outputs[0], choosing=True
            )
            for metric in (name, other)
        )
        np.testing.assert_array_equal(found, expected)
        assert found[1] < 0
    drawn = np.ones((50, 2))
    bounds = intervals(["class_agreement", "pearson_agreement"], np.ones(2), drawn, 20)
    np.testing.assert_allclose(bounds, [[0.025 ** (1 / 20), 1], [1, 1]])
    regression = replace(BIRDS, kind="regression", labels=(), metrics=("pearson_agreement", "spearman_agreement"))
    assert chance(regression, targets).tolist() == [0, 0]


def test_scores_of_numbers_are_correlations_with_those_of_the_whole_model(tmp_path: Path) -> None:
    model = scorer()
    with patch.object(groups, "LEAST", 2):
        result = run(model, headscope.read(TEXTS), QUICK, directory=tmp_path, epochs=0, **SMALL)
    assert result["metric"].values.tolist() == ["pearson_agreement", "spearman_agreement"]
    held_out = [example.first[0].text for example in split(model, headscope.read(TEXTS), None, 0).held_out]
    model.network.save_pretrained(tmp_path / "whole")
    before, after = (answers_by_hand(tmp_path / name, held_out)[:, 0] for name in ("whole", "model"))
    correlation = float(np.corrcoef(before, after)[0, 1])
    assert correlation < 0.999 and float(result["shrunk_score"][0]) == pytest.approx(correlation, abs=1e-5)
    assert "label" not in facts(result)["changed"][0] and result["group_loss"].attrs["units"] == "absolute difference"
    assert "whole model's own answers" in texts_on(result) and "accuracy" not in texts_on(result)


@pytest.fixture(scope="module")
def pseudo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, xr.Dataset]:
    """The folder and the result of planted birds, without labels."""
    folder = tmp_path_factory.mktemp("pseudo")
    options: dict[str, Any] = SMALL | {"epochs": 1}
    with patch.object(groups, "LEAST", 2):
        return folder, run(birds(), headscope.read(TEXTS), QUICK, directory=folder, **options)


def test_page_and_card_say_whose_answers_the_labels_are(pseudo: tuple[Path, xr.Dataset]) -> None:
    folder, result = pseudo
    said, card = texts_on(result), (folder / "model" / "README.md").read_text()
    assert "of class agreement" in said and "accuracy" not in said + card
    assert "80 single texts have no labels, or are read without them" in said
    assert "not how often either is right" in said and "not how often either is right" in card
    assert re.search(r"Answers to held-out texts: 'no' to \d+, 'yes' to \d+\.", said)
    assert {"inputs that are answered yes", "inputs that are answered no"} < set(result["input_group"].values.tolist())
    assert result["group_loss"].attrs["units"] == "class agreement"


def test_a_class_that_is_never_the_answer_is_named(tmp_path: Path) -> None:
    model = three_classes()
    network: Any = model.network
    with torch.no_grad():
        network.classifier.bias[1] = -100
    network.config.id2label = {0: "sad", 1: "odd", 2: "glad"}
    result = run(model, headscope.read(TEXTS), QUICK, directory=tmp_path, epochs=0, **SMALL)
    assert facts(result)["pseudo_labels"]["unanswered"] == ["odd"]
    assert "The whole model answers none of these texts with them: odd." in texts_on(result)


def test_texts_in_which_one_answer_prevails_promise_nothing(tmp_path: Path) -> None:
    """A constant answer would agree with the whole model on 19 of 20 held-out texts."""
    without = [text.replace("bird", "cat") for text in TEXTS] * 2
    chosen = {example.id for example in split(birds(), headscope.read(without[:100]), None, 0).held_out}
    texts = list(headscope.read(without[:100]))
    first = next(number for number, example in enumerate(texts) if example.id in chosen)
    rows = [f"bird {text}" if number == first else text for number, text in enumerate(without[:100])]
    result = run(birds(), headscope.read(rows), QUICK, directory=tmp_path, epochs=0, **SMALL)
    assert float(result["chance"][0]) == 0.95 and "Too many of the answers are the same" in texts_on(result)
    assert "The smaller model loses less" not in texts_on(result)


def test_own_texts_are_read_in_the_place_of_the_train_split(tmp_path: Path) -> None:
    """Without a train split, too; dev with its labels scores."""
    wrongly = [replace(example, label="no") for example in BIRDS.training()]
    shared = [*list(BIRDS.dev)[:5], replace(list(BIRDS.dev)[5], id="empty", first=(Sentence(""),))]
    dev = [replace(example, label="yes" if example.label == "no" else "no") for example in list(BIRDS.dev)[:10]]
    task = replace(BIRDS, train=None, dev=corpus_of([*dev, *list(BIRDS.dev)[10:]], "dev"))
    result = run(birds(), corpus_of([*wrongly, *shared]), QUICK, directory=tmp_path, task=task, epochs=1, **SMALL)
    assert result["metric"].values.tolist() == ["accuracy", "f1"] and result.attrs["n_examples"] == 60
    assert float(result["whole_score"][0]) == pytest.approx(50 / 60)  # ten labels of dev are wrong
    assert facts(result)["own_texts"]["texts"] == 80 and facts(result)["examples"] == 72
    assert json.loads(result.attrs["skipped"]) == {"empty": 1, "in the dev split": 5}
    assert result.attrs["corpus"] == "own.txt, dev"
    said = texts_on(result)
    assert "80 single texts are searched and trained on instead" in said
    assert "Left out or cut: 1 empty, 5 in the dev split." in said and "of accuracy" in said


def test_the_search_reads_own_texts_alone() -> None:
    """A layer that only own texts need is not missed by the train split."""
    own = corpus_of([Example(str(number), (Sentence(text),)) for number, text in enumerate(TEXTS[:30])])
    task, texts = task_texts(birds(), own, BIRDS, QUICK)
    assert {example.id for example in (*texts.training, *texts.stopping)} == {example.id for example in own}
    assert texts.held_out == tuple(BIRDS.dev) and task is not None and task.dev is BIRDS.dev
    again, texts = task_texts(birds(), BIRDS.dev, BIRDS, QUICK)
    assert again is BIRDS and {one.id for one in texts.training} < {one.id for one in BIRDS.training()}


def pairs(number: int = 8) -> Corpus:
    """Pairs of texts."""
    return headscope.read([(TEXTS[one], TEXTS[one + 1]) for one in range(number)])


def multi_label() -> Model:
    """A model that gives several labels to a text."""
    network = tiny_bert(0, BertForSequenceClassification, num_labels=3, problem_type="multi_label_classification")
    return headscope.wrap(network, tiny_tokenizer())


def of_same_names() -> Model:
    """A model with two classes of one name."""
    network = tiny_bert(0, BertForSequenceClassification, num_labels=3, id2label={0: "a", 1: "b", 2: "a"})
    return headscope.wrap(network, tiny_tokenizer())


def cross_encoder() -> Model:
    """A model whose configuration is that of a cross-encoder of sentence-transformers."""
    model = birds()
    network: Any = model.network
    network.config.sentence_transformers = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "6.2.0"}
    return model


REFUSED: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "one text": (birds, lambda: headscope.read(TEXTS[:1]), {}, "has 1 text that the model can read; at least 2"),
    "single texts": (
        cross_encoder, None, {},
        "a cross-encoder, reads pairs of texts, example 'list:1' is a single text; .* --columns FIRST,SECOND",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_pseudo_labels_are_refused(name: str, tmp_path: Path) -> None:
    make, texts, options, words = REFUSED[name]
    with pytest.raises(HeadscopeError, match=words):
        run(make(), texts() if texts else headscope.read(TEXTS), QUICK, directory=tmp_path, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("make", "bird"), [(multi_label, "bird"), (of_same_names, "bird"), (birds, "cat")])
def test_embeddings_are_judged_where_answers_tell_nothing(make: Any, bird: str) -> None:
    """Several answers to a text, classes of one name, and texts that are all answered alike."""
    said: list[str] = []
    settings, corpus = (
        replace(QUICK, on_notice=said.append),
        headscope.read([text.replace("bird", bird) for text in TEXTS]),
    )
    model, task = judged_by(make(), None, corpus, settings)
    task, texts = task_texts(model, corpus, task, settings)
    assert task is None and len(texts.held_out) == 16 and all(example.label is None for example in texts.held_out)
    assert len(said) == 1 and said[0].endswith("its embeddings are judged instead; name its task with --task")


REFUSED_BESIDE: dict[str, tuple[Any, Task, str]] = {
    "one text": (lambda: headscope.read(TEXTS[:1]), BIRDS, "at least 2 are needed: .* others choose the epoch"),
    "of dev alone": (lambda: corpus_of(list(BIRDS.dev)), BIRDS, "has no text .* read, 60 in the dev split; at least 2"),
    "pairs": (pairs, BIRDS, "'birds' reads single texts, example 'list:1' is a pair of texts; .* --columns TEXT"),
    "single texts": (
        lambda: headscope.read(TEXTS), replace(BIRDS, dev=pairs()),
        "'birds' reads pairs of texts, example 'list:1' is a single text; name a table, .* with --columns FIRST,SECOND",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_BESIDE)
def test_texts_beside_a_task_are_refused(name: str, tmp_path: Path) -> None:
    texts, task, words = REFUSED_BESIDE[name]
    with pytest.raises(HeadscopeError, match=words):
        run(birds(), texts(), QUICK, directory=tmp_path, task=task)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a classifier, a file of texts, an empty one, and a task without a train split."""
    folder = tmp_path_factory.mktemp("own")
    save_tiny(folder / "tuned", planted_classifier())
    save_tiny(folder / "cross-encoder", planted_classifier())
    kind = {"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.linear.Identity"}
    (folder / "cross-encoder" / "config_sentence_transformers.json").write_text(json.dumps(kind))
    write_planted_task(folder / "birds", BIRDS)
    (folder / "birds" / "train.tsv").unlink()
    (folder / "own.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    (folder / "empty.txt").write_text("")
    return folder


@pytest.mark.parametrize("task", [True, False])
def test_the_commands_shrink_and_verify(task: bool, folder: Path, tmp_path: Path) -> None:
    words = ["--task", "birds", "--data", folder / "birds"] if task else []
    given = (folder / "tuned", folder / "own.txt", *words, *WORDS, "--epochs", "1", "--resamples", "20")
    ended = run_command("shrink", *given, out=tmp_path)
    assert ended.status == 0, ended.errors
    assert ended.steps[0] == ended.steps[1]
    ended = run_command("verify", tmp_path, "--json")
    assert ended.status == 0, ended.errors
    before, now = json.loads(ended.output)["scores"]["accuracy" if task else "class_agreement"]
    assert before == now
    assert ("own answers" in (tmp_path / "report.html").read_text()) == (not task)


@pytest.mark.parametrize(
    ("model", "texts", "words", "message"),
    [
        ("cross-encoder", "own.txt", [], "a cross-encoder, reads pairs of texts, example 'own.txt:1'"),
        ("tuned", "empty.txt", [], "empty.txt"),
        ("tuned", "empty.txt", ["--task", "birds"], "empty.txt"),
    ],
)
def test_bad_input_is_one_line(
    model: str, texts: str, words: list[str], message: str, folder: Path, tmp_path: Path
) -> None:
    data = ["--data", str(folder / "birds")] if "--task" in words else []
    ended = run_command("shrink", folder / model, folder / texts, *words, *data, out=tmp_path, page=False)
    assert ended.status == 2 and message in ended.errors and "Traceback" not in ended.errors
    assert len([line for line in ended.errors.splitlines() if line.startswith("headscope: ")]) == 1
