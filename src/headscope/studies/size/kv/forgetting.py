"""Attention where some KV heads keep the first tokens and a window alone; no map is whole in memory."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headscope.capture.attention_function import for_each_head
from headscope.capture.attention_switch import attending, first_exact, fused, nothing, switchable
from headscope.capture.eager import short_input
from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.heads import existing
from headscope.outputs.words.few_tokens import by_head, short_reads

Forgets = Bool[np.ndarray, "layer key_head"]
# Attributes of configurations whose layers do not each keep keys and values of their own.
OTHER_CACHES = {"kv_lora_rank": "keeps one vector for all heads", "num_kv_shared_layers": "shares keys between layers"}


@dataclass(frozen=True)
class KeptKeys:
    """What a KV head keeps that forgets: the first `sinks` tokens, and the last `window`, the token itself included."""

    sinks: int
    window: int

    def seen(self, queries: slice, keys: int, device: torch.device) -> Bool[Tensor, "query key"]:
        """Which keys some queries see, of those that are not later.

        >>> KeptKeys(1, 2).seen(slice(3, 4), 4, torch.device("cpu")).tolist()
        [[True, False, True, True]]
        """
        key = torch.arange(keys, device=device)
        query = torch.arange(queries.start, queries.stop, device=device)[:, None]
        return (query - key < self.window) | (key < self.sinks)


@dataclass(frozen=True)
class KeyHeads:
    """The KV heads of each layer, and the numbers that one of them keeps of a token: a key and a value."""

    number: tuple[int, ...]
    width: tuple[int, ...]

    @property
    def none(self) -> Forgets:
        """A plan in which no KV head forgets."""
        return np.zeros_like(existing(self.number))

    def one(self, index: Int[np.ndarray, " 2"]) -> Forgets:
        """A plan in which one KV head forgets: its layer and its number, from 0."""
        plan = self.none
        plan[tuple(index)] = True
        return plan


Way = Callable[[Forgets, KeptKeys], AbstractContextManager[None]]


def key_heads(model: Model) -> KeyHeads:
    """The KV heads of a model. Raises `HeadscopeError` where they cannot be read, or are not each layer's own."""
    kind, seen = model.network.config.model_type, list[tuple[int, int]]()
    config: Any = model.network.config.get_text_config()
    if reasons := [reason for name, reason in OTHER_CACHES.items() if getattr(config, name, None)]:
        raise HeadscopeError(f"model type '{kind}' {reasons[0]}: no KV head can forget alone; use another model")

    def attend(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, *arguments: Any, **keywords: Any) -> Any:
        seen.append((key.shape[1], key.shape[-1] + value.shape[-1]))
        return nothing(module, query, key, value)

    with torch.inference_mode(), switchable(model.network), attending(attend), quiet():
        model.network.base_model(**short_input(model.network))
    if len(seen) != len(model.capture.heads):
        raise HeadscopeError(f"model type '{kind}': the keys of its attention cannot be read; use another model")
    return KeyHeads(*zip(*seen, strict=True))


@contextmanager
def by_kernel(model: Model, forgets: Forgets, kept: KeptKeys) -> Iterator[None]:
    """Within this context a forward pass has KV heads that forget; by torch's fused kernels."""
    layers = iter(forgets)

    def attend(
        module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **keywords: Any
    ) -> tuple[Float[Tensor, "example query head width"], None]:
        chosen = torch.from_numpy(next(layers)[: key.shape[1]]).to(key.device)
        outputs, _ = fused(module, query, key, value, attention_mask, **keywords)
        if chosen.any():
            heads = for_each_head(chosen, query.shape[1], dim=0)
            seen = kept.seen(slice(0, query.shape[2]), key.shape[2], key.device)
            seen = seen if attention_mask is None else attention_mask & seen
            part = fused(module, query[:, heads], key[:, chosen], value[:, chosen], seen, **keywords)
            outputs[:, :, heads] = part[0]
        return outputs, None

    with switchable(model.network), attending(attend):
        yield


def by_blocks(model: Model, forgets: Forgets, kept: KeptKeys, number: tuple[int, ...]) -> AbstractContextManager[None]:
    """As `by_kernel`, in blocks of attention: for any model."""
    layers = [torch.from_numpy(chosen[:count]) for chosen, count in zip(forgets, number, strict=True)]

    def forget(layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
        if not layers[layer].any():
            return attention
        heads = for_each_head(layers[layer], attention.shape[1], dim=0).to(scores.device)
        seen = kept.seen(queries, scores.shape[-1], scores.device)
        changed = attention.clone()
        changed[:, heads] = scores[:, heads].masked_fill(~seen, -torch.inf).softmax(-1).to(attention.dtype)
        return changed

    return model.intervened(forget)


def exact_way(model: Model, heads: KeyHeads) -> Way:
    """The faster of the two ways whose logits are those of `by_blocks` for a short input."""
    part, all_forget = short_reads(model), existing(heads.number)

    def trial(way: Way) -> Tensor:
        body = way(all_forget, KeptKeys(1, 1))
        return torch.cat(list(by_head(model, part, lambda states: states[part.row, part.token], body)))

    blocks: Way = partial(by_blocks, model, number=heads.number)
    with torch.inference_mode():
        return first_exact([lambda: partial(by_kernel, model)], trial, blocks, model.network.dtype)[0]
