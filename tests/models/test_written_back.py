"""A smaller model written back into the model that it was cut out of: the same outputs, all else as it was."""

import copy
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import headscope
from headscope.models.removable_parts import Kept
from headscope.models.silenced import silenced
from headscope.models.smaller import cut
from headscope.models.written_back import written_back
from support.tiny import tiny_bert, tiny_tokenizer

MODEL = headscope.wrap(tiny_bert(), tiny_tokenizer())
INPUTS = {"input_ids": torch.tensor([[2, 7, 9, 11, 3]]), "attention_mask": torch.ones(1, 5, dtype=torch.long)}


def some_of(number: int) -> st.SearchStrategy[tuple[int, ...]]:
    """At least one of so many parts."""
    return st.sets(st.integers(0, number - 1), min_size=1).map(lambda some: tuple(sorted(some)))


@settings(max_examples=20, deadline=None)
@given(some_of(3), st.lists(some_of(32), min_size=3, max_size=3), st.lists(some_of(4), min_size=3, max_size=3))
def test_silenced_it_answers_as_the_trained_smaller_model(
    layers: tuple[int, ...], neurons: list[tuple[int, ...]], heads: list[tuple[int, ...]]
) -> None:
    kept = Kept(layers=layers, neurons=tuple(neurons), heads=tuple(heads))
    smaller = cut(MODEL, kept, fine=True)
    network = copy.deepcopy(smaller.network)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if "word_embeddings" not in name and "position" not in name and "token_type" not in name:
                weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(len(name))))
    trained = replace(smaller, network=network)
    back = written_back(MODEL, trained, kept, fine=True)
    with torch.inference_mode(), silenced(back, kept):
        ours = back.network(**INPUTS)[0]
    with torch.inference_mode():
        torch.testing.assert_close(ours, trained.network(**INPUTS)[0], atol=1e-5, rtol=1e-5)


def test_parts_that_are_gone_and_tables_stay_as_they_were() -> None:
    kept = Kept(layers=(0, 2), neurons=((0, 5),) * 3)
    smaller = cut(MODEL, kept)
    with torch.no_grad():
        for weight in smaller.network.parameters():
            weight.zero_()
    before, after = (dict(one.network.named_parameters()) for one in (MODEL, written_back(MODEL, smaller, kept)))
    name = "encoder.layer.{}.intermediate.dense.weight"
    assert torch.equal(before[name.format(1)], after[name.format(1)])
    changed = (before[name.format(2)] != after[name.format(2)]).any(1).nonzero().flatten().tolist()
    assert changed == [0, 5]
    assert torch.equal(before["embeddings.word_embeddings.weight"], after["embeddings.word_embeddings.weight"])
    assert not after["pooler.dense.weight"].any() and before["pooler.dense.weight"].any()
    assert float(before[name.format(2)].detach().abs().max()) == pytest.approx(
        float(dict(MODEL.network.named_parameters())[name.format(2)].detach().abs().max())
    )
