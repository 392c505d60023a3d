"""Predictions that stay: all of a model that reads one word, those of a naive count, and fewer where words are gone."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from transformers import BertForSequenceClassification

import headscope
from headscope import Settings
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.linguistics.sentence import Example
from headscope.report.study_page import study_page
from headscope.studies.size.ablate.perturbed import by_perturbation
from support.planted_task import planted_classifier, planted_task
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=50)


def of_pairs(task: Task) -> Task:
    """The same examples, each beside the sentence before it, which comes first."""
    examples = list(task.dev)
    pairs = [
        Example(one.id, other.first, one.first, label=one.label)
        for one, other in zip(examples, [examples[-1], *examples[:-1]], strict=True)
    ]
    dev = Corpus("pairs", "1", len(pairs), {}, partial(iter, pairs))
    return Task(name="pairs", kind="classification", labels=task.labels, metrics=task.metrics, dev=dev)


def measured(network: Any, task: Task) -> dict[str, xr.DataArray]:
    model = headscope.wrap(network, tiny_tokenizer())
    outputs = plain(model, task)
    return by_perturbation(model, task, outputs, QUICK)


def plain(model: headscope.Model, task: Task) -> np.ndarray:
    """The outputs for each example by itself."""
    texts = [[" ".join(one.text for one in segment) for segment in example.segments] for example in task.dev]
    network: Any = model.network
    tokenizer: Any = model.tokenizer
    return np.concatenate([network(**tokenizer(*text, return_tensors="pt")).logits.detach().numpy() for text in texts])


def test_a_model_that_looks_for_a_word_keeps_its_predictions_in_any_order() -> None:
    made = measured(planted_classifier(noise=0), planted_task())
    kept = made["prediction_kept"].sel(perturbation="words shuffled")
    assert float(kept) == 1 and float(made["perturbed_score"].sel(perturbation="words shuffled")) == 1
    assert float(made["kept_by_chance"].sel(perturbation="words shuffled")) == pytest.approx(0.5, abs=0.01)
    assert "second sentence emptied" not in made["prediction_kept"]["perturbation"]


def test_without_the_sentence_that_has_the_word_predictions_change() -> None:
    task = of_pairs(planted_task())  # a bird stands in one sentence of each pair: the answer is always yes
    made = measured(planted_classifier(noise=0), task)["prediction_kept"]
    assert float(made.sel(perturbation="second sentence emptied")) == 0.5
    assert float(made.sel(perturbation="first sentence emptied")) == 0.5


def test_shares_are_those_of_a_naive_count() -> None:
    network, task = tiny_bert(3, BertForSequenceClassification), of_pairs(planted_task(30))
    made = measured(network, task)
    model = headscope.wrap(network, tiny_tokenizer())
    single = [Example(one.id, one.first, label=one.label) for one in task.dev]
    emptied = Task(
        name="e", kind="classification", labels=task.labels, metrics=task.metrics,
        dev=Corpus("e", "2", len(single), {}, partial(iter, single)),
    )  # fmt: skip
    before, after = (plain(model, one).argmax(-1) for one in (task, emptied))
    where = {"perturbation": "second sentence emptied"}
    assert float(made["prediction_kept"].sel(where)) == pytest.approx(np.mean(before == after))
    assert float(made["perturbed_score"].sel(where)) == pytest.approx(np.mean(after == task.targets(task.dev)))
    by_chance = np.mean([one == other for one in before for other in after])
    assert float(made["kept_by_chance"].sel(where)) == pytest.approx(by_chance)


def test_the_result_and_its_page_have_them_unless_they_are_not_wanted(tmp_path: Path) -> None:
    model = headscope.wrap(planted_classifier(), tiny_tokenizer())
    result: Any = headscope.ablate(model, planted_task(), QUICK, directory=tmp_path / "a", importance=False)
    shuffled = result.sel(perturbation="words shuffled")
    assert float(shuffled["prediction_kept"]) == 1 and float(shuffled["kept_by_chance"]) == pytest.approx(0.5, abs=0.01)
    assert "perturbed" in [figure.name for figure in study_page(result).figures()]
    options: dict[str, Any] = {"importance": False, "perturbations": False}
    without: Any = headscope.ablate(model, planted_task(), QUICK, directory=tmp_path / "b", **options)
    assert "prediction_kept" not in without
