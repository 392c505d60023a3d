"""Cut layers, neurons, heads, pieces of the vocabulary and positions out of a model.

An ordinary configuration can say: fewer layers, one feed-forward width and one number of heads for all layers, a
smaller vocabulary and a smaller table of positions. Other numbers for each layer stand in the configuration as those of
a pruned model. The outputs are those of the model with these parts silenced.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.initialization import no_init_weights

from headscope.capture.eager import check_inputs
from headscope.capture.layer_stack import Stack, stack
from headscope.capture.self_check import check, furthest
from headscope.capture.transformers_logging import quiet, refusing
from headscope.errors import HeadscopeError
from headscope.models.config import query_group
from headscope.models.feed_forward import feed_forwards, slice_neurons, width_name
from headscope.models.head_slicing import slice_heads
from headscope.models.model import Model
from headscope.models.pruned_checkpoint import KEY, Pruning, made_like
from headscope.models.removable_parts import Kept, silenced
from headscope.models.smaller_vocabulary import with_pieces

# Largest rounding difference from the silenced model, relative to its largest output.
TOLERANCE = 1e-5


def cut(
    model: Model, kept: Kept, *, outputs: Sequence[tuple[Tensor, Tensor | None]] | None = None, fine: bool = False
) -> Model:
    """A smaller copy of a model, of its class, without some parts.

    * `outputs`: of each original layer another weight and bias of the output map of its feed-forward part, over the
      kept neurons, such as fitted ones; the outputs are not compared then.
    * `fine`: whether layers may keep different numbers of heads and neurons, or none; the model is saved as a pruned
      one then.

    Raises `HeadscopeError` if the class of the model cannot hold the rest, or its outputs differ from those of the
    model with the other parts silenced.

    >>> from headscope.models import load
    >>> cut(load("minilm"), Kept(layers=(0, 1, 2))).capture.heads
    (12, 12, 12)
    """
    with quiet(), refusing(f"model '{model.name}' cannot lose these parts", "keep more, or use another model"):
        network = _rebuilt(sliced(model, kept, outputs, fine=fine))
    tokenizer = model.tokenizer
    if kept.pieces is not None:
        tokenizer = with_pieces(tokenizer, kept.pieces, tokenizer.model_max_length)
    smaller = replace(model, network=network, tokenizer=tokenizer, capture=check(network), sha256="", files=())
    if outputs is None and (difference := _difference(model, smaller, kept)) > TOLERANCE:
        raise HeadscopeError(
            f"model '{model.name}' cannot lose these parts: its outputs would differ by {difference:.1e} from those "
            "with the parts silenced; keep more, or use another model"
        )
    return smaller


def sliced(model: Model, kept: Kept, outputs: Any = None, *, fine: bool) -> PreTrainedModel:
    """A copy of the network without the parts, whose configuration has its new sizes; `outputs`, `fine`: see `cut`."""
    network = copy.deepcopy(model.network)
    config, number = network.config.get_text_config(), len(model.capture.heads)
    layers = stack(network, number)
    if layers is None:
        raise ValueError("its layers cannot be found")
    shared = query_group(config, model.capture.heads)
    if kept.heads is not None:
        slice_heads(network, model.capture.heads, kept.heads)
    if kept.neurons is not None:
        maps = [*(feed_forwards(layers) or [])]
        name = width_name(network, maps[0].width)
        slice_neurons(maps, kept.neurons)
        for part, written in zip(maps, outputs or [], strict=False):
            _write(part.output, *written)
        if not fine:
            setattr(config, str(name), len(kept.neurons[0]))
    if fine:
        _say_pruned(network, model.capture.heads, kept)
    elif kept.heads is not None:
        config.num_attention_heads = len(kept.heads[0])
        if getattr(config, "num_key_value_heads", None) is not None:
            config.num_key_value_heads = len(kept.heads[0]) // shared
    if kept.layers is not None:
        _slice_layers(network, layers, kept.layers)
    _slice_tables(model, network, kept)
    return network


def _say_pruned(network: PreTrainedModel, heads: tuple[int, ...], kept: Kept) -> None:
    """Write the heads and neurons of the kept layers into the configuration; heads count as in the original layers."""
    layers = range(len(heads)) if kept.layers is None else kept.layers
    some = kept.heads or [tuple(range(number)) for number in heads]
    neurons = None if kept.neurons is None else tuple(len(kept.neurons[layer]) for layer in layers)
    left = Pruning(tuple(heads[layer] for layer in layers), tuple(some[layer] for layer in layers), neurons).as_config()
    if left["removed"] or neurons is not None:
        setattr(network.config, KEY, left)


@torch.no_grad()
def _write(linear: Any, weight: Tensor, bias: Tensor | None) -> None:
    """Write a weight [output, neuron] and a bias into a linear map."""
    linear.weight.copy_(weight if isinstance(linear, nn.Linear) else weight.T)
    if bias is not None:
        linear.bias.copy_(bias)


def _slice_layers(network: PreTrainedModel, layers: Stack, kept: tuple[int, ...]) -> None:
    config = network.config.get_text_config()
    for module in network.modules():
        for name, child in module.named_children():
            if isinstance(child, nn.ModuleList) and tuple(child) == layers.layers:
                setattr(module, name, nn.ModuleList([child[layer] for layer in kept]))
    for name, value in list(config.to_dict().items()):
        if isinstance(value, list) and len(value) == len(layers.layers):
            setattr(config, name, [value[layer] for layer in kept])
    if getattr(config, "num_hidden_groups", None) is not None:  # of ALBERT: each layer has weights of its own
        config.num_hidden_groups = len(kept)
    config.num_hidden_layers = len(kept)


def _slice_tables(model: Model, network: PreTrainedModel, kept: Kept) -> None:
    """Cut the tables of words."""
    config = network.config.get_text_config()
    if kept.pieces is None:
        return
    index, size = torch.tensor(kept.pieces), config.vocab_size
    tables = [table for table in (network.get_input_embeddings(), network.get_output_embeddings()) if table is not None]
    weights = {id(table.weight) for table in tables}
    for module in network.modules():
        for name, weight in list(module.named_parameters(recurse=False)):
            if id(weight) in weights or (weight.ndim == 1 and len(weight) == size):
                setattr(module, name, nn.Parameter(weight.detach()[index.to(weight.device)].clone()))
    config.vocab_size = len(kept.pieces)
    new = {old: number for number, old in enumerate(kept.pieces)}
    for name, value in list(config.to_dict().items()):
        if name.endswith("_token_id") and isinstance(value, int):
            setattr(config, name, new.get(value, value))


def _rebuilt(network: PreTrainedModel) -> PreTrainedModel:
    """The class of a network, made from its configuration alone and filled with its weights."""
    with no_init_weights():  # all of them are loaded
        made = made_like(network)
    made.load_state_dict(network.state_dict())
    made.tie_weights()
    nn.Module.to(made, network.device, network.dtype)
    return made.eval()


@torch.inference_mode()
def _difference(model: Model, smaller: Model, kept: Kept) -> float:
    """Largest difference of the outputs from those of the silenced model, relative to its largest output."""
    inputs = check_inputs(smaller.network)
    original = dict(inputs)
    if kept.pieces is not None:
        original["input_ids"] = torch.tensor(kept.pieces, device=model.device)[inputs["input_ids"]]
    with quiet(), silenced(model, kept):
        expected = model.network(**original)[0]
    ours = smaller.network(**inputs)[0]
    if kept.pieces is not None and expected.shape != ours.shape:
        expected = expected[..., list(kept.pieces)]
    if ours.shape != expected.shape:
        return float("inf")
    return furthest(ours, expected, inputs["attention_mask"].bool()) / max(1.0, expected.abs().amax().item())
