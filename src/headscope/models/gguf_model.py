"""A model from a GGUF file: its configuration, held against all that the file states, and its weights, dequantised.

Keys and weights have the names of llama.cpp (https://github.com/ggml-org/llama.cpp), whose conversion is undone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoConfig, PreTrainedConfig

from headscope.capture.transformers_logging import quiet, refusing
from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.models.gguf_file import GGUFFile

WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
PARTS = {
    **{f"attn_{part}": f"self_attn.{part}_proj" for part in "qkv"},
    **{f"attn_{part}_norm": f"self_attn.{part}_norm" for part in "qk"},
    **{f"ffn_{part}": f"mlp.{part}_proj" for part in ("gate", "up", "down")},
    "attn_output": "self_attn.o_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
AFTER = {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}


@dataclass(frozen=True)
class Architecture:
    """How an architecture of llama.cpp is called in transformers, and stored.

    * `parts`: the weights of a layer; `shifted`: norms are stored as 1 + weight; `turned`: the two halves of queries
      and keys are stored in turns; `scaled`: a model of this many layers scales scores by its width over its heads.
    """

    kind: str
    network: str
    parts: Mapping[str, str]
    shifted: bool = False
    turned: bool = False
    scaled: int = 0


ARCHITECTURES = {
    "gemma": Architecture("gemma", "GemmaForCausalLM", PARTS, shifted=True),
    "gemma2": Architecture("gemma2", "Gemma2ForCausalLM", PARTS | AFTER, shifted=True, scaled=46),
    "gemma3": Architecture("gemma3_text", "Gemma3ForCausalLM", PARTS | AFTER, shifted=True, scaled=62),
    "llama": Architecture("llama", "LlamaForCausalLM", PARTS, turned=True),
    "qwen2": Architecture("qwen2", "Qwen2ForCausalLM", PARTS),
    "qwen3": Architecture("qwen3", "Qwen3ForCausalLM", PARTS),
}
KEYS = {
    "context_length": "max_position_embeddings",
    "embedding_length": "hidden_size",
    "block_count": "num_hidden_layers",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.value_length": "head_dim",
    "rope.dimension_count": "head_dim",
    "attention.sliding_window": "sliding_window",
    "attn_logit_softcapping": "attn_logit_softcapping",
    "final_logit_softcapping": "final_logit_softcapping",
    "vocab_size": "vocab_size",
}
NEEDED = tuple(KEYS)[:6]
THETA, LOCAL_THETA, SCALING, FACTOR = "rope.freq_base", "rope.freq_base_swa", "rope.scaling.type", "rope.scaling.factor"
OTHERS = {THETA, LOCAL_THETA, SCALING, FACTOR, "rope.scaling.original_context_length", "rope.scaling.finetuned"}
FREQUENCIES = "rope_freqs.weight"
MOST_NUMBERS = 1 << 18  # of a weight that are dequantised at once, in several copies
# What a configuration of the same model must say, too; some of it no file states.
SAME = (*dict.fromkeys(KEYS.values()), "rope_parameters", "layer_types", "tie_word_embeddings", "query_pre_attn_scalar")
ORIGINAL = "name the folder of the model that the file was made from"


def config_of(file: GGUFFile, name: str, beside: Path | None = None) -> PreTrainedConfig:
    """The configuration of the model in a file; a config.json in the folder `beside` must say the same.

    Raises `HeadscopeError` for an architecture that is not read, a key that is missing or not read, and a value that
    is not that of the configuration, of the weights, or of config.json.
    """
    stated = _stated(file, name)
    kind = ARCHITECTURES[file.stated["general.architecture"]]
    values = {KEYS[key]: value for key, value in stated.items() if key in KEYS}
    heads, layers = values["num_attention_heads"], values["num_hidden_layers"]
    values.setdefault("num_key_value_heads", heads)
    values.setdefault("head_dim", values["hidden_size"] // max(1, heads))
    if kind.scaled:
        scaled = layers == kind.scaled
        values["query_pre_attn_scalar"] = values["hidden_size"] // heads if scaled else values["head_dim"]
    if kind.kind != "qwen2":
        values["attention_bias"] = "blk.0.attn_q.bias" in file.weights
    values["vocab_size"] = file.weights["token_embd.weight"].shape[0]
    values["tie_word_embeddings"] = "output.weight" not in file.weights
    values["rope_parameters"] = _rope(file, stated, kind, values)
    values |= {
        f"{token}_token_id": file.stated.get(f"tokenizer.ggml.{key}_token_id")
        for token, key in (("bos", "bos"), ("eos", "eos"), ("pad", "padding"))
    }
    with quiet(), refusing(f"model '{name}': its configuration cannot be used", ORIGINAL):
        config: Any = AutoConfig.for_model(kind.kind, architectures=[kind.network], **values)
    for key, value in stated.items():
        if key in KEYS and _plain(getattr(config, KEYS[key], None)) != _plain(value):
            _differ(name, _key(file, key), value, f"{KEYS[key]} of its configuration", getattr(config, KEYS[key], None))
    _refuse_shapes(file, name, config)
    if beside and (beside / "config.json").is_file():
        _refuse_other(name, config, beside)
    return config


def weights_of(file: GGUFFile, config: PreTrainedConfig, name: str, dtype: torch.dtype) -> dict[str, Tensor]:
    """The weights under their names in transformers. Raises `HeadscopeError` for a weight that is not read."""
    kind, weights = ARCHITECTURES[file.stated["general.architecture"]], {}
    for weight, key in _names(file, kind, name).items():
        with refusing(f"model '{name}': its weight {weight} cannot be read", ORIGINAL):
            values = _dequantised(file, weight)
        if kind.shifted and weight.endswith("norm.weight"):
            values -= np.float32(1)
        if kind.turned and (match := re.search(r"\.attn_([qk])\.", weight)):
            heads = config.num_attention_heads if match[1] == "q" else config.num_key_value_heads
            values = values.reshape(heads, -1, 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)
        weights[key] = torch.from_numpy(values).to(dtype)
    return weights


def _dequantised(file: GGUFFile, weight: str) -> np.ndarray:
    """The values of a weight, read and dequantised part by part."""
    gguf, stored = require("gguf"), file.weights[weight]
    kind = gguf.GGMLQuantizationType[stored.dtype]
    block, width = gguf.GGML_QUANT_SIZES[kind]
    values = np.empty(stored.numbers, np.float32)
    for first in range(0, len(values), MOST_NUMBERS):
        part, start = values[first : first + MOST_NUMBERS], file.starts[weight] + first // block * width
        raw = np.fromfile(file.path, np.uint8, len(part) // block * width, offset=start)
        part[:] = gguf.dequantize(raw[None], kind)[0]  # as one row: of many rows gguf takes sixteen at a time
    return values.reshape(stored.shape)


def _stated(file: GGUFFile, name: str) -> dict[str, Any]:
    """What a file states of its architecture, by keys without it."""
    architecture = str(file.stated.get("general.architecture"))
    if architecture not in ARCHITECTURES:
        raise HeadscopeError(
            f"model '{name}': GGUF files of the architecture '{architecture[:40]}' are not read, but those of "
            f"{', '.join(ARCHITECTURES)}; {ORIGINAL}"
        )
    if file.stated.get("split.count", 1) != 1:
        raise HeadscopeError(f"model '{name}' is one of several files; merge them with llama-gguf-split of llama.cpp")
    start = f"{architecture}."
    stated = {key.removeprefix(start): value for key, value in file.stated.items() if key.startswith(start)}
    for key in NEEDED:
        if key not in stated:
            raise HeadscopeError(f"model '{name}': the file does not state {start}{key}; {ORIGINAL}")
    plain = AutoConfig.for_model(ARCHITECTURES[architecture].kind)
    for key, value in stated.items():
        read = KEYS.get(key) == "head_dim" or hasattr(plain, KEYS.get(key, ""))
        size = read and isinstance(value, int | float) and 0 < value < 1 << 32
        if not size and (key not in OTHERS or (key == SCALING and value not in ("none", "linear"))):
            raise HeadscopeError(f"model '{name}': {start}{key} is {str(value)[:40]} and is not read; {ORIGINAL}")
    if "token_embd.weight" not in file.weights:
        raise HeadscopeError(f"model '{name}': the file has no token_embd.weight; download it again")
    return stated


def _rope(file: GGUFFile, stated: Mapping[str, Any], kind: Architecture, values: Mapping[str, Any]) -> dict[str, Any]:
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": stated.get(THETA, 10_000.0)}
    if stated.get(SCALING) == "linear":
        rope |= {"rope_type": "linear", "factor": stated.get(FACTOR, 1.0)}
    if FREQUENCIES in file.weights:  # Llama 3: what divides each frequency, whatever the length
        factors = _dequantised(file, FREQUENCIES).tolist()
        rope |= {"rope_type": "longrope", "short_factor": factors, "long_factor": factors, "attention_factor": 1.0}
        rope |= {"factor": 1.0, "original_max_position_embeddings": values["max_position_embeddings"]}
    if kind.kind != "gemma3_text":
        return rope
    local = {"rope_type": "default", "rope_theta": stated.get(LOCAL_THETA, 10_000.0)}
    return {"full_attention": rope, "sliding_attention": local}


def _names(file: GGUFFile, kind: Architecture, name: str) -> dict[str, str]:
    """The name in transformers of each weight."""
    names = {}
    for weight in file.weights:
        match = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)", weight)
        layer, part, end = match.groups() if match else (None, "", "")
        path = kind.parts.get(part) if layer else WHOLE.get(part)
        if path:
            names[weight] = f"model.layers.{layer}.{path}.{end}" if layer else f"{path}.{end}"
        elif weight != FREQUENCIES or not kind.turned:
            raise HeadscopeError(f"model '{name}': its weight {weight[:60]} is not read; {ORIGINAL}")
    return names


def _refuse_shapes(file: GGUFFile, name: str, config: Any) -> None:
    """Raise `HeadscopeError` if the weights of a layer are not of the sizes that the file states."""
    rows = {
        "attn_q": ("attention.head_count", config.num_attention_heads * config.head_dim),
        "attn_k": ("attention.head_count_kv", config.num_key_value_heads * config.head_dim),
        "ffn_up": ("feed_forward_length", config.intermediate_size),
    }
    layers = {int(match[1]) for weight in file.weights if (match := re.match(r"blk\.(\d+)\.", weight))}
    if layers != set(range(config.num_hidden_layers)):
        _differ(name, _key(file, "block_count"), config.num_hidden_layers, "the number of layers in it", len(layers))
    for weight, stored in file.weights.items():
        key, expected = rows.get(weight.split(".")[-2], ("", 0))
        if key and stored.shape[0] != expected:
            value = f"{getattr(config, KEYS[key])} ({expected} rows)"
            _differ(name, _key(file, key), value, f"the number of rows of {weight}", stored.shape[0])


def _refuse_other(name: str, config: Any, folder: Path) -> None:
    """Raise `HeadscopeError` if the configuration in a folder is not of the same model."""
    with quiet(), refusing(f"config.json of '{folder}' cannot be used", "correct it, or remove it"):
        other: Any = AutoConfig.from_pretrained(folder, local_files_only=True).get_text_config()
    for key in SAME:
        value, expected = getattr(config, key, None), getattr(other, key, None)
        if _plain(value) != _plain(expected):
            _differ(name, f"{key} by the file", value, f"{key} in config.json of '{folder}'", expected)


def _differ(name: str, key: str, value: Any, other: str, expected: Any) -> None:
    raise HeadscopeError(
        f"model '{name}': {key} is {str(value)[:200]}, and {other} is {str(expected)[:200]}; {ORIGINAL}"
    )


def _key(file: GGUFFile, key: str) -> str:
    return f"{file.stated['general.architecture']}.{key}"


def _plain(value: Any) -> Any:
    """A value of a configuration, numbers as the float32 that files state, to be compared."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return float(np.float32(value)) if isinstance(value, int | float) else value
