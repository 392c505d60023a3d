"""Tiny seeded models of every family: tables from model type to what its configuration needs beyond the common sizes.

>>> tiny_family("deberta-v2").config.hidden_size
32
"""

from typing import Any

from transformers import CONFIG_MAPPING, AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedModel

from support.tiny import tiny_network

# Each configuration takes from these the names that it has.
SIZES: dict[str, Any] = {
    "vocab_size": 172, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "layer_norm_eps": 1e-5,
    "num_hidden_layers": 2, "num_layers": 2, "n_layer": 2, "n_layers": 2, "encoder_layers": 2, "decoder_layers": 1,
    "num_encoder_layers": 2, "num_decoder_layers": 1,
    "num_attention_heads": 4, "num_heads": 4, "n_head": 4, "n_heads": 4, "num_key_value_heads": 2,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4,
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "dim": 32, "emb_dim": 32, "embedding_size": 16,
    "head_dim": 8, "d_kv": 8, "d_head": 8,
    "intermediate_size": 48, "d_ff": 48, "n_inner": 48, "d_inner": 48, "hidden_dim": 48, "ffn_dim": 48,
    "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
    "max_position_embeddings": 80, "max_position": 80, "n_positions": 80, "n_ctx": 80,
}  # fmt: skip
# Configurations that list the common names only to say that they do not take them.
WITHOUT = {
    "falcon": {"head_dim"},
    "funnel": {"num_hidden_layers"},
    "prophetnet": {"num_hidden_layers"},
    "xlnet": {"max_position_embeddings"},
}
# Captured exactly.
EXACT: dict[str, dict[str, Any]] = {
    # encoders
    "albert": {},
    "bert": {},
    "bert-generation": {},
    "camembert": {},
    "data2vec-text": {},
    "distilbert": {},
    "electra": {},
    "ernie": {},
    "esm": {},
    "esmc": {"num_key_value_heads": 4},
    "eurobert": {},
    "gte": {},
    "jina_embeddings_v3": {},
    "layoutlm": {},
    "markuplm": {},
    "mobilebert": {},
    "modernbert": {"num_hidden_layers": 3, "global_attn_every_n_layers": 3, "local_attention": 8},
    "nomic_bert": {},
    "roberta": {},
    "roberta-prelayernorm": {},
    "roc_bert": {},
    "splinter": {},
    "ultrabert": {},
    "xlm-roberta": {},
    "xlm-roberta-xl": {},
    "xmod": {"default_language": "en_XX", "languages": ["en_XX", "de_DE"]},
    # encoders of encoder-decoders
    "bart": {},
    "blenderbot": {},
    "blenderbot-small": {},
    "m2m_100": {},
    "marian": {},
    "mbart": {},
    "mt5": {},
    "nllb-moe": {},
    "pegasus": {},
    "plbart": {},
    "switch_transformers": {},
    "t5": {},
    "umt5": {},
    # decoders
    "biogpt": {},
    "cohere2": {"sliding_window": 8},
    "gemma": {},
    "gemma2": {"sliding_window": 8, "attn_logit_softcapping": 2.0},
    "gemma3_text": {"sliding_window": 8},
    "glm4": {},
    "gpt2": {},
    "gpt_bigcode": {},
    "gpt_neox": {},
    "granite": {},
    "helium": {},
    "llama": {},
    "ministral3": {},
    "mistral": {"sliding_window": 8},
    "mixtral": {"num_local_experts": 2},
    "modernbert-decoder": {"local_attention": 8},
    "nemotron": {},
    "olmo2": {},
    "olmo3": {"sliding_window": 8},
    "opt": {"word_embed_proj_dim": 32},
    "persimmon": {},
    "phi": {},
    "phi3": {},
    "qwen2": {},
    "qwen3": {},
    "smollm3": {},
    "stablelm": {},
    "starcoder2": {},
    # computed with the masks themselves
    "doge": {},
    # with code of their own, at least in some releases of transformers
    "bloom": {},
    "codegen": {"rotary_dim": 4},
    "convbert": {},
    "deberta": {},
    "deberta-v2": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "falcon": {"attn_implementation": "eager"},
    "flaubert": {},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 8},
    "gptj": {"rotary_dim": 4},
    "ibert": {},
    "layoutlmv3": {"coordinate_size": 5, "shape_size": 6, "visual_embed": False},
    "luke": {"entity_vocab_size": 8, "entity_emb_size": 8},
    "megatron-bert": {},
    "mpnet": {"pad_token_id": 1},
    "mpt": {},
    "mvp": {},
    "openai-gpt": {},
    "prophetnet": {},
    "rembert": {},
    "roformer": {},
    "squeezebert": {"embedding_size": 32},
    "tapas": {},
    "xglm": {"attention_heads": 4},
    "xlm": {},
    "xlnet": {},
}
# Known by name, and so with a reason in words.
REFUSED: dict[str, dict[str, Any]] = {
    "big_bird": {},
    "bigbird_pegasus": {},
    "canine": {},
    "diffllama": {},
    "fnet": {},
    "funnel": {"block_sizes": [1, 1], "num_decoder_layers": 1, "architectures": ["FunnelModel"]},
    "gpt_oss": {"num_local_experts": 2, "num_experts_per_tok": 1},
    "led": {},
    "longformer": {},
    "longt5": {},
    "mra": {},
    "nystromformer": {},
    "pegasus_x": {},
    "perceiver": {"num_latents": 4, "d_latents": 16},
    "reformer": {"axial_pos_embds_dim": [16, 16], "axial_pos_shape": [4, 16]},
    "yoso": {},
}
# By what the check finds: part of the message.
FOUND: dict[str, tuple[dict[str, Any], str]] = {
    "lxmert": ({}, "fails on text alone (ValueError: `visual_feats` cannot be `None`)"),
    "mamba": ({}, "returns no attentions to check against"),
}
# Of newer releases of transformers than the lowest that is allowed.
if "embedding_gemma2_text" in CONFIG_MAPPING:  # a layer in three has other numbers of keys and values, and other widths
    EXACT["embedding_gemma2_text"] = {
        "num_hidden_layers": 3, "sliding_window": 8, "sliding_window_pattern": 3, "hidden_size_per_layer_input": 8,
        "embedding_dim": 16, "global_head_dim": 16, "num_global_key_value_heads": 1,
    }  # fmt: skip
if "openai_privacy_filter" in CONFIG_MAPPING:
    sinks = "has attention sinks, so that a token's attention does not sum to 1"
    FOUND["openai_privacy_filter"] = ({"num_local_experts": 2, "num_experts_per_tok": 1}, sinks)
# Whose encoder is no model of its own.
PARTS: dict[str, dict[str, Any]] = {"fsmt": {}}


def tiny_family(model_type: str) -> PreTrainedModel:
    """A model of a family in the tables; of an encoder-decoder the whole."""
    return tiny_network(tiny_config(model_type))


def tiny_classifier(
    model_type: str, kind: type = AutoModelForSequenceClassification, layers: int = 2, **config: Any
) -> PreTrainedModel:
    """A model of a family with a task head and so many layers, as `load` leaves it."""
    counts = dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers"), layers)
    network = tiny_network(tiny_config(model_type, **counts | config), kind=kind)
    network.set_attn_implementation("eager")
    return network


def tiny_config(model_type: str, **config: Any) -> PreTrainedConfig:
    """The configuration of a family; it takes from `config` the names that it has."""
    found = {name: overrides for name, (overrides, _) in FOUND.items()}
    tables = EXACT | REFUSED | PARTS | found
    kind = CONFIG_MAPPING[model_type]
    standard = kind()
    names = set(dir(standard)) - set(standard.attribute_map) - WITHOUT.get(model_type, set())
    sizes = {name: size for name, size in (SIZES | tables[model_type] | config).items() if name in names}
    return kind(**(tables[model_type] | sizes))
