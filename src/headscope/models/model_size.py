"""Size of a model in megabytes, multiplications and seconds."""

import time
from statistics import median

import torch

from headscope.capture.fused_attention import fast
from headscope.models.model import Model

# Shape of the timed input, and rounds of timing; the first warms up.
BATCH, TOKENS, ROUNDS = 8, 128, 6


def megabytes(model: Model) -> float:
    """Size of all parameters in megabytes (10^6 bytes)."""
    return sum(weight.numel() * weight.element_size() for weight in model.network.parameters()) / 1e6


def multiplications(model: Model, tokens: int = TOKENS) -> float:
    """Multiplications per token in the layers, by linear maps and attention, for an input of `tokens` tokens.

    Raises `HeadscopeError` for a model whose linear maps of attention cannot be identified.
    """
    layers = [each for each in model.network.modules() if isinstance(each, torch.nn.ModuleList)]
    weights = sum(weight.numel() for each in layers for weight in each.parameters() if weight.ndim == 2)
    return weights + 2.0 * tokens * sum(each.heads * each.width for each in model.projections)


@torch.inference_mode()
def forward_seconds(models: list[Model], batch: int = BATCH, tokens: int = TOKENS) -> list[float]:
    """Median seconds of a forward pass of each model, for random tokens without padding; models take turns."""
    tokens = min(tokens, *(model.max_tokens for model in models))
    vocabulary = models[0].network.config.get_text_config().vocab_size
    ids = torch.randint(5, vocabulary, (batch, tokens), generator=torch.Generator().manual_seed(0))
    seconds: list[list[float]] = [[] for _ in models]
    for _ in range(ROUNDS):
        for model, own in zip(models, seconds, strict=True):
            own.append(_seconds(model, ids.to(model.device)))
    return [median(own[1:]) for own in seconds]


def _seconds(model: Model, ids: torch.Tensor) -> float:
    start = time.perf_counter()
    with fast(model.network):
        model.network(input_ids=ids, attention_mask=torch.ones_like(ids))
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
    return time.perf_counter() - start
