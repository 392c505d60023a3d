"""The self-check at load: how a model's attention is captured, or a refusal rather than wrong numbers.

On a short padded batch the captured attention must be that of transformers' eager implementation, layer
by layer; its rows must sum to 1, and the outputs must be those of the eager model.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from headscope.errors import HeadscopeError
from headscope.models.attention import Watch, observed
from headscope.models.observer import Observer
from headscope.models.quiet import quiet
from headscope.models.tap import tapped

LENGTHS = (13, 8)
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-8, torch.bfloat16: 5e-2, torch.float16: 5e-3}
CAPTURES: dict[str, Callable[[PreTrainedModel, Observer], AbstractContextManager[Watch]]] = {
    "attention interface": observed,
    "softmax tap": tapped,
}


@dataclass(frozen=True)
class Capture:
    """How attention is captured (a key of `CAPTURES`), and the number of heads of each layer."""

    method: str
    heads: tuple[int, ...]


@dataclass(frozen=True)
class Seen:
    """What a forward pass gave: its attention by layer, and its output."""

    attentions: list[Float[Tensor, "example head query key"]]
    output: Float[Tensor, "example token width"]


def check(network: PreTrainedModel) -> Capture:
    """How the attention of `network` is captured exactly.

    Raises `HeadscopeError`, with the reason of each way, if it cannot be.
    """
    inputs = _inputs(network)
    with torch.inference_mode(), quiet():
        expected = _eager(network, inputs)
        reasons = []
        for method in CAPTURES:
            reason = _compare(network, inputs, expected, method)
            if reason is None:
                return Capture(method, tuple(attention.shape[1] for attention in expected.attentions))
            reasons.append(f"{method}: {reason}")
    kind = network.config.model_type
    raise HeadscopeError(f"model type '{kind}' cannot be captured exactly ({'; '.join(reasons)}); use another model")


def _inputs(network: PreTrainedModel) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    pad = getattr(network.config, "pad_token_id", None) or 0
    vocabulary = network.get_input_embeddings().num_embeddings
    ids = torch.randint(0, vocabulary - 1, (len(LENGTHS), max(LENGTHS)), generator=generator)
    ids += ids >= pad  # no real token is the padding token: some models tell positions by it
    real = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    inputs = {"input_ids": ids.where(real, pad), "attention_mask": real.long()}
    return {name: tensor.to(network.device) for name, tensor in inputs.items()}


def _eager(network: PreTrainedModel, inputs: dict[str, Tensor]) -> Seen:
    before = network.config._attn_implementation
    if before != "eager":
        network.set_attn_implementation("eager")
    try:
        output = network(**inputs, output_attentions=True)
    finally:
        if before != "eager":
            network.set_attn_implementation(before)
    attentions = [attention.float() for attention in output.attentions or ()]
    real = inputs["attention_mask"].bool()
    if not attentions:
        raise HeadscopeError(f"model type '{network.config.model_type}' returns no attentions to check against; use another model")
    if not all(_rows_sum_to_one(attention, real) for attention in attentions):
        # squeezebert and prophetnet return the scores that go into the softmax.
        attentions = [attention.softmax(-1) for attention in attentions]
    return Seen(attentions, output[0])


def _compare(network: PreTrainedModel, inputs: dict[str, Tensor], expected: Seen, method: str) -> str | None:
    """What differs between the eager pass and one captured by `method`; None if nothing does."""
    seen = _captured(network, inputs, method)
    if isinstance(seen, str):
        return seen
    real = inputs["attention_mask"].bool()
    tolerance = TOLERANCE[seen.output.dtype]
    if len(seen.attentions) != len(expected.attentions):
        return f"{len(seen.attentions)} attention calls, expected {len(expected.attentions)}"
    for layer, (ours, theirs) in enumerate(zip(seen.attentions, expected.attentions, strict=True), start=1):
        if ours.shape != theirs.shape:
            return f"layer {layer} has attention of shape {tuple(theirs.shape)}, captured {tuple(ours.shape)}"
        if not _rows_sum_to_one(ours, real):
            return f"rows of layer {layer} do not sum to 1"
        difference = (ours - theirs).abs().amax((1, 3))[real].amax().item()
        if not difference <= tolerance:
            return f"attention of layer {layer} differs from eager by {difference:.1e}"
    difference = (seen.output - expected.output).abs().amax().item() if real.shape != seen.output.shape[:2] else (
        (seen.output - expected.output)[real].abs().amax().item()
    )
    if not difference <= tolerance * max(1.0, expected.output.abs().amax().item()):
        return f"outputs differ from eager by {difference:.1e}"
    return None


def _captured(network: PreTrainedModel, inputs: dict[str, Tensor], method: str) -> Seen | str:
    shape = inputs["input_ids"].shape
    layers: dict[int, Tensor] = {}

    def keep(layer: int, attention: Tensor, examples: slice, queries: slice) -> None:
        whole = layers.setdefault(layer, attention.new_zeros(shape[0], attention.shape[1], shape[1], shape[1]))
        whole[examples, :, queries] = attention

    try:
        with CAPTURES[method](network, keep):
            output = network(**inputs)
    except Exception as error:  # whatever a model does with an attention function that it does not know
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return Seen([layers[layer] for layer in sorted(layers)], output[0])


def _rows_sum_to_one(attention: Float[Tensor, "example head query key"], real: Bool[Tensor, "example query"]) -> bool:
    sums = attention.sum(-1).transpose(1, 2)[real]
    return bool(((sums - 1).abs() < 1e-2 if attention.dtype != torch.float32 else (sums - 1).abs() < 1e-4).all())
