"""Models whose predictions of words are known: a causal table of pairs, and a masked model that copies.

>>> table = causal_table({("the", "cat"): 3.0})
>>> the, cat = TOKENIZER.convert_tokens_to_ids(["the", "cat"])
>>> round(table.network(torch.tensor([[the]])).logits[0, 0, cat].item(), 3)
3.0
"""

from collections.abc import Mapping
from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

import headscope
from support.tiny import tiny_tokenizer

TOKENIZER = tiny_tokenizer()
SIZE = len(TOKENIZER.get_vocab())
# Standard deviation of a one-hot vector, by which layer normalisation divides.
SPREAD = (1 / SIZE * (1 - 1 / SIZE)) ** 0.5


def causal_table(logits: Mapping[tuple[str, str], float]) -> headscope.Model:
    """A causal model of which the logit of a piece depends on the piece before it alone: `logits`, elsewhere 0."""
    config = GPT2Config(
        vocab_size=SIZE, n_embd=SIZE, n_layer=1, n_head=1, n_positions=64, n_inner=1, tie_word_embeddings=False
    )
    network: Any = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.transformer.wte.weight.copy_(torch.eye(SIZE))
        network.transformer.ln_f.weight.fill_(1)
        network.transformer.ln_f.bias.fill_(1 / SIZE / SPREAD)
        for (before, after), logit in logits.items():
            one, other = (TOKENIZER.get_vocab()[piece] for piece in (before, after))
            network.lm_head.weight[other, one] = logit * SPREAD
    network.config.layer_norm_epsilon = 0.0
    network.transformer.ln_f.eps = 0.0
    return headscope.wrap(network, TOKENIZER)


def copying_model() -> headscope.Model:
    """A masked model that predicts the pieces of its input rather than others."""
    config = BertConfig(
        vocab_size=SIZE,
        hidden_size=SIZE,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=1,
        max_position_embeddings=64,
        tie_word_embeddings=False,
    )
    network: Any = BertForMaskedLM(config).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.fill_(float("LayerNorm.weight" in name))
        attention = network.bert.encoder.layer[0].attention
        for weight in (
            network.bert.embeddings.word_embeddings.weight,
            attention.self.value.weight,
            attention.output.dense.weight,
            network.cls.predictions.transform.dense.weight,
            network.cls.predictions.decoder.weight,
        ):
            weight.copy_(torch.eye(SIZE))
    return headscope.wrap(network, TOKENIZER)
