"""Statistics of attention for tensors of any model, at the price of attention, without a map."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from headscope.capture.band import FAR, Band
from headscope.capture.fused_statistics import WIDEST, kernels_run_on
from headscope.capture.observer import blocks
from headscope.errors import HeadscopeError


@dataclass(frozen=True)
class AttentionStatistics:
    """What attention is like, by head.

    * `entropy`: of each query, in nats; `lse`: the logarithm of the sum of the exponentials of its scores (natural);
      `largest`: its largest score. All are 0 for padded queries.
    * `received`: the attention that each key gets, summed over its queries and over the heads that share it.
    * `mass`: the attention of each query to each class of keys; None without classes.
    """

    entropy: Float[Tensor, "example head query"]
    lse: Float[Tensor, "example head query"]
    largest: Float[Tensor, "example head query"]
    received: Float[Tensor, "example key_head key"]
    mass: Float[Tensor, "example head query token_class"] | None


@torch.no_grad()
def attention_statistics(  # noqa: PLR0913
    query: Float[Tensor, "example head token width"],
    key: Float[Tensor, "example key_head token width"],
    *,
    lse: Float[Tensor, "example head token"] | None = None,
    scale: float | None = None,
    lengths: Int[Tensor, " example"] | None = None,
    causal: bool = False,
    window: int | None = None,
    softcap: float | None = None,
    classes: Int[Tensor, "example token"] | None = None,
) -> AttentionStatistics:
    """Entropy, largest score and received attention of each head, from queries and keys alone.

    On a GPU two fused kernels read them tile by tile (triton; float32, bfloat16, float16), elsewhere torch does in
    blocks; memory grows with the length, not with its square. With P = exp(score - lse) no map is needed.

    * `query`: Queries of all heads, with positions in them; `key`: Keys, of as many heads or of fewer that share them.
    * `lse`: of the same attention by a fused kernel, natural logarithm; with more in it, such as an attention sink, the
      rows of P sum to less than 1. By default it is computed.
    * `scale`: of scores, by default 1 / sqrt(width); `softcap`: scores become softcap * tanh(score / softcap).
    * `lengths`: the tokens of each example, padded on the right; by default all.
    * `causal`: keys after a query are hidden; `window`: those more than this many tokens away.
    * `classes`: the class of each key, from 0; keys with -1 are in none.

    Heads that share keys (grouped queries) are given as they are: `received` is summed over them, never averaged.

    Raises `HeadscopeError` for shapes that do not belong together.

    >>> query = key = torch.zeros(1, 2, 4, 8)
    >>> found = attention_statistics(query, key, causal=True)
    >>> found.entropy[0, 0].exp().round().tolist(), (12 * found.received[0, 0]).round().tolist()
    ([1.0, 2.0, 3.0, 4.0], [25.0, 13.0, 7.0, 3.0])
    """
    _refuse(query, key, lse, lengths, classes)
    examples, _, tokens, width = query.shape
    settings: dict[str, Any] = {
        "lengths": torch.full((examples,), tokens, device=query.device) if lengths is None else lengths,
        "scale": width**-0.5 if scale is None else scale,
        "softcap": softcap,
        "band": Band(FAR if window is None else window, 0 if causal else FAR if window is None else window),
    }
    number = 0 if classes is None else int(classes.max()) + 1
    members = None if classes is None else one_hot(classes + 1, number + 1)[..., 1:].float()
    fused = kernels_run_on(query.device, query.dtype) and max(width, number) <= WIDEST
    statistics = (_by_kernels if fused else _in_blocks)(query, key, lse, members, **settings)
    received = statistics.pop("received").unflatten(1, (key.shape[1], -1)).sum(2)
    return AttentionStatistics(**statistics, received=received)


def _by_kernels(
    query: Tensor, key: Tensor, lse: Tensor | None, members: Tensor | None, *, lengths: Tensor, **settings: Any
) -> dict[str, Any]:
    from headscope.capture.fused_attention import LOG2_E, LayerAttention, TokenMarks

    query, key = (states if states.stride(-1) == 1 else states.contiguous() for states in (query, key))
    layer = LayerAttention(query, key, lengths.to(torch.int32), **settings)
    row_sums, entropy, largest = query.new_empty(3, *query.shape[:3], dtype=torch.float32)
    value = None if members is None else members[:, None].expand(-1, key.shape[1], -1, -1)
    mass = layer.attend(value, row_sums, entropy, largest=largest).transpose(1, 2)
    base = row_sums if lse is None else (lse * LOG2_E).to(torch.float32).contiguous()
    received = query.new_empty(*query.shape[:2], 4, query.shape[2], dtype=torch.float32)
    layer.receive(base, TokenMarks(torch.zeros_like(query[:, 0, :, 0], dtype=torch.int32)), received)
    share = ((row_sums - base) / LOG2_E).exp()  # of the rows of P, where lse has more in it
    return {
        "entropy": share * (entropy - (row_sums - base) / LOG2_E),
        "lse": base / LOG2_E,
        "largest": largest,
        "received": received[:, :, 0],
        "mass": None if members is None else share[..., None] * mass,
    }


def _in_blocks(
    query: Tensor,
    key: Tensor,
    lse: Tensor | None,
    members: Tensor | None,
    *,
    lengths: Tensor,
    scale: float,
    softcap: float | None,
    band: Band,
) -> dict[str, Any]:
    examples, heads, tokens, _ = query.shape
    dtype, group = torch.promote_types(query.dtype, torch.float32), heads // key.shape[1]
    entropy, found_lse, largest = query.new_zeros(3, examples, heads, tokens, dtype=dtype)
    received = query.new_zeros(examples, heads, tokens, dtype=dtype)
    mass = None if members is None else query.new_zeros(examples, heads, tokens, members.shape[-1], dtype=dtype)
    real = torch.arange(tokens, device=query.device) < lengths.to(query.device)[:, None]
    for part, _, rows in blocks(examples, heads, tokens, tokens, query.device):
        keys = key[part].repeat_interleave(group, dim=1)
        scores = (query[part, :, rows] @ keys.mT).to(dtype) * scale
        scores = scores if softcap is None else softcap * torch.tanh(scores / softcap)
        scores = scores.masked_fill(~(real[part, None, None] & band.of(tokens, rows).to(query.device)), -torch.inf)
        row_lse = scores.logsumexp(-1) if lse is None else lse[part, :, rows].to(dtype)
        here = real[part, None, rows]
        attention = (scores - row_lse[..., None]).exp().where(here[..., None], 0)
        entropy[part, :, rows] = torch.special.entr(attention).sum(-1)
        found_lse[part, :, rows], largest[part, :, rows] = row_lse.where(here, 0), scores.amax(-1).where(here, 0)
        received[part] += attention.sum(2)
        if mass is not None and members is not None:
            mass[part, :, rows] = attention @ members[part, None].to(dtype)
    return {"entropy": entropy, "lse": found_lse, "largest": largest, "received": received, "mass": mass}


def _refuse(query: Tensor, key: Tensor, lse: Tensor | None, lengths: Tensor | None, classes: Tensor | None) -> None:
    """Raise `HeadscopeError` for shapes that do not belong together."""
    examples, heads, tokens, width = query.shape if query.ndim == 4 else (0, 0, 0, 0)
    if query.ndim != 4 or key.ndim != 4 or (key.shape[0], *key.shape[2:]) != (examples, tokens, width):
        shapes = f"{tuple(query.shape)} and {tuple(key.shape)}"
        raise HeadscopeError(f"query and key {shapes}: use [example, head, token, width] of the same tokens for both")
    if not key.shape[1] or heads % key.shape[1]:
        raise HeadscopeError(f"{heads} heads cannot share {key.shape[1]} heads of keys; use a number that divides them")
    wanted = {"lse": (lse, (examples, heads, tokens)), "lengths": (lengths, (examples,))}
    for name, (tensor, shape) in (wanted | {"classes": (classes, (examples, tokens))}).items():
        if tensor is not None and tuple(tensor.shape) != shape:
            raise HeadscopeError(f"{name} has the shape {tuple(tensor.shape)}; use {shape}")
