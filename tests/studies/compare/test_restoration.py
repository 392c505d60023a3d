"""Weights go back into the layers that are named, into no others, and come out again."""

import re

import pytest
import torch
from transformers import BertForSequenceClassification, PreTrainedModel

import headscope
from headscope import HeadscopeError, Model
from headscope.studies.training.compare.layer_weights import restoring
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer
from support.tiny_families import tiny_family


def model(network: PreTrainedModel, name: str = "model") -> Model:
    return headscope.wrap(network, tiny_tokenizer(), name)


def weights(network: PreTrainedModel) -> dict[str, torch.Tensor]:
    return {name: weight.clone() for name, weight in network.base_model.state_dict().items()}


def as_in(found: dict[str, torch.Tensor], source: dict[str, torch.Tensor]) -> set[str]:
    """The first parts of the names of weights that are those of the source: "encoder.layer.0"."""
    same = {".".join(name.split(".")[:3]) for name in found if torch.equal(found[name], source[name])}
    other = {".".join(name.split(".")[:3]) for name in found if not torch.equal(found[name], source[name])}
    return same - other


@pytest.fixture
def pair() -> tuple[Model, Model]:
    tuned = tiny_bert(seed=1, kind=BertForSequenceClassification)
    # What starts as zeros or ones is alike in all models.
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in tuned.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    return model(tuned, "tuned"), model(tiny_bert(seed=0), "first")


def test_layers_are_restored_one_by_one_and_put_back(pair: tuple[Model, Model]) -> None:
    tuned, first = pair
    before, source = weights(tuned.network), weights(first.network)
    assert as_in(before, source) == set()
    with restoring(tuned, first) as restore:
        for layer in (1, 2):
            restore(layer)
            expected = {f"encoder.layer.{number}" for number in range(layer)}
            assert as_in(weights(tuned.network), source) == expected
        restore(1)  # again
    assert all(torch.equal(weight, before[name]) for name, weight in weights(tuned.network).items())
    assert all(torch.equal(weight, source[name]) for name, weight in weights(first.network).items())


def test_embeddings_are_restored_with_the_first_layer_where_they_are_asked_for(pair: tuple[Model, Model]) -> None:
    tuned, first = pair
    before, source = weights(tuned.network), weights(first.network)
    with restoring(tuned, first, embeddings=True) as restore:
        assert as_in(weights(tuned.network), source) == set()
        restore(1)
        parts = ("word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm")
        expected = {"encoder.layer.0", "embeddings.LayerNorm.bias", *(f"embeddings.{part}.weight" for part in parts)}
        assert as_in(weights(tuned.network), source) == expected
    assert all(torch.equal(weight, before[name]) for name, weight in weights(tuned.network).items())


def test_outputs_are_those_of_the_first_model_once_all_is_restored() -> None:
    tuned, first = model(tiny_gpt2(seed=1)), model(tiny_gpt2(seed=0))
    inputs = {"input_ids": torch.randint(5, 100, (2, 9), generator=torch.Generator().manual_seed(0))}
    with torch.inference_mode(), restoring(tuned, first, embeddings=True) as restore:
        expected = first.network(**inputs)[0]
        assert not torch.allclose(tuned.network(**inputs)[0], expected, atol=1e-3)
        restore(1)
        restore(2)
        torch.testing.assert_close(tuned.network(**inputs)[0], expected)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_weights_are_put_back_after_an_error(pair: tuple[Model, Model], error: type[BaseException]) -> None:
    tuned, first = pair
    before = weights(tuned.network)
    with pytest.raises(error), restoring(tuned, first) as restore:
        restore(1)
        raise error
    assert all(torch.equal(weight, before[name]) for name, weight in weights(tuned.network).items())


@pytest.mark.parametrize("kind", ["distilbert", "roberta", "modernbert", "deberta-v2", "xlm"])
def test_layers_of_many_families_are_found(kind: str) -> None:
    one, other = tiny_family(kind), tiny_family(kind)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter += 1
    with restoring(model(other), model(one)) as restore:
        restore(1)
        found, source = other.state_dict(), one.state_dict()
        restored = {name for name, weight in found.items() if weight.numel() and torch.equal(weight, source[name])}
    layers = {name: re.findall(r"\.(\d+)\.", f".{name}") for name, _ in one.named_parameters()}
    first = {name for name, numbers in layers.items() if numbers[:1] == ["0"]}
    assert len(first) >= 5
    assert restored & set(layers) == first


def test_layers_that_share_their_weights_are_refused() -> None:
    one = model(tiny_family("albert"))
    refused = pytest.raises(HeadscopeError, match="model type 'albert': its layers cannot be identified")
    with refused, restoring(one, one):
        pass


def test_weights_of_another_size_are_refused(pair: tuple[Model, Model]) -> None:
    wide = model(tiny_bert(hidden_size=32), "wide")
    refused = pytest.raises(HeadscopeError, match="model 'tuned' cannot take the layers of 'wide'")
    with refused, restoring(pair[0], wide):
        pass
