"""Tasks of choices: one output scores each of them, as `AutoModelForMultipleChoice` of transformers does."""

import math
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from transformers import BertForMultipleChoice, BertForSequenceClassification

from headscope import HeadscopeError, Settings, load, wrap
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, chance
from headscope.linguistics.sentence import Example, Sentence
from headscope.outputs.gradient_importance import importance
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import NO_CHOICE, task_inputs
from headscope.report.study_page import study_page
from headscope.training.dataset import ChoiceSet, training_set
from support.planted_task import DECIDES, planted_classifier
from support.runs import ablate, finetune
from support.small_tasks import tiny_folder
from support.tiny import WORDS, tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=40)
OTHERS = [word for word in WORDS if word.isalpha() and word != "bird"]


def split(name: str, n: int, *, choices: tuple[int, ...] = (2,), planted: bool = True) -> Corpus:
    """Examples whose right choice alone has a bird; without `planted` any of them is called right."""
    random, examples = Random(name), []
    for number in range(n):
        words = [random.choices(OTHERS, k=random.randint(2, 6)) for _ in range(choices[number % len(choices)])]
        right = random.randrange(len(words))
        words[right if planted else random.randrange(len(words))][0] = "bird"
        second = tuple(Sentence(" ".join(line)) for line in words)
        examples.append(Example(f"{name}:{number}", (Sentence("the cat saw it."),), second, str(right)))
    return Corpus(name, f"{name} {planted}", n, {}, partial(iter, examples))


def task_of(dev: Corpus, train: Corpus | None = None) -> Task:
    return Task(name="birds", kind="choice", metrics=("accuracy",), dev=dev, train=train)


def scorer() -> Any:
    return tiny_bert(kind=BertForSequenceClassification, num_labels=1)


def multiple_choice(network: Any, corpus: Corpus) -> list[Any]:
    """The answers of transformers' own class, with the same weights, to one example after the other."""
    reference: Any = BertForMultipleChoice(network.config).eval()
    reference.load_state_dict(network.state_dict())
    tokenizer, answers = wrap(network, tiny_tokenizer()).tokenizer, []
    for example in corpus:
        first, second = [example.first[0].text] * len(example.second), [choice.text for choice in example.second]
        inputs = tokenizer(first, second, padding=True, return_tensors="pt")
        inputs = {name: tensor[None] for name, tensor in inputs.items()}  # [1, choice, token]
        with torch.no_grad():
            answers.append(reference(**inputs, labels=torch.tensor([int(str(example.label))])))
    return answers


def test_scores_and_losses_are_those_of_transformers_also_of_several_numbers_of_choices() -> None:
    network, corpus = scorer(), split("dev", 9, choices=(2, 4, 3))
    model, task, answers = wrap(network, tiny_tokenizer()), task_of(corpus, corpus), multiple_choice(network, corpus)
    outputs = task_outputs(task_inputs(model, task, corpus), QUICK)
    assert outputs.shape == (9, 4)
    for row, answer in zip(outputs, answers, strict=True):
        expected = answer.logits[0].numpy()
        np.testing.assert_allclose(row[: len(expected)], expected, atol=1e-5)
        assert (row[len(expected) :] == NO_CHOICE).all()
    inputs, _ = training_set(model, task, 64)
    assert isinstance(inputs, ChoiceSet) and [len(group) for group in inputs.choices] == [2, 4, 3] * 3
    batch = inputs.collate([inputs[number] for number in range(9)], pad=0)
    with torch.no_grad():
        loss = float(inputs.loss(network, batch))
    assert loss == pytest.approx(float(np.mean([float(answer.loss) for answer in answers])), abs=1e-5)


def planted() -> Any:
    """The classifier whose one head sees the bird, with one output."""
    network: Any = planted_classifier()
    weight = network.classifier.weight[1:].detach().clone()
    network.classifier, network.config.num_labels, network.num_labels = nn.Linear(weight.shape[1], 1), 1, 1
    with torch.no_grad():
        network.classifier.weight.copy_(weight)
        network.classifier.bias.zero_()
    return network


def test_the_head_that_sees_the_right_choice_is_found_and_none_where_any_choice_is_right(tmp_path: Path) -> None:
    model = wrap(planted(), tiny_tokenizer())
    # the uniform attention of a disabled head would still see the bird
    options: dict[str, Any] = {"mode": "zero"}
    found = ablate(model, task_of(split("dev", 40)), QUICK, directory=tmp_path / "planted", **options)
    found = found.sel(metric="accuracy")
    assert float(found["baseline"]) == 1 and float(found["chance"]) == 0.5 and "importance" not in found
    assert (found["head_q_value"] < 0.05).sum() == 1
    assert found["head_q_value"].sel(layer=DECIDES[0], head=DECIDES[1]) < 0.05
    null = ablate(model, task_of(split("dev", 40, planted=False)), QUICK, directory=tmp_path / "null", **options)
    assert not (null["head_q_value"] < 0.05).any()
    assert list(study_page(null).findings())


def test_a_model_learns_which_choice_is_right(tmp_path: Path) -> None:
    folder, options = str(tiny_folder(tmp_path / "tiny", num_hidden_layers=1)), {"batch": 8, "learning_rate": 5e-3}
    rest: dict[str, Any] = {**options, "epochs": 16, "max_tokens": 32, "loading": {}, "baselines": False}
    learned = task_of(split("dev", 40, choices=(2, 3)), split("train", 120, choices=(2, 3)))
    result = finetune(folder, (learned,), QUICK, directory=tmp_path / "run", seeds=2, **rest)
    score = result["score"].sel(task="birds", init="finetuned", metric="accuracy")
    model = load(tmp_path / "run" / "model", head=True)
    outputs = task_outputs(task_inputs(model, learned, learned.dev), QUICK)
    right = (outputs.argmax(-1) == learned.targets(learned.dev)).mean()
    assert (
        right > 0.9
        and float(score) > 0.9
        and float(result["chance"].sel(task="birds", metric="accuracy")) == pytest.approx(5 / 12)
    )
    null = task_of(split("dev", 40, planted=False), split("train", 80, planted=False))
    result = finetune(folder, (null,), QUICK, directory=tmp_path / "null", **{**rest, "epochs": 4})
    lower, upper = result["score_ci"].sel(task="birds", init="finetuned", metric="accuracy").values
    assert lower < 0.5 < upper
    assert list(study_page(result).findings())


def test_what_reads_gradients_of_classes_is_refused(tmp_path: Path) -> None:
    corpus = split("dev", 4)
    with pytest.raises(HeadscopeError, match="whose gradients are not read; use finetune or ablate"):
        importance(wrap(scorer(), tiny_tokenizer()), task_of(corpus), corpus, QUICK)
    with pytest.raises(HeadscopeError, match="way 'perturbed' reads the loss of classes; leave it out"):
        finetune("minilm", (task_of(corpus, corpus),), QUICK, directory=tmp_path, ways="perturbed", loading={})


def test_chance_is_that_of_a_random_choice() -> None:

    task = task_of(split("dev", 4, choices=(2, 4)))
    expected = [(1 / 2 + 1 / 4) / 2, (math.log(2) + math.log(4)) / 2]
    assert chance(task, task.targets(task.dev), ("accuracy", "cross_entropy")) == pytest.approx(expected)
