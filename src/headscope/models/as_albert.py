"""A BERT written as an ALBERT, whose configuration also has a width of embeddings; layers share no weights.

Both classes compute the same layers, pooling and classifier, under other names.
"""

import re
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers import (
    AlbertConfig,
    AlbertForSequenceClassification,
    AlbertModel,
    BertForSequenceClassification,
    BertModel,
    PreTrainedModel,
)
from transformers.initialization import no_init_weights

from headscope.capture.eager import check_inputs
from headscope.capture.self_check import check, furthest
from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError
from headscope.models.model import Model
from headscope.models.pruned_checkpoint import KEY, made_of

CLASSES: dict[type, type] = {BertModel: AlbertModel, BertForSequenceClassification: AlbertForSequenceClassification}
LAYER = r"encoder\.layer\.(\d+)\."
OURS = r"encoder.albert_layer_groups.\1.albert_layers.0."
NAMES = {
    rf"{LAYER}attention\.self\.": rf"{OURS}attention.",
    rf"{LAYER}attention\.output\.": rf"{OURS}attention.",
    rf"{LAYER}intermediate\.dense\.": rf"{OURS}ffn.",
    rf"{LAYER}output\.dense\.": rf"{OURS}ffn_output.",
    rf"{LAYER}output\.LayerNorm\.": rf"{OURS}full_layer_layer_norm.",
    r"pooler\.dense\.": "pooler.",
    r"^bert\.": "albert.",
}
SAME = (
    *("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act"),
    *("hidden_dropout_prob", "attention_probs_dropout_prob", "max_position_embeddings", "type_vocab_size"),
    *("initializer_range", "layer_norm_eps", "pad_token_id", "bos_token_id", "eos_token_id", "id2label", "label2id"),
    *("problem_type", KEY),
)
# Largest rounding difference, relative to the largest output.
TOLERANCE = 1e-5


def is_bert(network: PreTrainedModel) -> bool:
    """Whether a network is a BERT that an ALBERT can be."""
    return type(network) in CLASSES and not network.config.is_decoder


def albert_of(model: Model, embeddings: dict[str, Tensor], to_states: Tensor, bias: Tensor) -> Model:
    """An ALBERT with the layers, the pooling and the head of a BERT, and other embeddings.

    * `embeddings`: the weights of the part of this name, [row, number] and [number].
    * `to_states`, `bias`: the map from embeddings to states, [width, number] and [width].

    Raises `HeadscopeError` if its outputs are not those of the BERT.
    """
    network: Any = model.network
    base = "" if network.base_model is network else "albert."
    state = {_renamed(name): weight for name, weight in network.state_dict().items() if ".position_ids" not in name}
    state |= {f"{base}embeddings.{name}": weight for name, weight in embeddings.items()}
    mapping = f"{base}encoder.embedding_hidden_mapping_in"
    state |= {f"{mapping}.weight": to_states, f"{mapping}.bias": bias}
    config = _config(network.config, to_states.shape[1])
    with quiet(), no_init_weights():  # all of them are loaded
        made = made_of(CLASSES[type(network)], config)
    made.load_state_dict({name: weight.to(network.dtype) for name, weight in state.items()})
    made = made.to(network.device, network.dtype).eval()
    made.config._name_or_path = made.name_or_path = network.name_or_path
    written = replace(model, network=made, capture=check(made), sha256="", files=())
    if (difference := _difference(model, written)) > TOLERANCE:
        raise HeadscopeError(
            f"model '{model.name}' cannot be written as an ALBERT: its outputs would differ by {difference:.1e}; "
            "leave embeddings out of --parts"
        )
    return written


def _renamed(name: str) -> str:
    for pattern, other in NAMES.items():
        name = re.sub(pattern, other, name)
    return name


def _config(config: Any, width: int) -> AlbertConfig:
    same = {name: getattr(config, name) for name in SAME if getattr(config, name, None) is not None}
    dropout = getattr(config, "classifier_dropout", None)
    sizes = {"embedding_size": width, "num_hidden_groups": config.num_hidden_layers, "inner_group_num": 1}
    sizes["classifier_dropout_prob"] = config.hidden_dropout_prob if dropout is None else dropout
    return AlbertConfig(**same, **sizes)


@torch.inference_mode()
def _difference(model: Model, written: Model) -> float:
    """Largest difference of the outputs, relative to the largest."""
    inputs = check_inputs(model.network)
    with quiet():
        ours, expected = (part.network(**inputs)[0] for part in (written, model))
    return furthest(ours, expected, inputs["attention_mask"].bool()) / max(1.0, expected.abs().amax().item())
