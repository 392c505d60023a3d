"""Batches have each example once an epoch, lengths alike, padded as the tokenizer pads."""

from typing import cast

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers import BertForMaskedLM

from headscope import read
from headscope.encoding.encoder import Words
from headscope.encoding.masking import Masking
from headscope.training.dataset import LENGTHS, MASKS, LengthGrouped, MaskedTrainingSet, TrainingSet
from support.small_tasks import birds, counts
from support.tiny import tiny_bert, tiny_tokenizer


@given(st.lists(st.integers(2, 60), min_size=1, max_size=200), st.integers(1, 9), st.integers(0, 3))
def test_each_example_is_in_one_batch_of_each_epoch(lengths: list[int], batch: int, epoch: int) -> None:
    batches = LengthGrouped(lengths, batch, seed=0)
    batches.set_epoch(epoch)
    found = list(batches)
    assert sorted(number for group in found for number in group) == list(range(len(lengths)))
    assert len(found) == len(batches)
    assert sorted(map(len, found))[1:] == [batch] * (len(found) - 1)


def test_order_depends_on_seed_and_epoch_alone() -> None:
    lengths = list(range(2, 60))

    def order(seed: int, epoch: int) -> list[list[int]]:
        batches = LengthGrouped(lengths, 4, seed)
        batches.set_epoch(epoch)
        return list(batches)

    assert order(0, 1) == order(0, 1)
    assert order(0, 1) != order(0, 2)
    assert order(0, 1) != order(1, 1)


def test_lengths_of_a_batch_are_alike() -> None:
    lengths = np.random.default_rng(0).integers(5, 128, 1600)
    padded = sum(len(group) * max(lengths[group]) for group in LengthGrouped(list(lengths), 32, seed=0))
    assert padded < 1.05 * lengths.sum()
    assert [lengths[group].mean() for group in LengthGrouped(list(lengths), 32, seed=0)] != sorted(
        lengths[group].mean() for group in LengthGrouped(list(lengths), 32, seed=0)
    )


def test_a_batch_is_what_the_tokenizer_makes_of_it() -> None:
    task, tokenizer = birds(), tiny_tokenizer()
    corpus = task.training()
    labelled = TrainingSet(list(Words(tokenizer, 64).encode(corpus)), task.targets(corpus), regression=False)
    batch = labelled.collate([labelled[number] for number in range(6)], pad=0)
    texts = [example.first[0].text for example in corpus][:6]
    expected = tokenizer(texts, padding=True, return_tensors="pt")
    assert {name: tensor.tolist() for name, tensor in batch.items() if name != "labels"} == {
        name: tensor.tolist() for name, tensor in expected.items()
    }
    assert batch["labels"].tolist() == [int(target) for target in labelled.targets[:6]]
    assert batch["labels"].dtype == torch.int64


def test_scores_are_numbers_and_padding_is_the_models() -> None:
    task, tokenizer = counts(), tiny_tokenizer()
    tokenizer.model_input_names = [*tokenizer.model_input_names, "token_type_ids"]
    inputs = list(Words(tokenizer, 64).encode(task.dev))
    batch = TrainingSet(inputs, np.zeros(0), regression=True).collate([(inputs[0], 2.5), (inputs[3], 0.0)], pad=7)
    assert batch["labels"].tolist() == [2.5, 0.0]
    assert (batch["input_ids"][batch["attention_mask"] == 0] == 7).all()
    assert (batch["attention_mask"] == 0).any()
    assert (batch["token_type_ids"][batch["attention_mask"] == 0] == 0).all()


def test_masked_words_have_few_shapes_and_padding_changes_no_loss() -> None:
    tokenizer, network = tiny_tokenizer(), tiny_bert(0, BertForMaskedLM)
    texts = ["the cat slept"] * 3 + ["the dog saw the old house"] * 2 + ["the cat " * 12]
    inputs = list(Words(tokenizer, 64).encode(read(texts)))
    examples = MaskedTrainingSet(inputs, tokenizer, Masking(share=0.3), seed=0)
    group = [examples[number] for number in range(5)]
    batch = examples.collate(group, pad=0)
    real = max(len(encoded) for encoded, _ in group)
    assert {tensor.shape for tensor in batch.values()} == {(5, -(-real // LENGTHS) * LENGTHS)} and real % LENGTHS
    logits: list[int] = []
    hook = cast(nn.Module, network.cls).register_forward_hook(
        lambda module, args, output: logits.append(output.shape[1])
    )
    loss = examples.loss(network, batch)
    hook.remove()
    assert logits == [MASKS]
    unpadded = network(**{name: tensor[:, :real].contiguous() for name, tensor in batch.items()}).loss
    torch.testing.assert_close(loss, unpadded)
    longest = examples.collate([examples[5]], pad=0)
    assert longest["labels"].shape == (1, len(inputs[5]))
