"""How far the weights of each layer moved, and how much its attention changed for that.

Kovaleva et al. 2019 find that fine-tuning changes the last layers most. Upper layers also get larger gradients, so
their weights move further; this divides one by the other.
"""

from collections.abc import Sequence

import numpy as np
import torch
import xarray as xr
from torch import Tensor, nn

from headscope.capture.spread import stored
from headscope.errors import HeadscopeError
from headscope.models.model import Model
from headscope.results.variables import Label, Variables
from headscope.results.vocabulary import BOUNDS
from headscope.studies.compare.restoration import layer_modules

DIMS = ("model", "layer")
SOURCE = "after Kovaleva et al. 2019, section 4.3"
LABELS = {
    "weight_change": Label("change of a layer's weights, as a share of their length", "share of the norm", DIMS),
    "change_per_weight": Label("change of attention (1 - cosine) by the change of weights", "ratio", DIMS),
}


def weight_changes(models: Sequence[Model], result: xr.Dataset) -> dict[str, xr.DataArray]:
    """`weight_change[model, layer]` and `change_per_weight` with its interval; nothing where layers do not match.

    * `result`: has `layer_similarity[model, layer]`, the cosine of the attention of each later model and the first.
    """
    similarity = result["layer_similarity"].transpose(*DIMS)
    interval = result["layer_similarity_ci"].transpose(*DIMS, "bound")
    try:
        first, *later = [layer_modules(model) for model in models]
        changes = np.array([[_moved(*layer) for layer in zip(first, other, strict=True)] for other in later])
    except HeadscopeError:
        return {}
    variables = Variables({"model": similarity["model"].values.tolist()}, SOURCE, LABELS)
    variables.add("weight_change", changes)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(changes > 0, (1 - similarity.values) / changes, np.nan)
        bounds = (1 - interval.sel(bound=list(BOUNDS[::-1])).values) / changes[..., None]
    count = int(result["layer_similarity_n_examples"].max())
    bounds = np.where(np.isfinite(bounds), bounds, np.nan)
    variables.add("change_per_weight", ratio, interval=bounds, count=count)
    return variables.arrays


def _moved(ours: list[nn.Module], others: list[nn.Module]) -> float:
    """The length of the difference of two layers' weights, by that of the first; NaN for other names or sizes."""
    mine, theirs = _weights(ours), _weights(others)
    if {name: weight.shape for name, weight in mine.items()} != {name: one.shape for name, one in theirs.items()}:
        return float("nan")
    pairs = [(mine[name].double().cpu(), theirs[name].double().cpu()) for name in mine]
    difference = sum(float((one - other).square().sum()) for one, other in pairs)
    return float((difference / sum(float(one.square().sum()) for one, _ in pairs)) ** 0.5)


def _weights(modules: list[nn.Module]) -> dict[str, Tensor]:
    return {
        f"{number} {name}": stored(module, name, weight.detach())
        for number, module in enumerate(modules)
        for name, weight in module.named_parameters()
        if torch.is_floating_point(weight)
    }
