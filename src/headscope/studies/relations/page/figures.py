"""Figures of `relations`: attention to links, its gain over the baselines, and examples of the best heads."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, by_layer, heatmap, with_interval, zoom
from headscope.figures.labels import head_name
from headscope.report.best_heads.chosen import ARROWS
from headscope.report.best_heads.parts import beside, frequent
from headscope.report.parts import Figure

LINKS, BEST, LOOK = "All links", "Relations", "A look into the best heads"
MOST_RELATIONS = 12


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result; relations of few sentences are left out of them."""
    return [*_all_links(result), *_relations(result), *_zooms(result)]


def _all_links(result: xr.Dataset) -> Iterator[Figure]:
    links = _in_words(with_interval(result, "link_attention").sel(relation="all", drop=True))
    caption = (
        "Mean over sentences of the largest attention of a link. After Kovaleva et al. (2019), Figure 3 (middle), "
        "whose code has source → target: from the frame element to the word that evokes the frame."
    )
    yield Figure("link_attention", LINKS, heatmap(links), caption, "link_attention")
    gain = _in_words(_gain(result).sel(relation="all", drop=True))
    caption = (
        "Attention to links minus the larger of two baselines: links moved elsewhere in their sentence, and other "
        "words that look at the same end of the link. A head that only looks at a fixed distance, or always at the "
        "same word, is not above 0."
    )
    yield Figure("gain", LINKS, heatmap(gain, diverging=True), caption, "gain")
    looking = links.sel(direction=ARROWS["source_to_target"], drop=True)
    limit = float(result["percentile"].sel(relation="all", direction="source_to_target"))
    chart = by_layer(looking, reference=limit, reference_label="99th percentile of all heads")
    caption = "A dot for each head, a line for the layer's mean; source → target."
    yield Figure("link_attention-by_layer", LINKS, chart, caption, "link_attention")


def _gain(result: xr.Dataset) -> xr.DataArray:
    """Attention to links minus the larger of the baselines."""
    gain = result["gain"].where(result["gain"] < result["gain_others"], result["gain_others"]).rename("gain")
    return gain.assign_attrs(long_name="gain of links over both baselines", units="share of attention")


def _in_words(array: xr.DataArray) -> xr.DataArray:
    return array.assign_coords(direction=[ARROWS[name] for name in array["direction"].values.tolist()])


def _relations(result: xr.Dataset) -> Iterator[Figure]:
    enough = frequent(result, "gain_n_examples")
    if enough["chosen_attention"].notnull().any():
        caption = (
            "The head with the largest gain, on the half of the sentences on which it was not chosen, with 95% "
            f"intervals. Untrained: the largest value of any head of a model with random weights. The "
            f"{MOST_RELATIONS} relations with the largest gains."
        )
        yield Figure("chosen", BEST, bars(_beside(enough)), caption, "chosen_attention")
    own = enough.sel(relation=enough["relation"] != "all").isel(relation=slice(MOST_RELATIONS))
    if own.sizes["relation"]:
        gain = _gain(own).sel(direction=["source_to_target", "target_to_source"]).max("direction", keep_attrs=True)
        gain = gain.clip(min=0, keep_attrs=True)
        caption = f"In the better direction; 0 for heads without a gain. The {MOST_RELATIONS} most frequent relations."
        yield Figure("gain-by_relation", BEST, heatmap(gain), caption, "gain")


def _beside(result: xr.Dataset) -> xr.DataArray:
    """The chosen head's attention to links and baselines, and the untrained model: "all", then the largest gains."""
    names = {"links": "chosen_attention", "elsewhere": "chosen_elsewhere", "other words": "chosen_others"}
    parts = {words: with_interval(result, name) for words, name in names.items()}
    if "untrained" in result:
        most = result["untrained"].sel(direction=["source_to_target", "target_to_source"])
        most = most.max(["layer", "head", "direction"]).where(result["chosen_attention"].notnull())
        parts["untrained"] = most.assign_coords(lower=most, upper=most)
    attrs = {"long_name": "attention of links in the chosen head", "units": "share of attention"}
    largest = beside(result, parts).dropna("relation", how="all").isel(relation=slice(MOST_RELATIONS + 1))
    return largest.rename("attention").assign_attrs(attrs)


def _zooms(result: xr.Dataset) -> Iterator[Figure]:
    for index in range(result.sizes.get("example", 0)):
        one = result["map"].isel(example=index)
        tokens = [token for token in one["token"].values.tolist() if token]
        ends = one["link_end"].values[: len(tokens)]
        head = head_name(int(one["map_layer"]), int(one["map_head"]))
        relation, direction = str(one["map_relation"].item()), ARROWS[str(one["map_direction"].item())]
        of = "all links" if relation == "all" else relation
        name = f"Head {head}: {of}, {direction}"
        weights = xr.DataArray(one.values[: len(tokens), : len(tokens)], dims=("query", "key"), name=name)
        chart = zoom(weights, tokens, int((ends == 1).argmax()), (ends == 2).nonzero()[0].tolist())
        caption = (
            f"A typical sentence: its links get the median attention of this head for {of}. Linked tokens are orange. "
            "After Kovaleva et al. (2019), Figure 3."
        )
        yield Figure(f"zoom-{index + 1}", LOOK, chart, caption, "link_attention")
