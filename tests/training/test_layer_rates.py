"""Learning rates of their own for layers: the factors, and the groups of the optimiser."""

from typing import Any

import pytest
import torch
from transformers import BertForSequenceClassification

from headscope import HeadscopeError
from headscope.training import TrainingRecipe
from headscope.training.recipe import layer_rates, set_rates
from support.tiny import tiny_bert


@pytest.mark.parametrize(
    ("options", "below", "layers"),
    [
        ({"layer_rate_decay": 0.5}, 0.125, [0.25, 0.5, 1.0]),
        ({"layer_rate_growth": 0.5}, 1.0, [1.0, 0.5, 0.25]),
        ({"layer_rate_decay": 0.5, "layer_rate_growth": 0.5}, 0.125, [0.25, 0.25, 0.25]),
    ],
)
def test_each_layer_has_its_rate(options: dict[str, Any], below: float, layers: list[float]) -> None:
    network: Any = tiny_bert(0, BertForSequenceClassification, num_hidden_layers=3)
    factors = layer_rates(network, TrainingRecipe(**options))
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.1)
    set_rates(optimizer, factors)
    rates = {id(weight): group["lr"] for group in optimizer.param_groups for weight in group["params"]}
    assert len(rates) == len(list(network.parameters()))
    for name, weight in network.named_parameters():
        expected = below if ".embeddings." in name else 1.0
        if ".layer." in name:
            expected = layers[int(name.split(".layer.")[1].partition(".")[0])]
        assert rates[id(weight)] == pytest.approx(0.1 * expected), name


def test_one_rate_for_all_has_no_factors() -> None:
    assert layer_rates(tiny_bert(), TrainingRecipe()) == {}
    assert not any(name.startswith("layer_rate") for name in TrainingRecipe().as_settings())
    assert TrainingRecipe(layer_rate_decay=0.9).as_settings()["layer_rate_decay"] == 0.9


@pytest.mark.parametrize("rate", [0.0, 1.5, float("nan")])
def test_a_rate_out_of_range_is_refused(rate: float) -> None:
    with pytest.raises(HeadscopeError, match=r"layer_rate_decay .* is out of range; use 0 < layer_rate_decay <= 1"):
        TrainingRecipe(layer_rate_decay=rate)
