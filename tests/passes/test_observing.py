"""Attention that is not finite is refused with its layer and example, whatever reads it."""

from typing import Any

import pytest
import torch

import headscope
from headscope import HeadscopeError, Model, Settings
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=5)
TEXTS = ["the dog ran .", "a bird sat .", "the cat slept .", "the man saw a cat ."]


@pytest.fixture
def model() -> Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer(), "tiny")


def layer(model: Model, number: int) -> Any:
    network: Any = model.network
    return network.encoder.layer[number].attention.self


def test_a_word_without_numbers_is_refused_where_it_first_stands(model: Model) -> None:
    cat = model.tokenizer.convert_tokens_to_ids("cat")
    with torch.no_grad():
        model.network.get_input_embeddings().weight[cat] = torch.nan  # type: ignore[index,operator]
    expected = "model 'tiny': the attention of layer 1 is not finite in example 3, computed in float32; leave the"
    with pytest.raises(HeadscopeError, match=expected):
        headscope.profile(model, TEXTS, QUICK)
    assert headscope.profile(model, TEXTS[:2], QUICK)["entropy"].notnull().all()


def test_an_overflow_of_float16_in_a_later_layer_has_a_remedy(model: Model) -> None:
    model.network.half()
    with torch.no_grad():
        for weights in (layer(model, 1).query.weight, layer(model, 1).key.weight):
            weights *= 1e4
    expected = "the attention of layer 2 is not finite in example 1, computed in float16; use --dtype float32"
    with pytest.raises(HeadscopeError, match=expected):
        headscope.profile(model, TEXTS, QUICK)


def test_of_two_models_the_wrong_one_is_named(model: Model) -> None:
    other = headscope.wrap(tiny_bert(), tiny_tokenizer(), "other")
    with torch.no_grad():
        layer(other, 2).value.weight[0] = torch.inf  # the attention of the last layer does not depend on it
        layer(other, 1).key.weight[0] = torch.inf
    with pytest.raises(HeadscopeError, match="model 'other': the attention of layer 2 is not finite in example 1"):
        headscope.compare([model, other], TEXTS, QUICK)


def test_padding_may_be_anything(model: Model) -> None:
    with torch.no_grad():
        model.network.get_input_embeddings().weight[model.tokenizer.pad_token_id] = 1e4  # type: ignore[index,operator]
    assert headscope.profile(model, TEXTS, QUICK)["entropy"].notnull().all()
