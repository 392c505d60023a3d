"""Tiny decoders of several families, and one of which a single head writes what the model predicts."""

from itertools import pairwise
from typing import Any

import torch
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

import headscope
from support.tiny import tiny_network, tiny_tokenizer
from support.tiny_families import tiny_config

TOKENIZER = tiny_tokenizer()
FAMILIES = {
    "gpt2": {},
    "gpt_neox": {},  # attention and feed-forward part read the same states
    "gemma3_text": {"sliding_window": 8},
    "gemma2": {"sliding_window": 8, "final_logit_softcapping": 5.0},
    "granite": {"residual_multiplier": 0.4, "logits_scaling": 3.0},
}
CYCLE = ("bank", "book", "bird", "cat")
PAIRS = [*pairwise(("[CLS]", *CYCLE, CYCLE[0]))]


def decoder(kind: str) -> headscope.Model:
    """A tiny decoder whose biases and normalisations are not trivial."""
    network = tiny_network(tiny_config(kind, **FAMILIES[kind]), 0, AutoModelForCausalLM)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.ndim == 1:
                weight.add_(0.3 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(len(name))))
    return headscope.wrap(network, TOKENIZER)


def planted() -> headscope.Model:
    """A model whose head 1-1 finds the token itself and writes what follows; the output reads what it writes alone."""
    size, ids = len(TOKENIZER), TOKENIZER.get_vocab()
    config = GPT2Config(
        vocab_size=size,
        n_embd=2 * size,
        n_layer=1,
        n_head=2,
        n_positions=64,
        n_inner=1,
        tie_word_embeddings=False,
        bos_token_id=2,
        eos_token_id=3,
    )
    network: Any = GPT2LMHeadModel(config)
    layer = network.transformer.h[0]
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        for norm in (layer.ln_1, network.transformer.ln_f):
            norm.weight.fill_(1)
        columns = torch.eye(2 * size)
        network.transformer.wte.weight.copy_(columns[:size])
        layer.attn.c_attn.weight.copy_(torch.cat([columns, columns, columns], dim=1))
        for before, after in PAIRS:
            layer.attn.c_proj.weight[ids[before], size + ids[after]] = 1
        network.lm_head.weight.copy_(columns[size:])
    return headscope.wrap(network.eval(), TOKENIZER)
