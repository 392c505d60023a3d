"""A smaller model has the outputs of the original one with the removed parts silenced, for all kinds together."""

import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModel, AutoTokenizer, BertForMaskedLM, LlamaConfig, RobertaConfig
from transformers.utils import logging

import headscope
from headscope import HeadscopeError, Model
from headscope.models.head_slicing import sharing, sizes
from headscope.models.pruned_checkpoint import pruning_of
from headscope.models.pruned_folder import save
from headscope.models.removable_parts import Kept, parts_of
from headscope.models.smaller import cut
from headscope.models.smaller_vocabulary import kept_pieces, needed_pieces, with_pieces
from headscope.studies.size.prune.cut_heads import prune
from support.tiny import byte_tokenizer, tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary

TEXTS = ["The cat slept.", "He was not very old, and she said it at night in the garden."]
SIZES: dict[str, Any] = {
    "vocab_size": len(tiny_vocabulary()),
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
# Its heads have a width of their own, so that their number can change.
LLAMA = LlamaConfig(**SIZES, intermediate_size=32, head_dim=6, num_key_value_heads=4, pad_token_id=0)
# Of these, two query heads each share a key and a value.
SHARED = LlamaConfig(**SIZES, intermediate_size=32, head_dim=6, num_key_value_heads=2, pad_token_id=0)
ROBERTA = RobertaConfig(**SIZES, intermediate_size=32, max_position_embeddings=66, pad_token_id=0)
logging.disable_progress_bar()


@cache
def model(family: str) -> Model:
    """A tiny model of a family."""
    networks = {
        "bert": tiny_bert,
        "words": lambda: tiny_bert(0, BertForMaskedLM),
        "gpt2": tiny_gpt2,
        "llama": lambda: tiny_network(LLAMA),
        "shared": lambda: tiny_network(SHARED),
        "roberta": lambda: tiny_network(ROBERTA),
    }
    return headscope.wrap(networks[family](), tiny_tokenizer())


def inputs(model: Model, texts: list[str]) -> dict[str, torch.Tensor]:
    """The texts as inputs of a model."""
    encoded = model.tokenizer(texts, padding=True, return_tensors="pt")
    return {"input_ids": encoded["input_ids"], "attention_mask": encoded["attention_mask"]}


def naive(model: Model, kept: Kept, given: dict[str, torch.Tensor]) -> torch.Tensor:
    """The outputs of a copy whose removed neurons and heads have no weights to the output, without some layers."""
    copied = headscope.wrap(copy.deepcopy(model.network), model.tokenizer)
    parts = parts_of(copied)
    with torch.no_grad():
        for layer, module in enumerate(parts.stack.layers):
            if kept.neurons and parts.feed_forward:
                output: Any = parts.feed_forward[layer].output
                weight = output.weight
                weight = weight if weight.shape[1] == 32 else weight.T
                for neuron in {*range(32)} - {*kept.neurons[layer]}:
                    weight[:, neuron] = 0
            if kept.heads:
                for head in {*range(4)} - {*kept.heads[layer]}:
                    linear: Any = copied.projections[layer].output
                    linear.weight[:, 6 * head : 6 * head + 6] = 0
            if kept.layers is not None and layer not in kept.layers:
                module.register_forward_hook(lambda module, args, output: args[0])
        return copied.network(**given)[0]


@st.composite
def cuts(draw: st.DrawFn) -> tuple[str, Kept]:
    """A family, and what of it is kept: every kind of part or none, in any combination."""
    family = draw(st.sampled_from(["bert", "words", "llama", "roberta"]))
    number = len(model(family).capture.heads)
    layers = draw(st.none() | st.sets(st.integers(0, number - 1), min_size=1).map(lambda some: tuple(sorted(some))))
    width = draw(st.none() | st.integers(1, 31))
    heads = draw(st.none() | st.integers(1, 3)) if family == "llama" else None

    def some(total: int, size: int | None) -> tuple[tuple[int, ...], ...] | None:
        if size is None:
            return None
        rows = st.permutations(range(total)).map(lambda order: tuple(sorted(order[:size])))
        return tuple(draw(rows) for _ in range(number))

    tokenizer = model(family).tokenizer
    used = {number for ids in tokenizer(TEXTS)["input_ids"] for number in ids}
    pieces = kept_pieces(tokenizer, used) if draw(st.booleans()) else None
    return family, Kept(layers, some(32, width), some(4, heads), pieces)


@settings(max_examples=25, deadline=None)
@given(cuts())
def test_smaller_model_is_the_original_without_the_parts(case: tuple[str, Kept]) -> None:
    family, kept = case
    original, smaller = model(family), cut(model(family), kept)
    ours, theirs = inputs(smaller, TEXTS), inputs(original, TEXTS)
    expected = naive(original, kept, theirs)
    with torch.no_grad():
        outputs = smaller.network(**ours)[0]
    if family == "words" and kept.pieces:
        expected = expected[..., list(kept.pieces)]
    real = theirs["attention_mask"].bool()
    torch.testing.assert_close(outputs[real], expected[real], atol=1e-5 * max(1.0, expected.abs().max().item()), rtol=0)
    config = smaller.network.config
    assert config.intermediate_size == (len(kept.neurons[0]) if kept.neurons else 32)
    assert len(smaller.capture.heads) == len(kept.layers or original.capture.heads)
    assert type(smaller.network) is type(original.network)


@pytest.mark.parametrize("fine", [False, True])
def test_heads_that_share_keys_go_together(fine: bool, tmp_path: Path) -> None:
    original, kept = model("shared"), Kept(heads=((2, 3), (0, 1)))
    smaller = cut(original, kept, fine=fine)
    given = inputs(original, TEXTS)
    real = given["attention_mask"].bool()
    with torch.no_grad():
        expected = naive(original, kept, given)[real]
        torch.testing.assert_close(smaller.network(**given)[0][real], expected, atol=1e-5, rtol=1e-5)
    assert smaller.capture.heads == (2, 2)
    save(smaller, tmp_path)
    again = headscope.load(str(tmp_path))
    keys = [sizes(projection.key)[1] for projection in again.projections]
    assert keys == [6, 6] and sharing(again) == 2 and again.capture.heads == (2, 2)
    with pytest.raises(HeadscopeError, match="cannot lose these parts"):
        cut(original, Kept(heads=((1, 2), (0, 1))), fine=fine)


@st.composite
def uneven_cuts(draw: st.DrawFn) -> tuple[str, Kept]:
    """A family, and what of it is kept: other numbers of neurons and heads in each layer, down to none, and layers."""
    family = draw(st.sampled_from(["bert", "words", "llama", "roberta"]))
    number = len(model(family).capture.heads)
    layers = draw(st.none() | st.sets(st.integers(0, number - 1), min_size=1).map(lambda some: tuple(sorted(some))))

    def some(total: int) -> tuple[tuple[int, ...], ...]:
        rows = st.sets(st.integers(0, total - 1), max_size=total).map(lambda chosen: tuple(sorted(chosen)))
        return tuple(draw(rows) for _ in range(number))

    heads = some(4)
    last = layers[-1] if layers else number - 1
    heads = (*heads[:last], heads[last] or (1,), *heads[last + 1 :])  # a model without any head cannot be observed
    return family, Kept(layers, draw(st.none() | st.just(some(32))), draw(st.none() | st.just(heads)))


@settings(max_examples=6, deadline=None)
@given(uneven_cuts())
def test_uneven_model_is_the_original_without_the_parts(case: tuple[str, Kept]) -> None:
    family, kept = case
    original, smaller = model(family), cut(model(family), kept, fine=True)
    given = inputs(original, TEXTS)
    expected, real = naive(original, kept, given), given["attention_mask"].bool()
    with torch.no_grad():
        outputs = smaller.network(**given)[0]
    torch.testing.assert_close(outputs[real], expected[real], atol=1e-5 * max(1.0, expected.abs().max().item()), rtol=0)
    layers = kept.layers or range(len(original.capture.heads))
    assert smaller.capture.heads == tuple(len(kept.heads[layer]) if kept.heads else 4 for layer in layers)
    weights = sum(weight.numel() for weight in smaller.network.parameters())
    neurons = sum(32 - len(kept.neurons[layer]) for layer in layers) if kept.neurons else 0
    before = sum(weight.numel() for weight in cut(original, Kept(kept.layers)).network.parameters())
    gone = sum(4 - heads for heads in smaller.capture.heads)
    of_neuron, of_head = {"llama": (3 * 24, 4 * 24 * 6)}.get(family, (2 * 24 + 1, 4 * 24 * 6 + 3 * 6))
    assert before - weights == neurons * of_neuron + gone * of_head
    assert type(smaller.network) is type(original.network)


def test_uneven_folder_loads_by_its_own_class(tmp_path: Path, code_cache: None) -> None:
    original = model("bert")
    kept = Kept((0, 2), (tuple(range(9)), (), ()), ((1, 2), (), (0,)))
    smaller = cut(original, kept, fine=True)
    folder = save(smaller, tmp_path / "model")
    card = (folder / "README.md").read_text()
    assert "| 1 | 4 | 1, 4 | 9 |" in card and "| 2 | 4 | 2, 3, 4 | 0 |" in card
    theirs, ours = AutoModel.from_pretrained(folder, trust_remote_code=True), headscope.load(str(folder))
    given = inputs(original, TEXTS)
    assert ours.capture.heads == (2, 1)
    with torch.no_grad():
        expected = smaller.network(**given)[0]
        for network in (theirs.eval(), ours.network):
            torch.testing.assert_close(network(**given)[0], expected, atol=1e-5, rtol=0)
    again = prune(ours, np.array([[False, True], [False, False]]))
    assert again.network.config.headscope_pruning["neurons"] == [9, 0]
    loaded = headscope.load(str(save(again, tmp_path / "again")))
    with torch.no_grad():
        torch.testing.assert_close(loaded.network(**given)[0], again.network(**given)[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("neurons", [[1], [1, 2, -1], "many", [1, 2, 10**9]])
def test_damaged_numbers_of_neurons_are_refused(neurons: Any) -> None:
    network = tiny_bert()
    network.config.headscope_pruning = {"heads": [4, 4, 4], "removed": {}, "neurons": neurons}
    with pytest.raises(HeadscopeError, match="prune the original model again"):
        pruning_of(network.config)


def test_folder_loads_everywhere_without_code(tmp_path: Path) -> None:
    original = model("bert")
    used = {number for ids in original.tokenizer(TEXTS)["input_ids"] for number in ids}
    kept = Kept((0, 2), ((*range(16),),) * 3, None, kept_pieces(original.tokenizer, used))
    smaller = cut(original, kept)
    folder = save(smaller, tmp_path / "model")
    assert not list(folder.glob("*.py")) and "auto_map" not in (folder / "config.json").read_text()
    theirs, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    ours = headscope.load(str(folder))
    assert len(tokenizer) == len(kept.pieces or ())
    assert tokenizer(TEXTS)["input_ids"] == smaller.tokenizer(TEXTS)["input_ids"]
    with torch.no_grad():
        expected = smaller.network(**inputs(smaller, TEXTS))[0]
        for network in (theirs.eval(), ours.network):
            torch.testing.assert_close(network(**inputs(ours, TEXTS))[0], expected, atol=1e-5, rtol=0)


def test_gpt2_loses_neurons_and_layers_and_keeps_its_bytes() -> None:
    smaller = cut(model("gpt2"), Kept(layers=(1,), neurons=((*range(50),), (*range(40, 90),))))
    assert smaller.network.config.n_inner == 50 and smaller.network.config.n_layer == 1
    assert set(range(256)) == needed_pieces(byte_tokenizer())  # bytes alone: nothing to lose


def test_pieces_that_spell_words_stay_and_words_fall_apart() -> None:
    tokenizer = tiny_tokenizer()
    used = {tokenizer.get_vocab()["cat"]}
    kept = kept_pieces(tokenizer, used)
    smaller = with_pieces(tokenizer, kept, 64)
    assert needed_pieces(tokenizer) | used == set(kept)
    assert smaller.tokenize("cat dog") == ["cat", "d", "##o", "##g"]
    assert smaller("cat")["input_ids"] == [kept.index(number) for number in tokenizer("cat")["input_ids"]]
    assert len(kept_pieces(tokenizer, used, 150)) == 150


def test_what_no_class_can_hold_is_refused_in_a_line() -> None:
    quantised = headscope.wrap(tiny_bert(), tiny_tokenizer())
    quantised.network.config.quantization_config = {"bits": 8}
    with pytest.raises(HeadscopeError, match="is quantised; shrink the model that it was made from"):
        parts_of(quantised)
    pruned = headscope.wrap(tiny_bert(), tiny_tokenizer())
    pruned.network.config.headscope_pruning = {"heads": [4, 4, 4], "removed": {"1": [1]}}
    with pytest.raises(HeadscopeError, match="has lost single heads or neurons"):
        parts_of(pruned)
    assert not parts_of(model("bert")).heads and parts_of(model("llama")).heads
