"""The study `ablate` on planted models: what it finds, what it keeps, and what it refuses."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from transformers import BertForMaskedLM, BertForSequenceClassification

from headscope import HeadscopeError, Settings, wrap
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, masked
from headscope.linguistics.sentence import Example, Sentence
from headscope.storage.codec import encode
from headscope.storage.lines import line_of, record_of
from support.cli import run_command
from support.planted_task import DECIDES, planted_classifier, planted_task
from support.runs import ablate as run
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

SETTINGS = Settings(resamples=40)
TEXTS = ("the cat saw the old bird.", "a dog ran", "she was in town, not at school.", "it", "they sat.", "he saw her")
DECISIVE = dict(zip(("layer", "head"), DECIDES, strict=True))


def model_of(network: Any) -> Any:
    return wrap(network, tiny_tokenizer())


def corpus(labels: tuple[float, ...] = (0.5, 1.0, 2.5, 3.0, 1.5, 4.0)) -> Corpus:
    examples = [Example(text, (Sentence(text),), label=label) for text, label in zip(TEXTS, labels, strict=True)]
    return Corpus("texts", "0" * 64, len(examples), {}, partial(iter, examples))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    model, task = model_of(planted_classifier()), planted_task()
    return run(model, task, SETTINGS, directory=tmp_path_factory.mktemp("ablate"), heads=["1-1,2-2;2-3", "2-*"])


def test_the_head_that_decides_is_found(found: xr.Dataset) -> None:
    accuracy = found.sel(metric="accuracy")
    assert accuracy["baseline"].item() == 1.0
    assert accuracy["head_score"].sel(DECISIVE).item() == 0.5
    assert (accuracy["head_score"] == 1.0).sum() == accuracy["head_score"].size - 1
    np.testing.assert_array_equal(accuracy["layer_score"], [1.0, 0.5])
    assert dict(zip(found["head_set"].values, accuracy["set_score"].values, strict=True)) == {
        "1-1,2-2": 1.0, "2-3": 0.5, "2-*": 0.5
    }  # fmt: skip
    significant = found["head_q_value"] < 0.05
    assert significant.sum() == 1 and significant.sel(DECISIVE)


def test_importance_finds_it_too(found: xr.Dataset) -> None:
    for estimator in found["estimator"].values:
        best = found["importance"].sel(estimator=estimator)
        best = best[best.argmax(...)]
        assert (best["layer"].item(), best["head"].item()) == DECIDES
    assert found.attrs["importance_corpus"] == "train, 64 examples"
    assert set(found["rank_correlation"].dims) == {"estimator", "metric"}


def test_the_result_says_how_it_was_made(found: xr.Dataset) -> None:
    assert found.attrs["task"] == "birds" and found.attrs["mode"] == "uniform"
    assert found.attrs["sweep"].startswith("from the layer of the disabled head, the last layer")
    assert found.attrs["n_examples"] == 40 and found.attrs["n_tokens"] > 200
    assert found["metric"].values.tolist() == ["accuracy", "f1", "cross_entropy"]


def test_the_same_call_goes_on_and_another_mode_starts_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, task = model_of(planted_classifier()), planted_task()
    notices = list[str]()
    settings = replace(SETTINGS, on_notice=notices.append)
    run(model, task, settings, directory=tmp_path, mode="zero", importance=False)
    first = run(model, task, settings, directory=tmp_path)
    assert ["begun with mode zero, now it is uniform" in notice for notice in notices] == [True]
    monkeypatch.setattr(type(model.network), "forward", None)
    again = run(model, task, SETTINGS, directory=tmp_path, metrics="matthews, accuracy", perturbations=False)
    assert again["metric"].values.tolist() == ["matthews", "accuracy"]
    xr.testing.assert_identical(again["head_score"].sel(metric="accuracy"), first["head_score"].sel(metric="accuracy"))
    xr.testing.assert_identical(again["importance"], first["importance"])


def test_a_forged_journal_of_importance_is_not_read(tmp_path: Path) -> None:
    """Right in its checksums, wrong in its types or sizes."""
    model, task, path = model_of(planted_classifier()), planted_task(), tmp_path / "ablate.passes/importance/pass-1"
    first = run(model, task, SETTINGS, directory=tmp_path, mode="mean")
    header, line = path.read_bytes().splitlines(keepends=True)
    for change in (
        lambda sums: sums["tallies"].pop(),
        lambda sums: sums["cumulative"].update(total=encode(np.zeros(3))),
        lambda sums: sums.update(cumulative=1),
        lambda sums: sums["tallies"][0][1].update(resampled_total=encode(np.zeros((40, 5)))),
    ):
        notices, record = list[str](), record_of(line)
        assert record is not None
        change(record["part"]["state"][0])
        path.write_bytes(header + line_of(record))
        again = run(model, task, replace(SETTINGS, on_notice=notices.append), directory=tmp_path, mode="mean")
        xr.testing.assert_identical(again.drop_attrs(), first.drop_attrs())
        assert [str(path) in notice and notice.endswith("; the pass starts again") for notice in notices] == [
            False,
            True,
        ]


def test_without_importance_nothing_is_said_of_it(tmp_path: Path) -> None:
    found = run(model_of(planted_classifier()), planted_task(), SETTINGS, directory=tmp_path, importance=False)
    assert not {"importance", "rank_correlation"} & set(found.data_vars)


def test_masked_words_need_no_labels(tmp_path: Path) -> None:
    network: Any = tiny_bert(kind=BertForMaskedLM)
    found = run(model_of(network), masked(corpus()), SETTINGS, directory=tmp_path)
    assert found["metric"].values.tolist() == ["loss"]
    assert found["baseline"].item() > 0
    lost = (found["head_score"] - found["baseline"]).transpose(*found["head_gain"].dims)
    np.testing.assert_allclose(found["head_gain"], -lost, atol=1e-6)
    assert "head_p_value" not in found and found.attrs["importance_corpus"] == "texts, 6 examples"


def test_numbers_that_are_predicted(tmp_path: Path) -> None:
    network: Any = tiny_bert(kind=BertForSequenceClassification, num_labels=1)
    task = Task(name="scores", kind="regression", metrics=("pearson", "spearman"), dev=corpus())
    found = run(model_of(network), task, SETTINGS, directory=tmp_path)
    assert found["metric"].values.tolist() == ["pearson", "spearman", "squared_error"]
    assert not found["head_score"].isnull().any() and "head_p_value" not in found


def refused(directory: Path, words: str, network: Any = None, task: Task | None = None, **given: Any) -> None:
    with pytest.raises(HeadscopeError, match=words):
        run(model_of(network or planted_classifier()), task or planted_task(), SETTINGS, directory=directory, **given)
    assert not list(directory.iterdir()) or network


def test_what_makes_no_sense_is_refused_before_anything_is_computed(tmp_path: Path) -> None:
    refused(tmp_path, "metric 'acuracy' does not score a .* task; did you mean 'accuracy'", metrics="acuracy")
    refused(tmp_path, "metric 'loss' does not score a classification task; there are: accuracy", metrics="loss")
    refused(tmp_path, "head '3-1' does not exist: layers are 1 to 2", heads=["1-1", "3-1"])
    refused(tmp_path, "heads 'all': 'all' is no head; write LAYER-HEAD", heads=["all"])


def test_a_model_that_does_not_fit_the_task_is_refused(tmp_path: Path) -> None:
    three = tiny_bert(kind=BertForSequenceClassification, num_labels=3)
    refused(tmp_path, r"has 3 outputs .*; use a model that was fine-tuned on this task", three)
    named = planted_classifier()
    named.config.id2label = {0: "cat", 1: "dog"}
    refused(tmp_path, "has the labels cat, dog, task 'birds' has no, yes", named)
    refused(tmp_path, "has no task head; name one that was trained on the task", tiny_bert(num_labels=2))


def test_outputs_in_another_order_are_put_right(tmp_path: Path, found: xr.Dataset) -> None:
    turned = planted_classifier()
    classifier: Any = turned.classifier
    classifier.weight.data = classifier.weight.data.flip(0)
    turned.config.id2label = {0: "yes", 1: "no"}
    other = run(model_of(turned), planted_task(), SETTINGS, directory=tmp_path)
    np.testing.assert_allclose(other["head_score"].sel(metric="accuracy"), found["head_score"].sel(metric="accuracy"))


def test_a_task_folder_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    model, task = save_tiny(tmp_path / "model", planted_classifier()), tmp_path / "task"
    task.mkdir()
    (task / "train.tsv").write_text("sentence\tlabel\na bird\tyes\na cat\tno\n")
    given = ("ablate", model, "--task", "birds", "--data", task, "-o", tmp_path / "out")
    answer = run_command(*given)
    assert answer.exit_code == 2 and "no dev split in folder" in answer.output
    (task / "dev.tsv").write_text("sentence\tlabel\na bird\tyes\nold bird\tyes\n")
    answer = run_command(*given)
    assert answer.exit_code == 2 and "have the label 'yes'" in " ".join(answer.output.split())
    assert not (tmp_path / "out" / "result.nc").exists()


def test_a_labelled_table_is_a_task_of_a_classifier(tmp_path: Path) -> None:
    labels = {"id2label": {0: "0", 1: "1"}, "label2id": {"0": 0, "1": 1}}
    save_tiny(tmp_path / "model", tiny_bert(0, BertForSequenceClassification, num_hidden_layers=1, **labels))
    rows = [f"{text}\t{number % 2}" for number, text in enumerate((*TEXTS, *TEXTS))]
    (tmp_path / "reviews.tsv").write_text("\n".join(["sentence\tlabel", *rows, ""]), encoding="utf-8")
    (tmp_path / "plain.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    words = ["ablate", str(tmp_path / "model"), str(tmp_path / "reviews.tsv"), "-o", str(tmp_path / "out")]
    ended = run_command(*words, "--resamples", "5", "--no-figures")
    assert ended.exit_code == 0 and "reviews.tsv (dev half), 6 examples" in ended.output, ended.output
    words[2] = str(tmp_path / "plain.txt")
    ended = run_command(*words, "--resamples", "5", "--no-figures", "--overwrite")
    assert ended.exit_code == 2 and "not words; name its task with --task NAME --data FOLDER, or" in ended.stderr
