"""The reference of the self-check: attention and output of transformers' eager model for a short padded batch."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from headscope.capture.spread import home, is_spread
from headscope.errors import HeadscopeError

# The last rows are real ones, so that a block lost at the end shows.
LENGTHS = (8, 13)
# The shortest in which padding sees a real token: eager attention of nothing is NaN in double precision.
SHORT = max(LENGTHS) - min(LENGTHS) + 1


@dataclass(frozen=True)
class Seen:
    """The attention of a forward pass by layer, and its output ([example, token, width] or logits)."""

    attentions: list[Float[Tensor, "example head query key"]]
    output: Float[Tensor, "example ..."]


def eager_pass(network: PreTrainedModel, tolerance: float) -> tuple[dict[str, Tensor], Seen]:
    """Run the eager model on a short padded batch.

    Returns: the inputs, and the attention and output of the model.

    Raises `HeadscopeError` if the model fails, or returns no attention from every token to every token.
    """
    kind = network.config.model_type
    try:
        inputs = check_inputs(network)
        with eager(network):
            output = network(**inputs, output_attentions=True)
    except Exception as error:  # models that want an image, a language, ... say so in many ways
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        if is_spread(network):
            raise HeadscopeError(
                f"model type '{kind}' fails when it is spread over devices or disk ({reason}); load it on a single one"
            ) from error
        raise HeadscopeError(f"model type '{kind}' fails on text alone ({reason}); use another model") from error
    attentions: list[Tensor] = list(getattr(output, "attentions", None) or ())
    _refuse_unless_square(kind, attentions, inputs["input_ids"])
    attentions = [attention.to(torch.float32) for attention in attentions]
    if not all(rows_sum_to_one(attention, inputs["attention_mask"].bool(), tolerance) for attention in attentions):
        # squeezebert and prophetnet return the scores that go into the softmax.
        attentions = [attention.softmax(-1) for attention in attentions]
    return inputs, Seen(attentions, output[0])


def check_inputs(network: PreTrainedModel) -> dict[str, Tensor]:
    """Random token ids for each of `LENGTHS`, padded on the right; the same ones each time."""
    vocabulary = network.config.get_text_config().vocab_size
    pad = getattr(network.config, "pad_token_id", None) or 0
    pad = pad if 0 <= pad < vocabulary else 0
    ids = torch.randint(0, vocabulary - 1, (len(LENGTHS), max(LENGTHS)), generator=torch.Generator().manual_seed(0))
    ids += ids >= pad  # no real token is the padding token: some models tell positions by it
    real = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    inputs = {"input_ids": ids.where(real, pad), "attention_mask": real.long()}
    return {name: tensor.to(home(network)) for name, tensor in inputs.items()}


def short_input(network: PreTrainedModel) -> dict[str, Tensor]:
    """The longest of `check_inputs`, which has no padding."""
    return {name: rows[-1:] for name, rows in check_inputs(network).items()}


def rows_sum_to_one(
    attention: Float[Tensor, "example head query key"], real: Bool[Tensor, "example query"], tolerance: float
) -> bool:
    """True if the attention of each real token sums to 1 within `tolerance`."""
    # [real_query, head]
    sums = attention.sum(-1).transpose(1, 2)[real]
    return bool(((sums - 1).abs() <= tolerance).all())


def _refuse_unless_square(kind: str, attentions: list[Tensor], ids: Tensor) -> None:
    if not attentions:
        raise HeadscopeError(f"model type '{kind}' returns no attentions to check against; use another model")
    for attention in attentions:  # of pegasus_x these are dictionaries
        shape = tuple(attention.shape) if isinstance(attention, Tensor) else ()
        if len(shape) != 4 or (shape[0], *shape[2:]) != (*ids.shape, ids.shape[1]):
            raise HeadscopeError(
                f"model type '{kind}' returns attention of shape {shape} for {ids.shape[0]} examples of "
                f"{ids.shape[1]} tokens, not of every token to every token; use another model"
            )


@contextmanager
def eager(network: PreTrainedModel) -> Iterator[None]:
    """Within this context the network computes attention as its own code does, with whole maps."""
    before = network.config._attn_implementation or "eager"
    try:
        if before != "eager":
            network.set_attn_implementation("eager")
        yield
    finally:
        if before != "eager":
            network.set_attn_implementation(before)


@contextmanager
def short_windows(network: PreTrainedModel) -> Iterator[None]:
    """Within this context a window that the short input does not reach has `SHORT` tokens.

    transformers makes the masks of a forward pass from the configuration; layers keep their window for other kernels.

    >>> from transformers import ModernBertConfig, ModernBertModel
    >>> sizes = {"vocab_size": 8, "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "pad_token_id": 0}
    >>> network = ModernBertModel(ModernBertConfig(**sizes))
    >>> with short_windows(network):
    ...     network.config.sliding_window
    6
    >>> network.config.sliding_window
    64
    """
    config: Any = network.config.get_text_config()
    window = getattr(config, "sliding_window", None)
    if not isinstance(window, int) or window < max(LENGTHS):
        yield
        return
    try:
        config.sliding_window = SHORT
        yield
    finally:
        config.sliding_window = window
