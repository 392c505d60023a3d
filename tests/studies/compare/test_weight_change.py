"""How far each layer's weights moved: a closed form, and layers that do not match."""

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope.studies.training.compare.layer_weights import weight_changes
from support.tiny import tiny_bert, tiny_tokenizer

BOUNDS = ["lower", "upper"]


def measured(first, other):
    models = [headscope.wrap(network, tiny_tokenizer()) for network in (first, other)]
    coords = {"model": ["other"], "layer": [1, 2]}
    values = {"layer_similarity": (("model", "layer"), [[0.9, 0.5]]), "layer_similarity_n_examples": ((), 7)}
    values["layer_similarity_ci"] = (("model", "layer", "bound"), [[[0.8, 0.95], [0.4, 0.6]]])
    return weight_changes(models, xr.Dataset(values, coords | {"bound": BOUNDS}))


def test_weights_that_grow_by_a_tenth_changed_by_a_tenth() -> None:
    first, other = tiny_bert(num_hidden_layers=2), tiny_bert(num_hidden_layers=2)
    with torch.no_grad():
        for name, weight in other.named_parameters():
            if "layer.0." in name:
                weight *= 1.1
    made = measured(first, other)
    assert made["weight_change"].values[0] == pytest.approx([0.1, 0.0], abs=1e-6)
    ratio, bounds = made["change_per_weight"].values[0], made["change_per_weight_ci"].values[0]
    assert ratio[0] == pytest.approx(1.0, abs=1e-4) and np.isnan(ratio[1])
    assert bounds[0] == pytest.approx([0.5, 2.0], abs=1e-4) and np.isnan(bounds[1]).all()


def test_layers_of_other_sizes_have_no_change() -> None:
    made = measured(tiny_bert(num_hidden_layers=2), tiny_bert(num_hidden_layers=2, intermediate_size=48))
    assert np.isnan(made["weight_change"]).all() and np.isnan(made["change_per_weight"]).all()
