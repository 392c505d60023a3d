"""Altered attention: rows beside naive loops, passes from a layer, models in which attention is nothing and all."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertForSequenceClassification, GPT2LMHeadModel

from headscope import Settings, wrap
from headscope.corpora import read
from headscope.studies.words.attributions import study
from headscope.studies.words.attributions.altered_attention import OneHead, Replaced, divergence, erased, even, permuted
from headscope.studies.words.attributions.altered_inputs import ALTERATIONS, Copies
from headscope.studies.words.attributions.explaining_pass import explainer
from headscope.studies.words.attributions.other_attention import search
from headscope.studies.words.attributions.targets import target_of
from support.cat_reader import cat_reader
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

TEXTS = ["the cat saw the bird", "a man ran by the old house and sat"]
QUICK = Settings(resamples=20)


def rows(seed: int, tokens: int = 6, hidden: int = 2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Attention of a few rows, the keys that they see, and random numbers."""
    random = np.random.default_rng(seed)
    seen = np.arange(tokens) < tokens - np.arange(tokens)[:, None].clip(max=hidden)
    weights = random.random((tokens, tokens)) * seen
    parts = (weights / weights.sum(1, keepdims=True), seen, random.random((tokens, tokens)))
    return torch.from_numpy(parts[0]), torch.from_numpy(parts[1]), torch.from_numpy(parts[2])


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_erased_rows_equal_naive_loops(share: float) -> None:
    attention, seen, noise = rows(0)
    for order in (attention, noise):
        found = erased(attention, order, seen, share)
        for query in range(len(attention)):
            keys = [key for key in range(6) if seen[query, key]]
            count = min(max(1, round(share * len(keys))), len(keys) - 1)
            gone = sorted(keys, key=lambda key: -float(order[query, key]))[:count]
            rest = [0.0 if key in gone else float(attention[query, key]) for key in range(6)]
            np.testing.assert_allclose(found[query], np.array(rest) / sum(rest), atol=1e-12)


def test_a_row_of_one_key_or_without_a_rest_stays_a_row() -> None:
    one, all_on_one = torch.tensor([[1.0, 0.0, 0.0]]), torch.tensor([[True, False, False]])
    assert torch.equal(erased(one, one, all_on_one, 0.5), one)
    assert erased(one, one, torch.ones(1, 3, dtype=torch.bool), 0.1).tolist() == [[0.0, 0.5, 0.5]]


@given(st.integers(0, 1000))
def test_permuted_rows_have_the_same_weights_of_seen_keys(seed: int) -> None:
    attention, seen, noise = rows(seed)
    found = permuted(attention, seen, noise)
    assert not found[~seen].any()
    np.testing.assert_array_equal(found.sort(-1).values, attention.sort(-1).values)


def test_divergence_equals_a_naive_loop() -> None:
    (one, *_), (other, *_) = rows(0), rows(1)
    for p, q, found in zip(one.numpy(), other.numpy(), divergence(one, other), strict=True):
        middle = (p + q) / 2
        kl = [sum(a * np.log(a / m) for a, m in zip(part, middle, strict=True) if a) for part in (p, q)]
        assert float(found) == pytest.approx(sum(kl) / 2, abs=1e-9)


@pytest.mark.parametrize(
    ("row", "values", "least", "most"),
    [
        # Half of the weight may move from the second to the third key: half of ln 2.
        ((0.5, 0.5, 0.0), (0.0, 1.0, 1.0), 0.33, 0.36),
        ((0.5, 0.5, 0.0), (1.0, 1.0, 1.0), 0.5, 0.7),
        ((0.7, 0.3), (0.0, 1.0), 0.0, 0.001),
    ],
    ids=["half is free", "all is free", "nothing is free"],
)
def test_search_finds_the_farthest_attention_of_the_same_output(
    row: tuple[float, ...], values: tuple[float, ...], least: float, most: float
) -> None:
    own, value = torch.tensor([[row]]), torch.tensor(values)
    seen, noise = torch.ones_like(own, dtype=torch.bool), torch.zeros_like(own)

    def change(attention: torch.Tensor, copies: torch.Tensor) -> torch.Tensor:
        return ((attention - own[copies]) @ value).abs()[:, 0]

    found = search(own, seen, noise, change, 0.01)
    assert float(change(found, torch.tensor([0]))) <= 0.01
    assert least <= float(divergence(own, found)) <= most


@pytest.mark.parametrize("network", [tiny_bert(0, BertForSequenceClassification), tiny_gpt2(0, GPT2LMHeadModel)])
def test_a_head_replaced_from_its_layer_on_equals_a_whole_pass(network: Any) -> None:
    model = wrap(network, tiny_tokenizer())
    ids = torch.tensor(model.tokenizer(TEXTS[1])["input_ids"])[None]
    target, position = target_of(model), torch.tensor(ids.shape[1] - 1)
    with explainer(model, target) as explain, torch.no_grad():
        reference = target.vectors(network(ids), torch.ones_like(ids), position[None])
        copies = Copies(model, explain.stack, target, {"input_ids": ids}, position, reference)
        own, seen = copies.own()
        calls, _output = explain.stack.calls(copies.inputs)
        for layer, head in product(range(len(own)), (0, 1)):
            instead = even(seen[layer][head], own[layer])
            found = copies.run_from(layer, calls[layer].states, OneHead(instead[None], torch.tensor([head])))

            def replaced(number: int, attention: torch.Tensor, *_: Any, at: tuple = (layer, head, instead)) -> Any:
                changed = attention.clone()
                if number == at[0]:
                    changed[:, at[1]] = at[2]
                return changed

            np.testing.assert_allclose(found, copies.run(1, replaced), atol=1e-5)
        assert float(copies.change(copies.run(1, Replaced([maps[None] for maps in own])))) < 1e-5


def test_even_attention_in_all_layers_equals_all_heads_disabled() -> None:
    model = wrap(tiny_bert(0, BertForSequenceClassification, num_labels=3), tiny_tokenizer())
    result = study.run(model, read(TEXTS[:1]), QUICK, scored=0, flow=0, altered=1)
    ids = torch.tensor(model.tokenizer(TEXTS[0])["input_ids"])[None]
    with torch.no_grad():
        before = model.network(ids).logits.softmax(-1)
        with model.changed(np.ones((3, 4), bool)):
            after = model.network(ids).logits.softmax(-1)
    expected = float((after - before).abs().sum() / 2)
    assert float(result["altered_output"].sel(alteration="uniform")) == pytest.approx(expected, abs=1e-5)
    # Other attention keeps the output within the tolerance, in all layers and of a head alone.
    assert float(result["altered_output"].sel(alteration="other")) <= 0.01 + 1e-6
    assert float(result["head_other_change"].max()) <= 0.01 + 1e-6


CATS = ["the cat saw the old bird by the sea", "she walked to the cat in the house of the man"]


def test_where_attention_is_all_the_largest_weights_decide() -> None:
    result = study.run(cat_reader(20.0), read(CATS), QUICK, scored=0, flow=0)
    change, flips = result["altered_output"], result["altered_decision"]
    assert float(change.sel(alteration="largest_10")) > 0.3 and float(flips.sel(alteration="largest_10")) == 1
    assert float(result["erased_lead"].sel(erased_share=0.1)) > 0.2
    assert float(change.sel(alteration="permuted")) > 0.3


def test_where_values_are_all_alike_attention_is_nothing() -> None:
    result = study.run(cat_reader(20.0, reads=False), read(CATS), QUICK, scored=0, flow=0)
    assert float(result["altered_output"].max()) < 1e-5 and not result["altered_decision"].any()
    # Any other attention has the same output.
    assert float(result["altered_distance"].sel(alteration="other")) > 0.5
    assert float(result["head_other_distance"].min()) > 0.5
    # All of a row is in the null space of values that are 0.
    assert float(result["effective_share"].max(skipna=True)) < 1e-6 or int(result["effective_share_n_examples"]) == 0


def test_numbers_do_not_depend_on_batches_and_long_inputs_are_left_out() -> None:
    model = wrap(tiny_bert(0, BertForSequenceClassification, max_position_embeddings=256), tiny_tokenizer(256))
    texts = [TEXTS[0], "the cat " * 80]
    one, other = (
        study.run(model, read(texts), Settings(resamples=20, batch_tokens=size), scored=0, flow=0, altered=2)
        for size in (1, 1024)
    )
    for name in ("altered_output", "altered_distance", "head_other_distance", "effective_share"):
        np.testing.assert_allclose(one[name], other[name], atol=2e-3, err_msg=name)
    assert one["altered_output_n_examples"].values.tolist() == [1] * len(ALTERATIONS)
