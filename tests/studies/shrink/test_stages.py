"""A target reached in stages: what each has to reach, the training between them, and a run that was killed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headscope
from headscope import HeadscopeError, Model, Settings
from headscope.report.study_page import study_page
from headscope.studies.shrink.answers import answers_of
from headscope.studies.shrink.distillation import DistillationSet, DistilledExamples, distilled
from headscope.studies.shrink.losses import LossWeights
from headscope.studies.shrink.moments import moments_of
from headscope.studies.shrink.page.path_figure import points
from headscope.studies.shrink.sizes import Size, original_of
from headscope.studies.shrink.splits import encode
from headscope.studies.shrink.stages import aims, retrained, without
from headscope.studies.shrink.study import run
from headscope.studies.shrink.target import TRAINING, SizeTarget
from headscope.training.recipe import TrainingRecipe
from support.idle_neurons import TEXTS
from support.planted_task import planted_classifier, planted_task
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=50)
OPTIONS: dict[str, Any] = {"size": "0.05MB", "groups": 4, "vocabulary": 1.0, "epochs": 2, "batches": "1", "tokens": "8"}


def tiny(seed: int = 0) -> Model:
    """A tiny encoder."""
    return headscope.wrap(tiny_bert(seed), tiny_tokenizer())


def test_targets_of_the_stages_change_by_one_factor() -> None:
    assert aims(SizeTarget(2.0, 30.0), 90.0, 1) == [SizeTarget(2.0, 30.0)]
    speeds, sizes = zip(*((aim.speed, aim.megabytes) for aim in aims(SizeTarget(8.0, 10.0), 80.0, 3)), strict=True)
    assert speeds == pytest.approx([2.0, 4.0, 8.0]) and sizes == pytest.approx([40.0, 20.0, 10.0])
    assert aims(SizeTarget(None, 95.0), 90.0, 2)[0].megabytes == 90.0  # the start has less than the target


def test_what_is_measured_after_a_training_is_of_the_trained_model() -> None:
    """Naive: the moments of the smaller model itself, and a model of its size is itself."""
    model = tiny()
    inputs = encode(model, tuple(headscope.read(TEXTS)))
    original = original_of(model, inputs, QUICK, 0.1)
    size = Size((0, 2), 8, 4)
    trained = original.cut(size)
    with torch.no_grad():
        for name, weight in trained.network.named_parameters():
            if "embeddings." not in name:
                weight.mul_(1.1)
    kept = original.kept(size)
    again = without(retrained(original, size, trained, inputs, QUICK), kept)
    answers = answers_of(model, None)
    same = answers.of(again.cut(size), inputs, QUICK)
    np.testing.assert_allclose(same, answers.of(trained, inputs, QUICK), atol=1e-5)
    own = moments_of(trained, original_of(trained, inputs, QUICK, 0.1).parts, inputs, QUICK)
    assert kept.neurons is not None
    for number, layer in enumerate(size.layers):
        some = list(kept.neurons[layer])
        np.testing.assert_allclose(again.moments[layer].sums[some], own[number].sums, rtol=1e-4, atol=1e-4)
        gone = [neuron for neuron in range(32) if neuron not in some]
        assert not again.moments[layer].sums[gone].any() and np.isneginf(again.of_neurons[layer][gone]).all()
    further = again.kept(replace(size, width=4)).neurons
    assert further is not None and all(set(further[layer]) <= set(kept.neurons[layer]) for layer in size.layers)


@pytest.mark.parametrize("method", [pytest.param("estimate", marks=pytest.mark.thorough), "magnitude"])
def test_a_training_is_a_step_and_what_is_gone_stays_gone(method: Any, tmp_path: Path) -> None:
    """Held-out scores of the steps after it are those of the trained model: less changed than without training."""
    result = run(tiny(), headscope.read(TEXTS), QUICK, directory=tmp_path, method=method, stages=2, **OPTIONS)
    parts = result["part"].values.tolist()
    step = parts.index(TRAINING)
    assert parts.count(TRAINING) == 1 and 0 < step < len(parts) - 1
    known = json.loads(result.attrs["shrinking"])
    assert known["reached"] and known["stages"] == 2 and known["megabytes"][1] <= 0.05
    assert result["output_change"][step] < result["output_change"][step - 1]
    assert result["megabytes"][step] == result["megabytes"][step - 1] and np.isnan(result["estimated_change"][step])
    neurons = result["layer_neurons"].values.sum(1)
    assert (np.diff(neurons) <= 0).all()
    page = study_page(result)
    assert {point.line for point in points(result)} >= {"each step, trained after each stage", "saved model"}
    said = " ".join(one.text for one in page.findings())
    assert f"{TRAINING} -" in said and "after each of 2 stages of the search" in said and "nan" not in said


def test_narrower_embeddings_stay_so_through_a_training(tmp_path: Path) -> None:
    options: dict[str, Any] = OPTIONS | {"size": "0.06MB", "parts": "neurons,layers,embeddings"}
    result = run(tiny(), headscope.read(TEXTS), QUICK, directory=tmp_path, stages=3, **options)
    known = json.loads(result.attrs["shrinking"])
    assert known["reached"] and known["model_class"][1] == "AlbertModel"
    assert result["part"].values.tolist().count(TRAINING) == 2
    np.testing.assert_allclose(result["reloaded_score"], result["shrunk_score"], atol=1e-5)


def test_tables_are_not_trained_between_stages(tmp_path: Path) -> None:
    model, corpus = tiny(), headscope.read(TEXTS)
    inputs, answers = encode(model, tuple(corpus)), answers_of(model, None)
    smaller = original_of(model, inputs, QUICK, 0.1).cut(Size((0, 2), 8, 4))
    pieces, weights = torch.arange(model.network.config.vocab_size), LossWeights(1.0, 1.0)
    learned = DistillationSet(inputs, model, answers, pieces, (0, 2), weights)
    examples, recipe = DistilledExamples(learned, inputs, answers.of(model, inputs, QUICK)), TrainingRecipe(epochs=1)
    trained = distilled(smaller, examples, corpus, recipe, QUICK, tmp_path / "run", tables=False)
    both = zip(smaller.network.named_parameters(), trained.network.parameters(), strict=True)
    same = {name for (name, weight), other in both if torch.equal(weight, other)}
    tables = ("word", "position", "token_type")
    assert same >= {f"embeddings.{table}_embeddings.weight" for table in tables}
    assert not any(name.startswith("encoder.") for name in same)


@pytest.mark.thorough
def test_layers_that_differ_and_a_task(tmp_path: Path) -> None:
    model, task = headscope.wrap(planted_classifier(), tiny_tokenizer()), planted_task()
    options: dict[str, Any] = OPTIONS | {"size": "80%", "stages": 2, "fine": True}
    result = run(model, task.dev, QUICK, directory=tmp_path, task=task, **options)
    known = json.loads(result.attrs["shrinking"])
    assert known["reached"] and TRAINING in result["part"].values.tolist()
    np.testing.assert_allclose(result["reloaded_score"], result["shrunk_score"], atol=1e-5)


@pytest.mark.parametrize(("size", "best_effort"), [("0.001MB", True), ("99%", False)])
def test_no_training_between_where_a_stage_has_no_end_or_nothing_to_do(
    size: str, best_effort: bool, tmp_path: Path
) -> None:
    """The smallest model is found in the first stage; unused pieces alone reach the other target."""
    options: dict[str, Any] = OPTIONS | {"size": size, "best_effort": best_effort, "stages": 2, "vocabulary": 0.0}
    result = run(tiny(), headscope.read(TEXTS), QUICK, directory=tmp_path, **options)
    assert TRAINING not in result["part"].values.tolist() and (result.sizes["step"] > 2) == best_effort


@pytest.mark.parametrize("after", [5, *(pytest.param(after, marks=pytest.mark.thorough) for after in (1, 3, 8))])
def test_killed_anywhere_it_goes_on_with_the_same_result(after: int, tmp_path: Path) -> None:
    options: dict[str, Any] = OPTIONS | {"stages": 3, "size": "0.045MB"}
    texts, expected = headscope.read(TEXTS), []
    for folder, killed in ((tmp_path / "once", None), (tmp_path / "killed", after)):
        calls = 0

        def stop(done: int, killed: int | None = killed) -> None:
            nonlocal calls
            calls += done
            if killed is not None and calls > killed:
                raise KeyboardInterrupt

        if killed is not None:
            with pytest.raises(KeyboardInterrupt):
                run(tiny(), texts, replace(QUICK, on_progress=stop), directory=folder, **options)
        expected.append(run(tiny(), texts, QUICK, directory=folder, **options))
    one, other = expected
    assert one["part"].values.tolist() == other["part"].values.tolist()
    np.testing.assert_array_equal(one["path_score"], other["path_score"])
    assert one.attrs["shrunk_sha256"] == other.attrs["shrunk_sha256"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epochs": 0}, "--stages 2 trains after each of them; give --epochs 1 or more"),
        ({"method": "gates"}, "--method gates has no stages"),
        ({"within_interval": True, "size": None}, "--within-interval has no stages"),
        ({"parts": "neurons,eight-bit"}, "a search with eight-bit among its --parts has no stages"),
    ],
)
def test_stages_that_have_nothing_to_do_are_refused(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=said):
        run(tiny(), headscope.read(TEXTS), QUICK, directory=tmp_path, stages=2, **OPTIONS | options)
