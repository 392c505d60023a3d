"""KV heads that forget: as a naive attention whose mask is made head by head."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForCausalLM, PreTrainedModel
from transformers.masking_utils import eager_mask

import headscope
from headscope import HeadscopeError
from headscope.models.heads import existing
from headscope.studies.size.kv.forgetting import KeptKeys, KeyHeads, by_blocks, by_kernel, exact_way, key_heads
from support.tiny import tiny_network, tiny_tokenizer
from support.tiny_families import tiny_config

# Keys of all heads, of groups and of one for all; windows, norms of queries and keys, scores that are capped.
FAMILIES = ("gpt2", "llama", "qwen3", "gemma3_text", "gemma2", "gpt_bigcode")
KEPT = KeptKeys(2, 5)


def decoder(kind: str, **config: Any) -> headscope.Model:
    """A decoder of a family with random weights."""
    sizes = config | {"vocab_size": len(tiny_tokenizer().get_vocab())}
    return headscope.wrap(tiny_network(tiny_config(kind, **sizes), 0, AutoModelForCausalLM), tiny_tokenizer())


def some(heads: KeyHeads) -> np.ndarray:
    """About half of the KV heads."""
    return existing(heads.number) & (np.random.default_rng(0).random(heads.none.shape) < 0.5)


@contextmanager
def naive(network: PreTrainedModel, forgets: np.ndarray) -> Iterator[None]:
    """Within this context a network attends with whole maps, and a mask that is made cell by cell."""
    layers = iter(forgets)

    def attend(
        module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor, **options: Any
    ) -> tuple[Tensor, None]:
        scaling, softcap = options.get("scaling") or query.shape[-1] ** -0.5, options.get("softcap")
        chosen, group = next(layers), query.shape[1] // key.shape[1]
        outputs = []
        for head in range(query.shape[1]):
            keys, values = key[:, head // group], value[:, head // group]
            scores = query[:, head] @ keys.mT * scaling
            scores = scores if softcap is None else torch.tanh(scores / softcap) * softcap
            scores = scores + attention_mask[:, 0]
            for row in range(scores.shape[1]):
                for column in range(scores.shape[2]):
                    if chosen[head // group] and row - column >= KEPT.window and column >= KEPT.sinks:
                        scores[:, row, column] = -torch.inf
            outputs.append(scores.softmax(-1) @ values)
        return torch.stack(outputs, dim=2), None

    AttentionInterface.register("naive", attend)
    AttentionMaskInterface.register("naive", eager_mask)
    network.set_attn_implementation("naive")
    yield
    network.set_attn_implementation("eager")


@pytest.mark.parametrize("kind", FAMILIES)
def test_equals_a_naive_attention_also_in_padded_batches(kind: str) -> None:
    model = decoder(kind)
    heads = key_heads(model)
    forgets, ids = some(heads), torch.randint(5, 100, (2, 14), generator=torch.Generator().manual_seed(0))
    real = torch.arange(14) < torch.tensor([[14], [9]])
    read = partial(model.network, input_ids=ids, attention_mask=real.long(), use_cache=False)
    with torch.inference_mode():
        with naive(model.network, forgets):
            expected = read().logits[real]
        for way in (exact_way(model, heads), partial(by_blocks, model, number=heads.number)):
            with way(forgets, KEPT):
                torch.testing.assert_close(read().logits[real], expected, rtol=1e-4, atol=1e-4)
        assert (read().logits[real] - expected).abs().max() > 1e-2, "what is far back changes nothing here"


def test_fused_kernels_are_taken_where_they_are_exact() -> None:
    ways: dict[str, Any] = {kind: exact_way(model := decoder(kind), key_heads(model)) for kind in ("llama", "gemma2")}
    assert ways["llama"].func is by_kernel
    assert ways["gemma2"].func is by_blocks, "its fused kernels cap no scores"


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_window_over_the_whole_text_changes_nothing(kind: str) -> None:
    model = decoder(kind)
    heads, ids = key_heads(model), torch.randint(5, 100, (1, 14), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        logits = []
        for forgets in (heads.none, existing(heads.number)):
            with by_kernel(model, forgets, KeptKeys(0, 14)):
                logits.append(model.network(input_ids=ids).logits)
    assert torch.equal(*logits)


def test_kv_heads_are_those_that_are_kept() -> None:
    found = {kind: key_heads(decoder(kind)) for kind in ("gpt2", "llama", "gpt_bigcode")}
    assert {kind: heads.number for kind, heads in found.items()} == {
        "gpt2": (4, 4), "llama": (2, 2), "gpt_bigcode": (1, 1)
    }  # fmt: skip
    assert found["llama"].width == (16, 16), "a key and a value of eight numbers"


def test_models_without_keys_of_their_own_are_refused() -> None:
    model = decoder("llama")
    model.network.config.kv_lora_rank = 4
    with pytest.raises(HeadscopeError, match="one vector for all heads"):
        key_heads(model)
