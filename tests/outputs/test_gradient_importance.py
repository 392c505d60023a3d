"""Importance by gradient: against finite differences in double precision, and against what the programs compute."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from torch import Tensor, nn
from transformers import (
    BertForMaskedLM,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    GPT2ForSequenceClassification,
)

import headscope
from headscope import Corpus, HeadscopeError, Model, Settings
from headscope.corpora.tasks import Task, TaskKind
from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example, Sentence
from headscope.outputs.gradient_importance import gate_gradients, importance
from headscope.outputs.importance_estimators import ESTIMATORS, Cumulative, to_variables
from headscope.outputs.losses import Target
from headscope.outputs.task_inputs import TaskInputs, task_inputs
from headscope.statistics.bootstrap import poisson_draws, tally
from headscope.statistics.intervals import effective_units, interval
from support.planted_task import planted_classifier, planted_task
from support.tiny import tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary

TEXTS = ("the cat.", "a dog", "it was a bird, was it", "town", "she saw the old house")
LAYERS, HEADS, WIDTH = 2, 4, 6
QUICK = Settings(resamples=20)
SMALL: dict[str, Any] = {"hidden_size": HEADS * WIDTH, "num_hidden_layers": LAYERS}
DEBERTA: dict[str, Any] = SMALL | {
    "vocab_size": len(tiny_vocabulary()),
    "num_attention_heads": HEADS,
    "intermediate_size": 32,
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "num_labels": 3,
}
MODELS: dict[str, Callable[[], Any]] = {
    "bert": lambda: tiny_bert(kind=BertForSequenceClassification, num_labels=3, **SMALL),
    "gpt2": lambda: tiny_gpt2(kind=GPT2ForSequenceClassification, num_labels=3),
    "deberta-v2": lambda: tiny_network(DebertaV2Config(**DEBERTA), kind=DebertaV2ForSequenceClassification),
    "a score": lambda: tiny_bert(kind=BertForSequenceClassification, num_labels=1, **SMALL),
    "masked words": lambda: tiny_bert(kind=BertForMaskedLM, **SMALL),
}
KINDS: dict[str, TaskKind] = {"a score": "regression", "masked words": "masked"}
LABELS = {"classification": ("x", "y", "z", "x", "y"), "regression": (0.5, -1.0, 2.0, 3.0, 0.0), "masked": (None,) * 5}


@cache
def model_of(name: str) -> Model:
    """In double precision, where a difference of 1e-5 in a gate shows to ten digits."""
    return headscope.wrap(MODELS[name]().double(), tiny_tokenizer())


def task_of(name: str) -> Task:
    kind = KINDS.get(name, "classification")
    examples = [
        Example(str(n), (Sentence(text),), label=label)
        for n, (text, label) in enumerate(zip(TEXTS, LABELS[kind], strict=True))
    ]
    corpus = Corpus("made", "0" * 64, len(examples), {}, partial(iter, examples))
    labels = ("x", "y", "z") if kind == "classification" else ()
    return Task(name="made", kind=kind, labels=labels, metrics=("accuracy",), dev=corpus)


def questions(model: Model, task: Task) -> tuple[TaskInputs, list[Target]]:
    inputs = task_inputs(model, task, task.dev)
    return inputs, list(inputs.masked_pieces or task.targets(task.dev).tolist())


def examples_of(model: Model, task: Task) -> list[tuple[Encoded, Target]]:
    inputs, answers = questions(model, task)
    return list(zip(inputs.inputs, answers, strict=True))


def found(name: str, settings: Settings = QUICK) -> dict[str, xr.DataArray]:
    task = task_of(name)
    return importance(model_of(name), task, task.dev, settings)


def losses_of(model: Model, kind: TaskKind, encoded: Encoded, answer: Target, copies: int = 1) -> Tensor:
    """The loss of one unpadded example, by transformers' own attention, from its definition; for each of its copies."""
    inputs: Any = {name: torch.from_numpy(values).expand(copies, -1) for name, values in encoded.inputs.items()}
    logits = model.network(**inputs).logits
    if kind == "regression":
        return (logits[:, 0] - answer) ** 2
    if kind == "classification":
        return -logits.log_softmax(-1)[:, int(answer)]
    asked: Any = answer
    return -sum(
        (logits[:, n].log_softmax(-1)[:, piece] for n, piece in enumerate(asked) if piece >= 0), torch.zeros(())
    )


@contextmanager
def hooked(model: Model, at: Callable[[int, Tensor], Tensor]) -> Iterator[None]:
    """`at(layer, contexts)` makes what each output projection is given: [copy, token, head, width]."""

    def change(module: nn.Module, args: tuple[Tensor, ...], layer: int) -> tuple[Tensor]:
        return (at(layer, args[0].unflatten(-1, (HEADS, -1))).flatten(2),)

    handles = [
        projection.output.register_forward_pre_hook(partial(change, layer=layer))
        for layer, projection in enumerate(model.projections)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def differences(model: Model, kind: TaskKind, encoded: Encoded, answer: Target, step: float = 1e-5) -> np.ndarray:
    """Central differences of the loss of an example in each gate [token, layer, head]: one copy for each."""
    shape = (len(encoded), LAYERS, HEADS)
    copies = int(np.prod(shape))
    bumps = torch.eye(copies, dtype=torch.float64).reshape(copies, *shape)
    sides = []
    for gates in (1 + step * bumps, 1 - step * bumps):

        def scale(layer: int, contexts: Tensor, gates: Tensor = gates) -> Tensor:
            return contexts * gates[:, :, layer, :, None]

        with hooked(model, scale):
            sides.append(losses_of(model, kind, encoded, answer, copies))
    return ((sides[0] - sides[1]) / (2 * step)).reshape(shape).numpy()


@cache
def slopes_of(name: str) -> list[np.ndarray]:
    model, task = model_of(name), task_of(name)
    return [differences(model, task.kind, *example) for example in examples_of(model, task)]


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_finite_differences_also_on_padded_batches(name: str, blocks_of: Callable[..., None]):
    blocks_of(5)
    model, task = model_of(name), task_of(name)
    ((batch, gradients),) = gate_gradients(*questions(model, task))
    assert not batch.real.all(), "some are padded"
    for index, slopes, real in zip(batch.index.tolist(), gradients, batch.real, strict=True):
        expected = slopes_of(name)[index].reshape(int(real.sum()), -1)
        np.testing.assert_allclose(slopes[real], expected, rtol=1e-5, atol=1e-8)
        assert not slopes[~real].any()
        assert np.abs(expected).max() > 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_each_estimator_is_its_definition_of_finite_differences(name: str):
    slopes = slopes_of(name)
    tokens = sum(map(len, slopes))
    michel, code, pruner, script = np.zeros((4, LAYERS, HEADS))
    sofar = np.zeros((LAYERS, HEADS))
    for example in slopes:
        michel += np.abs(example.sum(0)) / len(slopes)
        code += np.abs(example).sum(0) / np.array([[tokens], [len(slopes)]])
        pruner += example.sum(0) / len(slopes)
        sofar += example.sum(0)
        script += np.abs(sofar) / tokens
    expected = np.stack([michel, code, np.abs(pruner), script], axis=-1)
    np.testing.assert_allclose(found(name)["importance"], expected, rtol=1e-5, atol=1e-9)
    assert (np.ptp(expected, axis=(0, 1)) > 1e-4).all()


@pytest.mark.parametrize("name", MODELS)
def test_batches_change_no_number(name: str):
    together, single = found(name), found(name, Settings(resamples=20, batch_tokens=1))
    for variable in together:
        np.testing.assert_allclose(together[variable], single[variable], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["bert", "deberta-v2"])
def test_text_pruner_is_the_weights_times_their_gradients(name: str):
    model, task = model_of(name), task_of(name)
    asked = examples_of(model, task)
    weights: list[Any] = [projection.output.weight for projection in model.projections]
    loss = torch.cat([losses_of(model, task.kind, *example) for example in asked]).mean()
    products = [weight * gradient for weight, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True)]
    expected = torch.stack([product.unflatten(1, (HEADS, -1)).sum((0, 2)).abs() for product in products])
    np.testing.assert_allclose(found(name)["importance"].sel(estimator="text_pruner"), expected.detach(), rtol=1e-5)


def test_run_bertology_is_the_script_that_never_sets_gradients_to_zero():
    model, task = model_of("bert"), task_of("bert")
    mask = torch.ones(LAYERS, HEADS, 1, dtype=torch.float64, requires_grad=True)
    head_importance, tokens = torch.zeros(LAYERS, HEADS), 0
    with hooked(model, lambda layer, contexts: contexts * mask[layer]):
        for encoded, answer in examples_of(model, task):
            losses_of(model, task.kind, encoded, answer).sum().backward()
            assert mask.grad is not None
            head_importance = head_importance + mask.grad[..., 0].abs()
            tokens += len(encoded)
    expected = (head_importance / tokens).numpy()
    variables = found("bert")
    np.testing.assert_allclose(variables["importance"].sel(estimator="run_bertology"), expected, rtol=1e-5)
    expected = expected / np.linalg.norm(expected, axis=-1, keepdims=True)
    expected = (expected - expected.min()) / (expected.max() - expected.min())
    np.testing.assert_allclose(variables["importance_normalised"].sel(estimator="run_bertology"), expected, rtol=1e-5)
    model.network.zero_grad()


def test_michel_code_is_the_output_times_its_gradient_token_by_token():
    model, task = model_of("bert"), task_of("bert")
    head_importance, tokens, kept = np.zeros((LAYERS, HEADS)), 0, {}

    def keep(layer: int, contexts: Tensor) -> Tensor:
        kept[layer] = contexts
        return contexts

    asked = examples_of(model, task)
    with hooked(model, keep):
        for encoded, answer in asked:
            loss = losses_of(model, task.kind, encoded, answer)
            gradients = torch.autograd.grad(loss.sum(), [kept[0], kept[1]])
            for layer, gradient in enumerate(gradients):
                dot = torch.einsum("bthi,bthi->bth", gradient, kept[layer])
                head_importance[layer] += dot.abs().sum((0, 1)).detach().numpy()
            tokens += len(encoded)
    expected = head_importance / np.array([[tokens], [len(asked)]])
    np.testing.assert_allclose(found("bert")["importance"].sel(estimator="michel_code"), expected, rtol=1e-5)


def test_importance_is_normalised_within_its_layer():
    variables = found("bert")
    for name in ("michel", "michel_code", "text_pruner"):
        raw, normalised = (
            variables[variable].sel(estimator=name) for variable in ("importance", "importance_normalised")
        )
        np.testing.assert_allclose((normalised**2).sum("head"), 1)
        np.testing.assert_allclose(normalised * np.sqrt((raw**2).sum("head")), raw)


def test_the_interval_resamples_examples_with_their_tokens():
    variables = found("bert", Settings(resamples=200, seed=5))
    draws = poisson_draws(range(5), seed=5, resamples=200)
    drawn = []
    for times in draws:
        again = [example for example, n in zip(slopes_of("bert"), times, strict=True) for _ in range(int(n))]
        if again:
            code = sum(np.abs(example).sum(0) for example in again) / np.array([[sum(map(len, again))], [len(again)]])
            signed = np.array([example.sum(0) for example in again])
            drawn.append(np.stack([np.abs(signed).mean(0), code, np.abs(signed.mean(0))], axis=-1))
    # wider than the plain percentiles: there are five examples
    expected = interval(np.array(drawn), effective_units(draws.sum(1)))
    np.testing.assert_allclose(variables["importance_ci"][:, :, :3], expected, rtol=1e-5, atol=1e-9)
    assert variables["importance_ci"].sel(estimator="run_bertology").isnull().all()


@pytest.mark.parametrize("decides", [(2, 3), (1, 1), (1, 4)])
def test_the_head_that_decides_is_found_first(decides: tuple[int, int]):
    model, task = headscope.wrap(planted_classifier(decides), tiny_tokenizer()), planted_task()
    result = importance(model, task, task.training(), QUICK)["importance"]
    for name in ESTIMATORS:
        scores = result.sel(estimator=name)
        layer, head = np.unravel_index(int(scores.values.argmax()), scores.shape)
        assert (layer + 1, head + 1) == decides, name
        assert scores.values.max() > 10 * np.sort(scores.values.ravel())[-2], name


def test_progress_is_told_every_example_once():
    counts: list[int] = []
    found("bert", Settings(resamples=5, batch_tokens=20, on_progress=counts.append))
    assert sum(counts) == len(TEXTS) and len(counts) > 1


def test_the_model_is_as_before():
    model = headscope.wrap(MODELS["bert"](), tiny_tokenizer())
    task = task_of("bert")
    network: Any = model.network
    network.classifier.bias.requires_grad_(False)
    before = {name: parameter.requires_grad for name, parameter in network.named_parameters()}
    importance(model, task, task.dev, QUICK)
    assert {name: parameter.requires_grad for name, parameter in network.named_parameters()} == before
    assert all(parameter.grad is None for parameter in network.parameters())
    assert network.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_is_refused(value: float):
    model, task = headscope.wrap(MODELS["bert"](), tiny_tokenizer()), task_of("bert")
    network: Any = model.network
    with torch.no_grad():
        network.classifier.bias[0] = value
    with pytest.raises(HeadscopeError) as error:
        importance(model, task, task.dev, Settings(resamples=5, batch_tokens=1))
    assert str(error.value).startswith("model 'in memory': the loss of example ")
    assert str(error.value).endswith(" is nan; use --dtype float32, or another model")
    assert all(parameter.requires_grad for parameter in network.parameters())


def test_examples_may_come_in_any_order_and_wait_for_their_turn():
    values = np.random.default_rng(0).normal(size=(7, 3))
    shuffled = Cumulative()
    for index in ([3, 1], [0], [6, 2], [5, 4]):
        shuffled.add(index, values[index])
    np.testing.assert_allclose(np.asarray(shuffled.total), np.abs(values.cumsum(0)).sum(0))
    assert not shuffled.waiting


def test_layers_with_fewer_heads():
    draws, valid = np.ones((2, 1)), np.ones(1, dtype=bool)
    sums = {name: tally(np.array([[3.0, 4, 5]]), valid, draws) for name in ("size", "absolute", "signed")}
    sums["tokens"] = tally(np.array([[2.0]]), valid, draws)
    cumulative = Cumulative()
    cumulative.add([0], np.array([[3.0, 4, 5]]))
    variables = to_variables(sums, cumulative, (2, 1))
    michel, code, *_ = np.moveaxis(variables["importance"].values, -1, 0)
    np.testing.assert_array_equal(michel, [[3, 4], [5, np.nan]])
    np.testing.assert_array_equal(code, [[1.5, 2], [5, np.nan]])
    np.testing.assert_allclose(variables["importance_normalised"][..., 0], [[0.6, 0.8], [1, np.nan]])


def test_a_head_for_another_kind_of_task_is_refused():
    model, task = headscope.wrap(MODELS["masked words"](), tiny_tokenizer()), task_of("bert")
    with pytest.raises(HeadscopeError, match=r"model 'in memory' gives outputs of shape .*, not one class or number"):
        importance(model, task, task.dev, QUICK)
