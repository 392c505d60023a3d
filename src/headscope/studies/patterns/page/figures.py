"""Figures of the patterns of heads, after Kovaleva et al. (2019), section 4.1."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import attention_maps, by_layer, classes, heatmap, stacked, with_interval
from headscope.figures.labels import head_name, label
from headscope.figures.theme import named
from headscope.report.parts import Figure

SHARES, HEADS, MAPS = "Share of each pattern", "Patterns of heads", "Clear examples"
# The share of heterogeneous maps over the tasks of Figure 2: MRPC and QQP.
PAPER = (0.32, 0.61)


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result of `patterns`; those of heads are means over corpora where there are several."""
    return [*_shares(result), *_heads(result), *_maps(result)]


def over_corpora(result: xr.Dataset, name: str) -> xr.DataArray:
    """A variable with its interval; of several corpora the mean, which has none."""
    array = with_interval(result, name)
    if "task" not in array.dims:
        return array
    attributes = array.attrs | {"long_name": f"{array.attrs['long_name']}, mean over corpora"}
    return result[name].mean("task").assign_attrs(attributes)


def _shares(result: xr.Dataset) -> Iterator[Figure]:
    total = with_interval(result, "share_total")
    if "task" not in total.dims:
        total = total.expand_dims(task=[str(result.attrs["corpus"])])
    chart = stacked(
        total.transpose("task", "pattern"), first="heterogeneous", band=PAPER, band_label="heterogeneous in the paper"
    )
    caption = (
        "All heads together; a share is the mean probability of the pattern. Near-even block: over the whole input or "
        "inside its segments, as random weights have it. Dashed lines: the range of heterogeneous maps in the paper, "
        "0.32 (MRPC) to 0.61 (QQP), for fine-tuned BERT-base. After Kovaleva et al. (2019), Figure 2."
    )
    yield Figure("share_total", SHARES, chart, caption, "share_total")


def _heads(result: xr.Dataset) -> Iterator[Figure]:
    share = over_corpora(result, "share")
    names = share["pattern"].values.tolist()
    dominant = result["dominant"].assign_attrs(long_name="pattern with the largest share of a head's maps")
    caption = "The pattern with the largest share of the maps of each head; the next figure shows the shares."
    yield Figure("dominant", HEADS, classes(dominant, names=names, dim="pattern"), caption, "share")
    caption = "The five shares of a head sum to 1."
    yield Figure("share", HEADS, heatmap(share, domain=(0, 1)), caption, "share")
    caption = "A dot for each head, a line for the layer's mean."
    yield Figure("share-by_layer", HEADS, by_layer(share), caption, "share")


def _maps(result: xr.Dataset) -> Iterator[Figure]:
    if "map" not in result:
        return
    for pattern in result["pattern"].values.tolist():
        array = result["map"].sel(pattern=pattern)
        examples = [array.isel(example=index) for index in range(array.sizes["example"])]
        clear = [_with_tokens(one) for one in examples if one.notnull().any()]
        if clear:
            title = f"{named(array)}: {label('pattern', pattern)}".replace("maps of each pattern", "maps")
            caption = (
                "The clearest maps, each of another head. Darker: more attention; each map has its own scale. "
                "After Kovaleva et al. (2019), Figure 1."
            )
            yield Figure(f"map-{pattern}", MAPS, attention_maps(clear, title), caption, "share")


def _with_tokens(one: xr.DataArray) -> tuple[xr.DataArray, list[str]]:
    """A map without its padding, named for its head, and its tokens."""
    tokens = [token for token in one["token"].values.tolist() if token]
    head = head_name(int(one["map_layer"]), int(one["map_head"]))
    name = f"{head} ({float(one['map_confidence']):.2f})"
    return xr.DataArray(one.values[: len(tokens), : len(tokens)], dims=("query", "key"), name=name), tokens
