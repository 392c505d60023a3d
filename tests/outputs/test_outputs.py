"""A task's outputs: what a plain call of the model gives for each example, in the order of the corpus."""

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

from headscope import HeadscopeError, wrap
from headscope.corpora import Options, read
from headscope.corpora.corpus import part
from headscope.corpora.tasks import Task
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import TaskInputs, encode_for_task
from headscope.passes import Settings
from support.tiny import tiny_bert, tiny_tokenizer


def classifier(max_tokens=64):
    return wrap(tiny_bert(kind=BertForSequenceClassification, num_labels=3), tiny_tokenizer(max_tokens))


@pytest.mark.parametrize("batch_tokens", [1, 100, 2048])
def test_outputs_are_those_of_one_example_at_a_time(batch_tokens):
    model, corpus = classifier(), read("sample", Options(limit=12))
    model.network.set_attn_implementation("eager")
    inputs, _ = encode_for_task(model, corpus)
    task = Task(name="made", kind="classification", labels=("a", "b", "c"), metrics=("accuracy",), dev=corpus)
    found = task_outputs(TaskInputs(model, task, inputs), Settings(batch_tokens=batch_tokens))
    for row, example in zip(found, inputs, strict=True):
        with torch.inference_mode():
            alone = model.network(**{name: torch.tensor(array)[None] for name, array in example.inputs.items()})
        np.testing.assert_allclose(row, alone.logits[0], atol=1e-5)
    assert model.network.config._attn_implementation == "eager"


def test_long_examples_are_cut_and_counted():
    inputs, counts = encode_for_task(classifier(), part(read("sample"), np.arange(12)), max_tokens=10)
    assert len(inputs) == 12
    assert max(map(len, inputs)) == 10
    assert counts["truncated"] > 0


def test_example_that_cannot_be_cut_is_said():
    pairs = read("sample")
    with pytest.raises(HeadscopeError, match=r"of 282 examples do not fit into 5 tokens \(.*long"):
        encode_for_task(classifier(), pairs, max_tokens=5)
