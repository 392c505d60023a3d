"""The order of a model's outputs where their names do not say it."""

from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest
import torch
from transformers import BertForSequenceClassification

from headscope import HeadscopeError, wrap
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.linguistics.sentence import Example, Sentence
from headscope.outputs.label_order import in_model_order
from headscope.passes import Settings
from support.planted_task import planted_classifier, planted_task
from support.tiny import WORDS, tiny_bert, tiny_tokenizer

INFERENCE = ("contradiction", "entailment", "neutral")
OF_MODEL = ("entailment", "neutral", "contradiction")


def named(network, *names):
    network.config.id2label = dict(enumerate(names))
    return wrap(network, tiny_tokenizer())


def classifier(*names, bias=None):
    """A random classifier of three classes, or one that always gives the answer with the largest bias."""
    network: Any = tiny_bert(kind=BertForSequenceClassification, num_labels=3)
    with torch.no_grad():
        network.classifier.weight.mul_(5.0 if bias is None else 0.0)
        network.classifier.bias.copy_(torch.tensor(bias or [0.0] * 3))
    return named(network, *(names or ("LABEL_0", "LABEL_1", "LABEL_2")))


def inference(model, n=80, answers=None):
    """A task whose labels are the model's own answers, in the order `OF_MODEL`; or drawn by the weights `answers`."""
    random, words = Random(0), [word for word in WORDS if word.isalpha()]
    texts = [" ".join(random.choices(words, k=6)) for _ in range(n)]
    with torch.no_grad():
        outputs = model.network(**model.tokenizer(texts, return_tensors="pt", padding=True)).logits.argmax(-1)
    labels = random.choices(INFERENCE, answers, k=n) if answers else [OF_MODEL[number] for number in outputs]
    examples = [Example(text, (Sentence(text),), label=label) for text, label in zip(texts, labels, strict=True)]
    dev = Corpus("dev", "0" * 64, n, {}, partial(iter, examples))
    return Task(name="MNLI", kind="classification", labels=INFERENCE, metrics=("accuracy",), dev=dev)


def test_a_model_that_is_right_in_another_order_is_not_scored_in_that_of_the_task():
    model = classifier()
    with pytest.raises(HeadscopeError) as error:
        in_model_order(inference(model), model)
    said = str(error.value)
    assert "entailment, neutral, and would be right on 0.00 of 40" in said
    assert "contradiction on 1.00 (95% interval of the difference 1.00" in said
    assert '"id2label": {"0": "entailment", "1": "neutral"' in said


def test_the_remedy_works_and_names_that_decide_need_no_pass(never):
    model = classifier(*OF_MODEL)
    task = inference(model)
    never("headscope.outputs.label_order.task_outputs")
    assert in_model_order(task, model).labels == OF_MODEL


def test_the_order_of_the_task_is_kept_where_it_is_as_good_as_any():
    model, said = classifier(), []
    task = replace(inference(model), labels=OF_MODEL)
    assert in_model_order(task, model, Settings(on_notice=said.append)) == task
    assert len(said) == 1 and "LABEL_0, LABEL_1, LABEL_2" in said[0] and "on 40 examples no other order" in said[0]


@pytest.mark.parametrize("bias", [None, [0.0, 3.0, 0.0]], ids=["noise", "always the same"])
@pytest.mark.parametrize("weights", [(1, 1, 1), (9, 1, 1)], ids=["balanced", "most of one class"])
def test_a_model_that_has_learned_nothing_is_read_in_the_order_of_the_task(bias, weights):
    model = classifier(bias=bias)
    assert in_model_order(inference(model, 200, weights), model).labels == INFERENCE


def test_few_examples_are_said_to_be_too_few():
    model, said = classifier(), []
    in_model_order(inference(model, 12), model, Settings(on_notice=said.append))
    assert said[0].endswith("which 12 examples are too few to test")


def test_numbers_of_a_table_are_tested_against_named_outputs():
    model = named(planted_classifier(), "no bird", "bird")
    task = planted_task()
    numbers = {"no": "0", "yes": "1"}
    for names, fine in ((numbers, True), ({"no": "1", "yes": "0"}, False)):
        examples = [replace(example, label=names[str(example.label)]) for example in task.dev]
        other = replace(task, labels=("0", "1"), dev=replace(task.dev, again=partial(iter, examples)))
        if fine:
            assert in_model_order(other, model).labels == ("0", "1")
        else:
            with pytest.raises(HeadscopeError, match="write the names of the outputs into the table: 'no bird' for 1"):
                in_model_order(other, model)
