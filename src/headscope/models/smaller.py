"""Cut layers, neurons, heads, pieces of the vocabulary and positions out of a model that stays of its class.

What an ordinary configuration can say: fewer layers, one feed-forward width and one number of heads for all layers, a
smaller vocabulary and a smaller table of positions. The outputs are those of the model with these parts silenced.
"""

import copy
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.initialization import no_init_weights

from headscope.capture.eager import check_inputs
from headscope.capture.layer_stack import Stack, instead, stack
from headscope.capture.self_check import check, furthest
from headscope.capture.transformers_logging import quiet, refusing
from headscope.errors import HeadscopeError
from headscope.models.feed_forward import FeedForward, entering, feed_forwards, width_name
from headscope.models.head_slicing import keep_rows, sizes, slice_heads, uncuttable
from headscope.models.model import COUNTED_FROM_PADDING, Model
from headscope.models.pruned_checkpoint import pruning_of
from headscope.models.smaller_vocabulary import can_lose_pieces, with_pieces

# Largest rounding difference from the silenced model, relative to its largest output.
TOLERANCE = 1e-5
Numbers = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Kept:
    """The parts of a model that stay; all count from 0, and None keeps all.

    * `layers`: those that stay, in ascending order.
    * `neurons`, `heads`: of each layer of the original model, the same number in all layers.
    * `pieces`: ids of the vocabulary, in ascending order.
    * `tokens`: the longest input, special tokens included.
    """

    layers: tuple[int, ...] | None = None
    neurons: Numbers | None = None
    heads: Numbers | None = None
    pieces: tuple[int, ...] | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class Parts:
    """What can be cut out of a model.

    * `stack`: its layers; `feed_forward`: their maps, None where these cannot be found.
    * `heads`: whether heads can; `pieces`: whether pieces of the vocabulary can; `table`: rows of its position table,
      None where it has none.
    """

    stack: Stack
    feed_forward: tuple[FeedForward, ...] | None
    heads: bool
    pieces: bool
    table: int | None


def parts_of(model: Model) -> Parts:
    """The parts of a model that its class can lose.

    Raises `HeadscopeError` if none can, or the model is quantised, pruned by head, or runs code of its own.
    """
    config, name = model.network.config, model.name
    if getattr(config, "quantization_config", None) or not model.network.dtype.is_floating_point:
        raise HeadscopeError(f"model '{name}' is quantised; shrink the model that it was made from")
    if pruning_of(config):
        raise HeadscopeError(
            f"model '{name}' has lost heads one by one, which its class cannot say; shrink the whole one"
        )
    if getattr(config, "auto_map", None):
        raise HeadscopeError(f"model '{name}' comes with code of its own; shrink a model of transformers")
    layers = stack(model.network, len(model.capture.heads))
    if layers is None or len(set(layers.layers)) < len(layers.layers):
        raise HeadscopeError(f"model '{name}' has no layers that follow each other, each with its weights; use another")
    maps = feed_forwards(layers)
    if maps and (len({part.width for part in maps}) > 1 or width_name(model.network, maps[0].width) is None):
        maps = None
    explicit = getattr(config, "head_dim", None) is not None
    heads = explicit and len(set(model.capture.heads)) == 1 and uncuttable(model) is None
    return Parts(layers, maps, heads, can_lose_pieces(model.tokenizer), _table_rows(model.network))


def cut(model: Model, kept: Kept, *, outputs: Sequence[tuple[Tensor, Tensor | None]] | None = None) -> Model:
    """A smaller copy of a model, of its class, without some parts.

    * `outputs`: of each original layer another weight and bias of the output map of its feed-forward part, over the
      kept neurons, such as fitted ones; the outputs are not compared then.

    Raises `HeadscopeError` if the class of the model cannot hold the rest, or its outputs differ from those of the
    model with the other parts silenced.

    >>> from headscope.models import load
    >>> smaller = cut(load("minilm"), Kept(layers=(0, 1, 2), tokens=32))
    >>> smaller.capture.heads, smaller.max_tokens
    ((12, 12, 12), 32)
    """
    with quiet(), refusing(f"model '{model.name}' cannot lose these parts", "keep more, or use another model"):
        network = _rebuilt(_sliced(model, kept, outputs))
    tokenizer = model.tokenizer
    if kept.pieces is not None or kept.tokens is not None:
        pieces = kept.pieces or tuple(range(model.network.config.get_text_config().vocab_size))
        limit = kept.tokens or model.tokenizer.model_max_length
        tokenizer = with_pieces(tokenizer, pieces, limit) if kept.pieces else _shorter(tokenizer, limit)
    smaller = replace(model, network=network, tokenizer=tokenizer, capture=check(network), sha256="", files=())
    if outputs is None and (difference := _difference(model, smaller, kept)) > TOLERANCE:
        raise HeadscopeError(
            f"model '{model.name}' cannot lose these parts: its outputs would differ by {difference:.1e} from those "
            "with the parts silenced; keep more, or use another model"
        )
    return smaller


def position_rows(model: Model, tokens: int) -> int:
    """The rows of a position table for inputs of `tokens` tokens; some families begin after the padding token."""
    config = model.network.config
    first = (config.pad_token_id or 0) + 1 if config.model_type in COUNTED_FROM_PADDING else 0
    return tokens + first


def _sliced(model: Model, kept: Kept, outputs: Any) -> PreTrainedModel:
    """A copy of the network without the parts, whose configuration has its new sizes."""
    network = copy.deepcopy(model.network)
    config, number = network.config.get_text_config(), len(model.capture.heads)
    layers = stack(network, number)
    if layers is None:
        raise ValueError("its layers cannot be found")
    if kept.heads is not None:
        slice_heads(network, model.capture.heads, kept.heads)
        config.num_attention_heads = len(kept.heads[0])
        if getattr(config, "num_key_value_heads", None) is not None:
            config.num_key_value_heads = len(kept.heads[0])
    if kept.neurons is not None:
        _slice_neurons(network, feed_forwards(layers) or (), kept.neurons, outputs)
    if kept.layers is not None:
        _slice_layers(network, layers, kept.layers)
    _slice_tables(model, network, kept)
    return network


def _slice_neurons(network: PreTrainedModel, maps: tuple[FeedForward, ...], neurons: Numbers, outputs: Any) -> None:
    name = width_name(network, maps[0].width)
    for layer, (part, some) in enumerate(zip(maps, neurons, strict=True)):
        for linear in part.inputs:
            parts = sizes(linear)[1] // part.width
            rows = torch.arange(sizes(linear)[1]).view(parts, part.width)[:, list(some)].flatten()
            keep_rows(linear, rows, inputs=False)
        keep_rows(part.output, torch.tensor(some), inputs=True)
        if outputs is not None:
            _write(part.output, *outputs[layer])
    setattr(network.config.get_text_config(), str(name), len(neurons[0]))


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
    config.num_hidden_layers = len(kept)


def _slice_tables(model: Model, network: PreTrainedModel, kept: Kept) -> None:
    """Cut the tables of words and of positions."""
    config = network.config.get_text_config()
    if kept.tokens is not None:
        rows = position_rows(model, kept.tokens)
        for table in _position_tables(network):
            _keep_first(table, rows)
        config.max_position_embeddings = rows
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


def _position_tables(network: PreTrainedModel) -> list[nn.Embedding]:
    rows = getattr(network.config.get_text_config(), "max_position_embeddings", None)
    return [
        module
        for module in network.modules()
        if isinstance(module, nn.Embedding)
        and module.num_embeddings == rows
        and module is not network.get_input_embeddings()
    ]


def _table_rows(network: PreTrainedModel) -> int | None:
    tables = _position_tables(network)
    return tables[0].num_embeddings if len(tables) == 1 else None


def _keep_first(table: nn.Embedding, rows: int) -> None:
    table.weight = nn.Parameter(table.weight.detach()[:rows].clone())
    table.num_embeddings = rows


def _shorter(tokenizer: Any, limit: int) -> Any:
    copied = copy.deepcopy(tokenizer)
    copied.model_max_length = limit
    return copied


def _rebuilt(network: PreTrainedModel) -> PreTrainedModel:
    """The class of a network, made from its configuration alone and filled with its weights."""
    with no_init_weights():  # all of them are loaded
        made = type(network)(network.config)
    made.load_state_dict(network.state_dict())
    made.tie_weights()
    return made.to(network.device, network.dtype).eval()


@torch.inference_mode()
def _difference(model: Model, smaller: Model, kept: Kept) -> float:
    """Largest difference of the outputs from those of the silenced model, relative to its largest output."""
    inputs = check_inputs(smaller.network)
    tokens = min(smaller.max_tokens, inputs["input_ids"].shape[1])
    inputs = {name: values[:, :tokens] for name, values in inputs.items()}
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


def silenced(model: Model, kept: Kept) -> ExitStack:
    """Context in which a model computes without the layers, heads and neurons that are not kept."""
    parts, context = parts_of(model), ExitStack()
    if kept.layers is not None:
        gone = [layer for number, layer in enumerate(parts.stack.layers) if number not in kept.layers]
        context.enter_context(instead(dict.fromkeys(gone, lambda states, *_, **__: states)))
    if kept.heads is not None:
        maps = model.projections
        context.enter_context(_only([one.output for one in maps], kept.heads, maps[0].width))
    if kept.neurons is not None and parts.feed_forward:
        context.enter_context(_only([part.output for part in parts.feed_forward], kept.neurons, 1))
    return context


def _only(outputs: Sequence[nn.Module], kept: Numbers, width: int) -> AbstractContextManager[None]:
    """Context in which only the kept parts, each `width` wide, enter the output map of each layer."""

    def silence(layer: int, values: Tensor) -> Tensor:
        mask = torch.zeros(values.shape[-1] // width, dtype=values.dtype, device=values.device)
        mask[list(kept[layer])] = 1
        return values * mask.repeat_interleave(width)

    return entering(outputs, silence)
