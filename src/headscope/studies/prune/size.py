"""Size of a model in megabytes, multiplications and seconds, and its scores and size for the model card."""

import time
from statistics import median

import torch
import xarray as xr
from jaxtyping import Int

from headscope.capture.attention_switch import fast
from headscope.models.model import Model
from headscope.results.hub import plain
from headscope.studies.prune.page.promise import promise, unlearned

# Shape of the timed input, and rounds of timing; the first warms up.
BATCH, TOKENS, ROUNDS = 8, 128, 6


def megabytes(model: Model) -> float:
    """Size of all parameters in megabytes (10^6 bytes)."""
    return sum(weight.numel() * weight.element_size() for weight in model.network.parameters()) / 1e6


def multiplications(model: Model, tokens: int = TOKENS) -> float:
    """Multiplications per token in the layers, by linear maps and attention, for an input of `tokens` tokens.

    Raises `HeadscopeError` for a model whose linear maps of attention cannot be identified.
    """
    layers = [module for module in model.network.modules() if isinstance(module, torch.nn.ModuleList)]
    weights = sum(weight.numel() for layer in layers for weight in layer.parameters() if weight.ndim == 2)
    return weights + 2.0 * tokens * sum(projection.heads * projection.width for projection in model.projections)


def forward_seconds(models: list[Model], batch: int = BATCH, tokens: int = TOKENS) -> list[float]:
    """Median seconds of a forward pass of each model, for random tokens without padding; models take turns."""
    tokens = min(tokens, *(model.max_tokens for model in models))
    ids = random_tokens(models[0], batch, tokens)
    seconds: list[list[float]] = [[] for _ in models]
    for _ in range(ROUNDS):
        for model, own in zip(models, seconds, strict=True):
            own.append(pass_seconds(model, ids.to(model.device)))
    return [median(own[1:]) for own in seconds]


def random_tokens(model: Model, batch: int, tokens: int) -> Int[torch.Tensor, "example token"]:
    """Seeded random tokens of a model's vocabulary, without padding."""
    vocabulary = model.network.config.get_text_config().vocab_size
    return torch.randint(5, vocabulary, (batch, tokens), generator=torch.Generator().manual_seed(0))


@torch.inference_mode()
def pass_seconds(model: Model, ids: Int[torch.Tensor, "example token"]) -> float:
    """Seconds of one forward pass, with the fastest attention that the model has."""
    start = time.perf_counter()
    with fast(model.network):
        model.network(input_ids=ids, attention_mask=torch.ones_like(ids))
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
    return time.perf_counter() - start


def scores_and_size(result: xr.Dataset, task: str, share: float, seconds: tuple[float, float]) -> str:
    """Markdown tables of scores and size.

    * `result`: with the attribute `pruning`; `share`: fraction of removed heads of the saved model.
    * `seconds`: of a forward pass before and after.
    """
    unpruned, kept = (result.sel(share_removed=share_removed, method="nearest") for share_removed in (0.0, share))
    rows = []
    for metric in result["metric"].values.tolist():
        change = float(kept["score_change"].sel(metric=metric))
        low, high = kept["score_change_ci"].sel(metric=metric, bound=["lower", "upper"]).values.tolist()
        values = [float(point["pruned_score"].sel(metric=metric)) for point in (unpruned, kept)]
        rows.append(f"| {metric} | {values[0]:.3f} | {values[1]:.3f} | {change:+.3f} [{low:+.3f}, {high:+.3f}] |")
    sizes = {
        "parameters": [f"{int(point['parameters']):,}" for point in (unpruned, kept)],
        "megabytes": [f"{float(point['megabytes']):.1f}" for point in (unpruned, kept)],
        f"multiplications per token ({TOKENS} tokens)": [
            f"{float(point['multiplications']):,.0f}" for point in (unpruned, kept)
        ],
        f"milliseconds ({BATCH} inputs of {TOKENS} tokens, where it was pruned)": [
            f"{1000 * second:.1f}" for second in seconds
        ],
    }
    lacks = unlearned(result)
    promised = [lacks] if lacks else promise(result, share)
    return "\n".join(
        [
            *(f"## Scores on {plain(task)} (dev)", ""),
            *("| metric | before | after | change with 95% interval |", "| --- | --- | --- | --- |", *rows, ""),
            *(f"{said.topic}. {said.text}\n" for said in promised),
            *("## Size and speed", "", "| | before | after |", "| --- | --- | --- |"),
            *(f"| {name} | {before} | {after} |" for name, (before, after) in sizes.items()),
        ]
    )
