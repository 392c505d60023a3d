"""A small decoder that is trained on repeated random sequences, until it predicts the second copy from the first.

The shape is Llama's: two layers of four heads, of which two share their keys. Lengths of copies vary, so that to look
at one distance does not help. On one core the training takes some 15 seconds.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, PreTrainedModel

from support.tiny import SPECIAL, tiny_network, tiny_vocabulary

STEPS, ROWS, RATE, WARM = 600, 32, 4e-3, 50
SHORTEST, LONGEST = 6, 25
START = 2  # [CLS]


SIZES: dict[str, Any] = {
    "vocab_size": len(tiny_vocabulary()),
    "hidden_size": 64,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "bos_token_id": START,
    "eos_token_id": 3,
    "pad_token_id": 0,
}


def with_window(window: int, **config: Any) -> PreTrainedModel:
    """A decoder with random weights whose layers see a window of tokens."""
    sizes: dict[str, Any] = SIZES | {"sliding_window": window} | config
    return tiny_network(MistralConfig(**sizes), 0, MistralForCausalLM)


def trained_on_repeats(layers: int = 2) -> PreTrainedModel:
    """The decoder after its training; always the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        sizes: dict[str, Any] = SIZES | {"num_hidden_layers": layers}
        network: Any = LlamaForCausalLM(LlamaConfig(**sizes))
        optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01)
        for step in range(STEPS):
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1.0, (step + 1) / WARM)
            length = int(torch.randint(SHORTEST, LONGEST + 1, ()))
            loss = second_copy_loss(network, repeated(ROWS, length))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
    return network.eval()


def repeated(rows: int, length: int) -> Tensor:
    """Sequences of different tokens, each twice, behind the start token."""
    copies = torch.stack([torch.randperm(len(tiny_vocabulary()) - len(SPECIAL))[:length] for _ in range(rows)])
    return torch.cat([torch.full((rows, 1), START), (copies + len(SPECIAL)).repeat(1, 2)], dim=1)


def second_copy_loss(network: PreTrainedModel, tokens: Tensor) -> Tensor:
    """The loss, in nats, of the tokens of the second copy but the first, which nothing announces."""
    half = (tokens.shape[1] - 1) // 2
    logits = network(input_ids=tokens, use_cache=False).logits
    return cross_entropy(logits[:, half + 1 : -1].flatten(0, 1), tokens[:, half + 2 :].flatten())
