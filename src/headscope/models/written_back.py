"""Write the weights of a smaller model, such as a trained one, back into the model that it was cut out of."""

import copy
from dataclasses import replace

import torch
from torch import nn
from transformers import PreTrainedModel

from headscope.capture.layer_stack import stack
from headscope.models.model import Model
from headscope.models.removable_parts import Kept, embedding_tables
from headscope.models.smaller import sliced


@torch.no_grad()
def written_back(model: Model, smaller: Model, kept: Kept, *, fine: bool = False) -> Model:
    """A model with the weights of a smaller one where this has its parts; other parts and tables stay as they are.

    With the other parts silenced it computes what the smaller model does, if both have the same tables of embeddings.

    * `kept`: the parts of the smaller model, with all pieces and positions; `fine`: see `smaller.cut`.
    """
    number = len(model.capture.heads)
    network, stay = copy.deepcopy(model.network), range(number) if kept.layers is None else kept.layers
    ours, theirs = _layers(network, number), _layers(smaller.network, len(stay))
    indices = _layers(sliced(_numbered(model), kept, fine=fine), len(stay))
    for layer, index, other in zip([ours[layer] for layer in stay], indices, theirs, strict=True):
        weights, positions = dict(layer.named_parameters()), dict(index.named_parameters())
        for name, weight in other.named_parameters():
            weights[name].put_(positions[name].long(), weight)
    beside, weights = _outside(smaller.network, theirs), dict(network.named_parameters())
    for name, weight in beside.items():
        weights[name].copy_(weight)
    return replace(model, network=network, sha256="", files=())


def _numbered(model: Model) -> Model:
    """The model, where each weight of a layer is its own position within its tensor: exact in double precision."""
    network = copy.deepcopy(model.network).double()
    for layer in _layers(network, len(model.capture.heads)):
        for weight in layer.parameters():
            weight.copy_(torch.arange(weight.numel(), device=weight.device).view_as(weight))
    return replace(model, network=network)


def _layers(network: PreTrainedModel, number: int) -> tuple[nn.Module, ...]:
    found = stack(network, number)
    return found.layers if found else ()


def _outside(network: PreTrainedModel, layers: tuple[nn.Module, ...]) -> dict[str, nn.Parameter]:
    """The weights outside of layers and of tables of embeddings, by name."""
    inside = {id(weight) for module in (*layers, *embedding_tables(network)) for weight in module.parameters()}
    return {name: weight for name, weight in network.named_parameters() if id(weight) not in inside}
