"""What a smaller model learns from: each loss as a loop says, and only those that count."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headscope
from headscope import HeadscopeError, Model, Settings
from headscope.report.study_page import study_page
from headscope.studies.shrink.answers import answers_of
from headscope.studies.shrink.distillation import DistillationSet
from headscope.studies.shrink.losses import LossWeights, loss_weights, of_relations, relative
from headscope.studies.shrink.splits import encode
from headscope.studies.shrink.study import run
from support.idle_neurons import TEXTS
from support.planted_task import planted_classifier, planted_task
from support.tiny import tiny_bert, tiny_tokenizer


def tiny(seed: int = 0) -> Model:
    """A tiny encoder."""
    return headscope.wrap(tiny_bert(seed), tiny_tokenizer())


@torch.no_grad()
def test_loss_of_distillation_is_0_for_the_model_itself() -> None:
    model = tiny()
    inputs = encode(model, tuple(headscope.read(TEXTS[:5])))
    pieces = torch.arange(model.network.config.vocab_size)
    learned = DistillationSet(
        inputs, model, answers_of(model, None), pieces, (0, 1, 2), LossWeights(states=1, outputs=1)
    )
    batch = learned.collate([learned[number] for number in range(5)], 0)
    assert float(learned.loss(model.network, batch)) == pytest.approx(0, abs=1e-9)
    other = tiny(1).network
    states = [network(**batch, output_hidden_states=True).hidden_states for network in (other, model.network)]
    real = batch["attention_mask"].bool()
    expected = np.mean(
        [
            float(((one[real] - two[real]) ** 2).mean() / (two[real] ** 2).mean())
            for one, two in zip(*(some[1:] for some in states), strict=True)
        ]
    )

    def embeddings(last: torch.Tensor) -> torch.Tensor:
        rows = torch.stack([state[mask].mean(0) for state, mask in zip(last, real, strict=True)])
        return rows / rows.norm(dim=-1, keepdim=True)

    expected += float(relative(embeddings(states[0][-1]), embeddings(states[1][-1])))
    assert float(learned.loss(other, batch)) == pytest.approx(expected, rel=1e-5)


def test_relations_are_those_of_a_loop_and_padding_changes_nothing() -> None:
    random = torch.Generator().manual_seed(0)
    ours, theirs = (torch.randn(2, 5, 8, generator=random) for _ in range(2))
    real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    expected, tokens = 0.0, 0
    for text, mask in enumerate(real):
        number = int(mask.sum())
        tokens += number
        for head in range(2):
            part = slice(4 * head, 4 * head + 4)
            for query in range(number):
                one, other = (
                    np.exp([float(states[text, query, part] @ states[text, key, part]) / 2 for key in range(number)])
                    for states in (ours, theirs)
                )
                one, other = one / one.sum(), other / other.sum()
                expected += float((other * np.log(other / one)).sum()) / 2
    assert float(of_relations(ours, theirs, real, 2)) == pytest.approx(expected / tokens, abs=1e-5)
    assert float(of_relations(ours, ours, real, 2)) == pytest.approx(0, abs=1e-6)
    changed = ours.clone()
    changed[1, 3:] = 9
    assert float(of_relations(changed, theirs, real, 2)) == pytest.approx(expected / tokens, abs=1e-5)


@torch.no_grad()
def test_labels_are_those_of_the_inputs_and_losses_are_weighed() -> None:
    model, task = headscope.wrap(planted_classifier(), tiny_tokenizer()), planted_task(12, 12)
    examples = tuple(task.training())
    inputs, labels = encode(model, examples), task.targets(examples)
    pieces = torch.arange(model.network.config.vocab_size)
    other = headscope.wrap(planted_classifier(), tiny_tokenizer()).network
    other.classifier.bias.add_(torch.tensor([0.3, -0.2]))  # type: ignore[operator]

    def loss(weights: LossWeights, order: list[int]) -> float:
        learned = DistillationSet(inputs, model, answers_of(model, task), pieces, (0, 1), weights, labels)
        return float(learned.loss(other, learned.collate([learned[number] for number in order], 0)))

    order = [7, 2, 11, 0]
    entropies = []
    for number in order:
        ids = torch.from_numpy(inputs[number].inputs["input_ids"])[None]
        logits = other(input_ids=ids).logits[0]
        entropies.append(float(logits.logsumexp(0) - logits[int(labels[number])]))
    assert len(set(labels[order].tolist())) == 2
    alone = loss(LossWeights(labels=1), order)
    assert alone == pytest.approx(np.mean(entropies), abs=1e-5)
    outputs = loss(LossWeights(outputs=1), order)
    assert outputs > 0 and loss(LossWeights(states=1), order) == pytest.approx(0, abs=1e-9)
    assert loss(LossWeights(labels=0.5, outputs=2), order) == pytest.approx(0.5 * alone + 2 * outputs, rel=1e-5)


def test_page_says_what_was_learned_from(tmp_path: Path) -> None:
    model, task = headscope.wrap(planted_classifier(), tiny_tokenizer()), planted_task(60, 80)
    options: dict[str, Any] = {"size": "0.001MB", "best_effort": True, "groups": 2, "epochs": 1, "sample": 8}
    options |= {"losses": "labels=1,relations=0.5", "batches": "1", "tokens": "8"}
    result = run(model, task.dev, Settings(resamples=20), directory=tmp_path, task=task, **options)
    assert json.loads(result.attrs["shrinking"])["losses"] == "labels=1,relations=0.5"
    text = next(one.text for one in study_page(result).findings() if one.topic == "How it was trained")
    assert "training on relations between its tokens and labels of the task, with" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("state=1", "loss 'state' is unknown; did you mean 'states'"),
        ("states", "loss 'states': '' is no number from 0 on; write it as in states=1"),
        ("states=-1", "'-1' is no number from 0 on"),
        ("states=0", "give one a weight above 0"),
        ("", "give one a weight above 0"),
        ("labels=1", "labels are those of a task; name it with --task, take --pseudo-labels, or leave labels out"),
    ],
)
def test_other_losses_are_refused(text: str, words: str) -> None:
    with pytest.raises(HeadscopeError, match=words):
        loss_weights(text, None)
