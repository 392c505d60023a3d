"""How far the weights of each layer moved, and how much its attention changed for that.

Kovaleva et al. 2019 find that fine-tuning changes the last layers most. Upper layers also get larger gradients, so
their weights move further; this divides one by the other.
"""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from headscope.errors import HeadscopeError
from headscope.models.layer_weights import layer_modules, moved
from headscope.models.model import Model
from headscope.results.variables import Variables
from headscope.results.vocabulary import BOUNDS
from headscope.studies.training.compare import LAYERS, STUDY


def weight_changes(models: Sequence[Model], result: xr.Dataset) -> dict[str, xr.DataArray]:
    """`weight_change[model, layer]` and `change_per_weight` with its interval; nothing where layers do not match.

    * `result`: has `layer_similarity[model, layer]`, the cosine of the attention of each later model and the first.
    """
    similarity = result["layer_similarity"].transpose(*LAYERS)
    interval = result["layer_similarity_ci"].transpose(*LAYERS, "bound")
    try:
        first, *later = [layer_modules(model) for model in models]
        changes = np.array([[moved(*layer) for layer in zip(first, other, strict=True)] for other in later])
    except HeadscopeError:
        return {}
    variables = Variables({"model": similarity["model"].values.tolist()}, STUDY.source, STUDY.labels)
    variables.add("weight_change", changes)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(changes > 0, (1 - similarity.values) / changes, np.nan)
        bounds = (1 - interval.sel(bound=list(BOUNDS[::-1])).values) / changes[..., None]
    count = int(result["layer_similarity_n_examples"].max())
    bounds = np.where(np.isfinite(bounds), bounds, np.nan)
    variables.add("change_per_weight", ratio, interval=bounds, count=count)
    return variables.arrays
