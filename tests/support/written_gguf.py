"""GGUF files of tiny models, written as llama.cpp's converter writes them, with the package gguf.

The names of weights are those of the package's own table, so that no table of headscope is read.
"""

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GemmaConfig,
    GemmaForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from support.tiny import byte_tokenizer, tiny_network

SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 128,
    "vocab_size": 260,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": True,
}
THETA = {"rope_type": "default", "rope_theta": 5_000.0}
BOTH = {"full_attention": THETA, "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0}}
WINDOW: dict[str, Any] = {"sliding_window": 5, "query_pre_attn_scalar": 32, "num_hidden_layers": 7}
NETWORKS: dict[str, tuple[type, type, dict[str, Any]]] = {
    "gemma": (GemmaConfig, GemmaForCausalLM, {"rope_parameters": THETA}),
    "gemma2": (Gemma2Config, Gemma2ForCausalLM, WINDOW | {"rope_parameters": THETA, "attn_logit_softcapping": 3.0}),
    "gemma3": (Gemma3TextConfig, Gemma3ForCausalLM, WINDOW | {"rope_parameters": BOTH}),
    "llama": (LlamaConfig, LlamaForCausalLM, {"rope_parameters": THETA, "tie_word_embeddings": False}),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, {"rope_parameters": THETA, "head_dim": 16}),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, {"rope_parameters": THETA}),
}


def tiny_decoder(architecture: str, **config: Any) -> PreTrainedModel:
    """A seeded decoder with norms and biases of all sizes."""
    settings, kind, own = NETWORKS[architecture]
    network = tiny_network(settings(**SIZES | own | config), kind=kind)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.ndim == 1:
                parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    return network


def write_gguf(
    path: Path,
    architecture: str,
    network: Any,
    tokenizer: PreTrainedTokenizerBase | None = None,
    *,
    quantised: bool = False,
    weights: dict[str, np.ndarray] | None = None,
    **keys: Any,
) -> Path:
    """Write a network to a file, its matrices in eight bits if `quantised`, and change the network to what was written.

    * `tokenizer`: of bytes; `weights`: further ones; `keys`: replace what is stated, None leaves it out.
    """
    config, writer = network.config, gguf.GGUFWriter(path, architecture)
    stated: dict[str, Any] = {
        "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size,
        "block_count": config.num_hidden_layers,
        "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.key_length": config.head_dim if hasattr(config, "head_dim") else None,
        "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "attention.sliding_window": config.sliding_window if architecture in ("gemma2", "gemma3") else None,
        "attn_logit_softcapping": getattr(config, "attn_logit_softcapping", None),
        "rope.freq_base": THETA["rope_theta"],
    } | {key.replace("__", "."): value for key, value in keys.items()}
    for key, value in stated.items():
        add: Any = writer.add_float32 if isinstance(value, float) else writer.add_uint32
        if isinstance(value, str):
            add = writer.add_string
        if value is not None:
            add(f"{architecture}.{key}", value)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if quantised else gguf.LlamaFileType.ALL_F32)
    if tokenizer:
        _write_tokenizer(writer, tokenizer)
    names = gguf.get_tensor_name_map(_number_of(architecture), config.num_hidden_layers)
    for key, parameter in network.named_parameters():
        part, _, end = key.rpartition(".")
        values = parameter.detach().numpy()
        kind = gguf.GGMLQuantizationType.Q8_0 if quantised and values.ndim > 1 else gguf.GGMLQuantizationType.F32
        if architecture.startswith("gemma") and key.endswith("norm.weight"):
            values = values + 1
        raw = gguf.quantize(_turned(architecture, key, values, config), kind)
        if kind != gguf.GGMLQuantizationType.F32:
            read = gguf.dequantize(gguf.quantize(values, kind), kind)
            parameter.data.copy_(torch.from_numpy(read))
        writer.add_tensor(f"{names.get_name(part)}.{end}", raw, raw_dtype=kind)
    for key, values in (weights or {}).items():
        writer.add_tensor(key, values)
    return _written(writer, path)


def without_weights(path: Path, architecture: str) -> Path:
    """A file that states an architecture, and no more."""
    return _written(gguf.GGUFWriter(path, architecture), path)


def _written(writer: Any, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _number_of(architecture: str) -> Any:
    return next(number for number, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)


def _turned(architecture: str, key: str, values: np.ndarray, config: Any) -> np.ndarray:
    """Queries and keys of Llama, pair by pair in the place of half by half."""
    if architecture != "llama" or not ("q_proj" in key or "k_proj" in key):
        return values
    heads = config.num_attention_heads if "q_proj" in key else config.num_key_value_heads
    half = values.shape[0] // heads // 2
    rows = [head * 2 * half + part * half + n for head in range(heads) for n in range(half) for part in range(2)]
    return values[rows]


def _write_tokenizer(writer: Any, tokenizer: Any) -> None:
    numbers = tokenizer.get_vocab()
    pieces = sorted(numbers, key=lambda piece: numbers[piece])
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(pieces)
    writer.add_token_types([1] * len(pieces))
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(merge) for merge in merges])


def save_bytes(folder: Path) -> Path:
    """The folder of a tokenizer of bytes."""
    byte_tokenizer().save_pretrained(folder)
    return folder
