"""Figures of a comparison, after Kovaleva et al. (2019), Figure 5."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, by_layer, heatmap, with_interval
from headscope.report.parts import Figure

ALIKE, OTHERWISE, SCORES = "How much attention changed", "What changed", "Restored layers"
# More models than this have only the figures that show all of them together.
MOST_MODELS = 4
FIVE = "1 minus the cosine similarity; darker where attention changed more. After Kovaleva et al. (2019), Figure 5."
DIFFERENCES = {
    "attention_to": "Share of attention to each class of token: later model minus the first.",
    "attention_offset": "Attention to the previous, the same and the next token: later model minus the first.",
    "entropy": "In nats: above 0 where attention has become broader.",
    "feature_attention": "Attention to the most attended token of each feature: later model minus the first. "
    "Kovaleva et al. (2019), section 4.4.",
}
# Heads of a lower cosine similarity have clearly changed.
LIKE = 0.9


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a comparison, without those whose values are all missing."""
    return [*_alike(result), *_otherwise(result), *_restored(result)]


def _alike(result: xr.Dataset) -> Iterator[Figure]:
    similarity = change(with_interval(result, "similarity"))
    layers = change(with_interval(result, "layer_similarity"), ", by layer")
    divergence = with_interval(result, "js_divergence")
    last, heads = "Means over the heads of a layer, with their 95% intervals over examples.", "A dot for each head."
    named = layers.assign_coords(layer=[f"layer {number}" for number in layers["layer"].values])
    bar = bars(_squeezed(named.transpose("layer", "model")))
    yield Figure("layer_similarity", ALIKE, bar, last, "layer_similarity")
    yield Figure("similarity", ALIKE, heatmap(_squeezed(similarity)), FIVE, "similarity")
    yield Figure("similarity-by_layer", ALIKE, by_layer(_squeezed(similarity)), heads, "similarity")
    if "padded_similarity" in result:
        padded = change(with_interval(result, "padded_similarity"), ", padded")
        coded = "As released: inputs padded to 200 tokens, padding counted."
        yield Figure("padded_similarity", ALIKE, heatmap(_squeezed(padded)), coded, "padded_similarity")
    nats = "From 0 for the same attention to 0.69 nats for nothing in common."
    yield Figure("js_divergence", ALIKE, heatmap(_squeezed(divergence)), nats, "js_divergence")


def _otherwise(result: xr.Dataset) -> Iterator[Figure]:
    models = result["model"].values.tolist()
    for name, caption in DIFFERENCES.items() if len(models) <= MOST_MODELS else ():
        variable = f"difference_{name}"
        for model in models:
            array = with_interval(result, variable).sel(model=model)
            if not bool(array.isnull().all()):
                stem = variable if len(models) == 1 else f"{variable}-{model}"
                title = array.attrs["long_name"] if len(models) == 1 else f"{array.attrs['long_name']}: {model}"
                chart = heatmap(array.assign_attrs(long_name=title), diverging=True)
                yield Figure(stem, OTHERWISE, chart, caption, variable)


def _restored(result: xr.Dataset) -> Iterator[Figure]:
    if "restored_score" in result:
        scores = with_interval(result, "restored_score").transpose("restored", "metric", "model")
        words = [f"layers 1 to {count}" if count > 1 else f"layer {count}" for count in scores["restored"].values]
        scores = scores.assign_coords(restored=["none", *words[1:]])
        caption = "The layers that have the first model's weights. After Hao et al. (2019)."
        yield Figure("restored_score", SCORES, bars(_squeezed(scores)), caption, "restored_score")


def _squeezed(array: xr.DataArray) -> xr.DataArray:
    """Without the dimension `model` where there is one model only."""
    return array.isel(model=0, drop=True) if array.sizes["model"] == 1 else array


def change(similarity: xr.DataArray, where: str = "") -> xr.DataArray:
    """1 minus the similarity, with its interval; 0 where nothing has changed. `where` ends its name.

    >>> coords = {"layer": [1], "lower": ("layer", [0.5]), "upper": ("layer", [1.0])}
    >>> changed = change(xr.DataArray([0.75], coords, ["layer"]))
    >>> changed.item(), changed["lower"].item(), changed["upper"].item()
    (0.25, 0.0, 0.5)
    """
    ends = {"lower": "upper", "upper": "lower"} if "lower" in similarity.coords else {}
    bounds = {end: 1 - similarity[other] for end, other in ends.items()}
    attrs = {"long_name": f"change of attention since the first model{where}", "units": "1 − cosine"}
    return (1 - similarity).assign_coords(bounds).assign_attrs(similarity.attrs | attrs).rename("change")
