"""Gradients by attention: against finite differences in double precision, and attentions that keep their gradients."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import (
    BertForMaskedLM,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2Model,
    GPT2ForSequenceClassification,
    GPT2LMHeadModel,
    PreTrainedModel,
)

import headscope
from headscope import Corpus, HeadscopeError, Model, Settings
from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.masking import IGNORED
from headscope.linguistics.sentence import Example, Sentence
from headscope.outputs.losses import Target
from headscope.statistics.bootstrap import Tally
from headscope.studies.words.gradients.attention_gradients import gradients
from headscope.studies.words.gradients.objectives import Objective, objective_of
from support.passes import pass_over
from support.planted_task import planted_classifier, planted_task
from support.tiny import tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary

TEXTS = ("the cat.", "a dog", "it was a bird, was it", "town", "she saw, the house.")
LAYERS, HEADS = 2, 4
QUICK = Settings(resamples=10)
SMALL: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": LAYERS}
DEBERTA: dict[str, Any] = SMALL | {
    "vocab_size": len(tiny_vocabulary()),
    "num_attention_heads": HEADS,
    "intermediate_size": 32,
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
}
MODELS: dict[str, Callable[[], PreTrainedModel]] = {
    "task": lambda: tiny_bert(kind=BertForSequenceClassification, num_labels=3, **SMALL),
    "score": lambda: tiny_bert(kind=BertForSequenceClassification, num_labels=1, **SMALL),
    "causal task": lambda: tiny_gpt2(kind=GPT2ForSequenceClassification, num_labels=3),
    "masked words": lambda: tiny_bert(kind=BertForMaskedLM, **SMALL),
    "next words": lambda: tiny_gpt2(kind=GPT2LMHeadModel),
    "embedding": lambda: tiny_bert(**SMALL),
    "embedding, softmax tap": lambda: tiny_network(DebertaV2Config(**DEBERTA), kind=DebertaV2Model),
}
LABELS = ("x", "y", "z", "x", "y")


def corpus_of(texts: tuple[str, ...] = TEXTS, labels: tuple[Any, ...] = LABELS) -> Corpus:
    examples = [
        Example(str(number), (Sentence(text),), label=label)
        for number, (text, label) in enumerate(zip(texts, labels, strict=False))
    ]
    return Corpus("made", "0" * 64, len(examples), {}, partial(iter, examples))


def task_of(name: str) -> Task | None:
    if name == "score":
        return Task(
            name="made", kind="regression", metrics=("pearson",), dev=corpus_of(labels=(0.5, -1.0, 2.0, 3.0, 0.0))
        )
    if "task" in name:
        return Task(name="made", kind="classification", labels=("x", "y", "z"), metrics=("accuracy",), dev=corpus_of())
    return None


@cache
def model_of(name: str) -> Model:
    """In double precision, where finite differences show many digits."""
    return headscope.wrap(MODELS[name]().double(), tiny_tokenizer())


@cache
def asked(name: str) -> tuple[Objective, list[Encoded]]:
    model, task = model_of(name), task_of(name)
    corpus = task.dev if task else corpus_of()
    return objective_of(model, corpus, task), list(Words(model.tokenizer, 64, aligned=True).encode(corpus))


def found(name: str, settings: Settings = QUICK) -> dict[str, Tally]:
    objective, inputs = asked(name)
    return gradients(pass_over(model_of(name), inputs, settings), objective).value


def tensors(encoded: Encoded, copies: int = 1) -> dict[str, Any]:
    return {name: torch.from_numpy(values).expand(copies, -1) for name, values in encoded.inputs.items()}


def loss_of(name: str, network: Any, encoded: Encoded, answer: Target, copies: int = 1) -> tuple[Tensor, Any]:
    """The loss of one unpadded example from its definition, for each of its copies; and the network's output."""
    output = network(**tensors(encoded, copies), output_attentions=True)
    asked: Any = answer
    if name == "score":
        return (output.logits[:, 0] - asked).square(), output
    if "task" in name:
        return -output.logits.log_softmax(-1)[:, int(asked)], output
    positions = [number for number, piece in enumerate(asked.tolist()) if piece != IGNORED]
    if "words" in name:
        logs = output.logits.log_softmax(-1)
        return -torch.stack([logs[:, position, asked[position]] for position in positions]).mean(0), output
    inputs = tensors(encoded)
    inputs["input_ids"] = inputs["input_ids"].clone()
    for position in positions:
        inputs["input_ids"][0, position] = int(asked[position])
    with torch.no_grad():
        target = network(**inputs).last_hidden_state.mean(1)
    mean = output.last_hidden_state.mean(1)
    return 1 - (mean * target).sum(-1) / mean.norm(dim=-1) / target.norm(dim=-1), output


@cache
@torch.enable_grad()
def slopes_of(name: str) -> list[np.ndarray]:
    """|dLoss/dA| of each example [layer, head, query, key], by transformers' own eager attention."""
    network, objective, slopes = MODELS[name]().double(), asked(name)[0], []
    network.set_attn_implementation("eager")
    for encoded in asked(name)[1]:
        loss, output = loss_of(name, network, *objective.question(encoded))
        maps = torch.autograd.grad(loss.sum(), output.attentions)
        slopes.append(torch.cat(maps).abs().numpy())
    return slopes


def means(slopes: np.ndarray, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The mean over some queries and some keys; NaN if there are none."""
    part = slopes[:, :, queries][..., keys]
    return part.mean((-2, -1)) if part.size else np.full(slopes.shape[:2], np.nan)


def expected(name: str) -> dict[str, np.ndarray]:
    """The mean over examples of each kind of weight, [layer, head, token_class] and [..., query group, ...]."""
    by_class, by_group = [], []
    for slopes, encoded in zip(slopes_of(name), asked(name)[1], strict=True):
        classes = [encoded.token_class == kind for kind in range(4)]
        all_queries = np.ones(len(encoded), dtype=bool)
        by_class.append(np.stack([means(slopes, all_queries, kind) for kind in classes], axis=-1))
        groups = [
            np.stack([means(slopes, group, kind) for kind in classes], axis=-1) for group in (classes[1], classes[0])
        ]
        by_group.append(np.stack(groups, axis=-2))
    return {"gradient": _mean(by_class), "gradient_from": _mean(by_group)}


def _mean(examples: list[np.ndarray]) -> np.ndarray:
    """The mean over the examples that have a value."""
    stacked, known = np.stack(examples), ~np.isnan(examples)
    return np.divide(
        np.nansum(stacked, axis=0), known.sum(0), out=np.full(stacked.shape[1:], np.nan), where=known.any(0)
    )


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_attentions_that_keep_theirs(name: str, blocks_of: Callable[..., None]) -> None:
    blocks_of(5)
    tallies = found(name)
    for variable, values in expected(name).items():
        its = tallies[variable].mean
        np.testing.assert_allclose(its.reshape(values.shape), values, rtol=1e-5, atol=1e-9, err_msg=variable)
    size = expected(name)["gradient"][..., 3]
    assert (size > 1e-6).all() and np.ptp(size) > 1e-3 * size.max()


@contextmanager
def bumped(model: Model, bumps: Tensor) -> Iterator[None]:
    """Attention [copy, head, query, key] of each layer plus `bumps` [copy, layer, head, query, key]."""

    def bump(layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
        return attention + bumps[examples, layer][:, :, queries]

    with model.intervened(bump):
        yield


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_gradients_are_finite_differences(name: str) -> None:
    """Of every weight of a short example: one copy for each, each with one weight changed."""
    model, objective, step = model_of(name), asked(name)[0], 1e-5
    encoded, answer = objective.question(asked(name)[1][1])
    shape = (LAYERS, HEADS, len(encoded), len(encoded))
    copies = int(np.prod(shape))
    bumps = torch.eye(copies, dtype=torch.float64).reshape(copies, *shape) * step
    embeds = name.startswith("embedding")
    unchanged = model.network(**tensors(asked(name)[1][1])).last_hidden_state.mean(1) if embeds else torch.zeros(())
    sides = []
    for bump in (bumps, -bumps):
        with bumped(model, bump):
            if embeds:
                mean = model.network(**tensors(encoded, copies)).last_hidden_state.mean(1)
                sides.append(1 - torch.cosine_similarity(mean, unchanged))
            else:
                sides.append(_quiet_loss(name, model, encoded, answer, copies))
    slopes = ((sides[0] - sides[1]) / (2 * step)).reshape(shape).abs().numpy()
    np.testing.assert_allclose(slopes, slopes_of(name)[1], rtol=1e-4, atol=1e-8)


def _quiet_loss(name: str, model: Model, encoded: Encoded, answer: Target, copies: int) -> Tensor:
    def network(output_attentions: bool = False, **inputs: Any) -> Any:
        return model.network(**inputs)

    return loss_of(name, network, encoded, answer, copies)[0]


@pytest.mark.parametrize("name", MODELS)
def test_batches_and_their_padding_change_no_number(name: str) -> None:
    together, single = found(name), found(name, Settings(resamples=10, batch_tokens=1))
    for variable in together:
        np.testing.assert_allclose(together[variable].mean, single[variable].mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(together[variable].interval, single[variable].interval, rtol=1e-9, atol=1e-12)


def test_attention_is_that_of_the_inputs_whose_gradients_are_taken() -> None:
    name = "masked words"
    network, objective, shares = MODELS[name]().double(), asked(name)[0], []
    network.set_attn_implementation("eager")
    for encoded in asked(name)[1]:
        hidden, _ = objective.question(encoded)
        with torch.no_grad():
            maps = torch.cat(network(**tensors(hidden), output_attentions=True).attentions).numpy()
        received = maps.mean(2)
        shares.append(np.stack([received[..., encoded.token_class == kind].sum(-1) for kind in range(4)], axis=-1))
    np.testing.assert_allclose(found(name)["attention_to"].mean.reshape(2, 4, 4), np.mean(shares, axis=0), atol=1e-6)


@pytest.mark.parametrize("decides", [(2, 3), (1, 1)])
def test_only_the_head_that_decides_has_a_gradient(decides: tuple[int, int]) -> None:
    model, task = headscope.wrap(planted_classifier(decides), tiny_tokenizer()), planted_task()
    corpus = task.training()
    inputs = Words(model.tokenizer, 64, aligned=True).encode(corpus)
    tallies = gradients(pass_over(model, inputs, QUICK), objective_of(model, corpus, task)).value
    size = tallies["gradient"].mean[:, 3].reshape(2, 4)
    assert size[decides[0] - 1, decides[1] - 1] > 10 * np.sort(size.ravel())[-2]


def test_examples_without_a_word_to_mask_are_left_out() -> None:
    model = model_of("masked words")
    texts = ("the cat.", "[UNK] [UNK]", "a dog.")
    inputs = list(Words(model.tokenizer, 64).encode(corpus_of(texts)))
    tallies = gradients(pass_over(model, inputs, QUICK), objective_of(model, corpus_of(texts))).value
    assert tallies["gradient"].count.tolist() == [2, 2, 2, 2]
    assert tallies["attention_to"].count.tolist() == [2, 2, 2, 2] and int(tallies["sep_to_sep"].count) == 2


def test_the_model_is_as_before() -> None:
    model = headscope.wrap(MODELS["masked words"](), tiny_tokenizer())
    network: Any = model.network
    network.cls.predictions.bias.requires_grad_(False)
    before = {name: parameter.requires_grad for name, parameter in network.named_parameters()}
    gradients(pass_over(model, asked("masked words")[1], QUICK), objective_of(model, corpus_of()))
    assert {name: parameter.requires_grad for name, parameter in network.named_parameters()} == before
    assert all(parameter.grad is None for parameter in network.parameters())
    assert network.config._attn_implementation == "sdpa"


def test_the_loss_is_named() -> None:
    names = {name: asked(name)[0].name.partition(":")[0] for name in MODELS}
    assert names == {
        "task": "task made",
        "score": "task made",
        "causal task": "task made",
        "masked words": "masked words",
        "next words": "next words",
        "embedding": "sentence embedding",
        "embedding, softmax tap": "sentence embedding",
    }


def test_a_causal_model_is_never_masked() -> None:
    objective, inputs = asked("next words")
    for encoded in inputs:
        question, answer = objective.question(encoded)
        pieces: Any = answer
        assert question is encoded and not objective.masks
        (read,) = np.nonzero(pieces != IGNORED)
        assert len(read) and (pieces[read] == encoded.inputs["input_ids"][read + 1]).all()
    with pytest.raises(HeadscopeError, match="it has no head for the next word, and a causal model reads no mask"):
        objective_of(headscope.wrap(tiny_gpt2(), tiny_tokenizer()), corpus_of())


def test_without_a_mask_and_a_task_there_is_no_loss() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.mask_token = None
    model = headscope.wrap(tiny_bert(), tokenizer)
    with pytest.raises(
        HeadscopeError, match="'in memory' has no loss: its tokenizer has no mask; name a task with --task"
    ):
        objective_of(model, corpus_of())


def test_a_task_head_without_a_task_is_refused() -> None:
    model = model_of("task")
    with pytest.raises(HeadscopeError, match="has a task head, but no task is named; use --task"):
        gradients(pass_over(model, asked("task")[1], QUICK), objective_of(model, corpus_of()))


def test_a_head_of_another_task_is_refused() -> None:
    with pytest.raises(HeadscopeError, match="has 1 outputs"):
        objective_of(model_of("score"), corpus_of(), task_of("task"))


def test_an_example_without_a_label_is_refused() -> None:
    corpus = corpus_of(labels=("x", "y", "", "x", "y"))
    with pytest.raises(HeadscopeError, match="example '2': no label, expected 'x' or 'y' or 'z'"):
        objective_of(model_of("task"), corpus, task_of("task"))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_is_refused(value: float) -> None:
    model = headscope.wrap(MODELS["task"](), tiny_tokenizer())
    network: Any = model.network
    network.classifier.bias.data[:] = torch.tensor([value, 0, 0])
    task = task_of("task")
    assert task is not None
    with pytest.raises(HeadscopeError, match="the loss of example"):
        gradients(pass_over(model, asked("task")[1], QUICK), objective_of(model, task.dev, task))
