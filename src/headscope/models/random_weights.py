"""A model with random weights, as a baseline for its architecture and tokens."""

import copy
from typing import Any

import torch
from torch import nn

from headscope.capture.self_check import check
from headscope.capture.spread import place_like, weights_hash
from headscope.capture.transformers_logging import quiet, refusing
from headscope.models.config import BUILDING
from headscope.models.model import Model
from headscope.models.pruned_checkpoint import built, pruning_of
from headscope.storage.kept_inputs import free_models, kept

# A score is compared with those of random weights of this many seeds.
SEEDS = 3
MOST_KEPT = 1e9  # bytes of the weights of all seeds


def untrained(model: Model, seed: int = 0) -> Model:
    """A model of the same configuration and tokenizer with random weights by the model's own code.

    For BERT that is a normal distribution. The same seed gives the same weights; other random numbers are unaffected.
    Studies of a survey share those of a small model.

    Raises `HeadscopeError` if the model cannot be built from its configuration, or not captured exactly.

    >>> from headscope import load
    >>> model = untrained(load("minilm"))
    >>> model.name, round(model.network.embeddings.word_embeddings.weight.std().item(), 2)
    ('minilm, random weights', 0.02)
    """
    size = sum(weights.nbytes for weights in model.network.parameters())
    if SEEDS * size <= MOST_KEPT:
        return kept(("random weights", model.network, model.name, seed), lambda: _built(model, seed))
    free_models()  # that of the seed before
    return _built(model, seed)


def _built(model: Model, seed: int) -> Model:
    config = copy.deepcopy(model.network.config)
    kind: Any = type(model.network)
    pruning = pruning_of(config)
    network_class = built(kind, pruning) if pruning else kind
    remedy = "leave the untrained model out, or use another model"
    with BUILDING, torch.random.fork_rng(), quiet(), refusing(f"model '{model.name}' cannot be built again", remedy):
        torch.manual_seed(seed)
        network = network_class(config)
    network.__class__ = kind
    nn.Module.to(network, dtype=model.network.dtype)
    place_like(network, model.network)
    network.eval()
    name = f"{model.name}, random weights"
    return Model(name, network, model.tokenizer, check(network), sha256=weights_hash(network))
