"""Figures of `induction`: heads at repetitions, planted pairs by depth, sinks, copying and distances."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import by_layer, curve, heatmap, with_interval
from headscope.report.parts import Figure
from headscope.report.wording import measured
from headscope.studies.induction.page.tables import FOCUS_WORDS, WORDS

REPEATS, FAR, SINKS, COPIES = "Repetitions", "Planted pairs", "Sinks", "Copying"


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result; what was not measured has none."""
    return [*_repeats(result), *_planted(result), *_sinks(result), *_copying(result), *_distance(result)]


def _repeats(result: xr.Dataset) -> Iterator[Figure]:
    for prefix, where in (("", "repeated random tokens"), ("natural_", "the corpus")):
        gain = measured(result, f"{prefix}gain")
        if gain is not None:
            gain = gain.assign_coords(relation=[WORDS[name] for name in gain["relation"].values.tolist()])
            caption = (
                f"Attention of each head along links in {where}, less that without a repetition (for the previous "
                "token, that of uniform attention). A head that always looks at one distance gains nothing."
            )
            yield Figure(f"{prefix}gain", REPEATS, heatmap(gain, diverging=True), caption, f"{prefix}gain")


def _planted(result: xr.Dataset) -> Iterator[Figure]:
    gain = with_interval(result, "finder_gain")
    gain = gain.dropna("context", how="all")
    if gain.sizes["context"]:
        named = gain.assign_coords(context=[f"{context:,} tokens" for context in gain["context"].values.tolist()])
        caption = (
            "Attention from the last token of a text of random tokens to the token behind its only earlier copy, less "
            "that without the copy, by where the copy stands. The best head of each length, on texts that did not "
            "choose it, with 95% intervals."
        )
        chart = curve(
            named.transpose("depth", "context").drop_vars("n_examples", errors="ignore"), "depth", percent=True
        )
        yield Figure("finder_gain", FAR, chart, caption, "finder_gain")


def _sinks(result: xr.Dataset) -> Iterator[Figure]:
    for name, caption in (
        ("sink_attention", "Attention of each head to tokens that many heads look at when they do nothing."),
        ("value_norm", "Length of what a head moves from there, over that from other tokens (Kobayashi et al. 2020)."),
    ):
        array = measured(result, name)
        if array is not None:
            array = array.assign_coords(focus=[FOCUS_WORDS[focus] for focus in array["focus"].values.tolist()])
            yield Figure(name, SINKS, heatmap(array.dropna("focus", how="all")), caption, name)


def _copying(result: xr.Dataset) -> Iterator[Figure]:
    array = measured(result, "copying")
    if array is not None:
        caption = "Share of tokens whose own logit a head raises above the mean where it looks at them; chance is 0.5."
        yield Figure("copying", COPIES, heatmap(array), caption, "copying")


def _distance(result: xr.Dataset) -> Iterator[Figure]:
    array = measured(result, "mean_distance")
    if array is not None:
        caption = "A dot for each head, a line for the layer's mean: how far away the tokens are that it attends to."
        yield Figure("mean_distance", "Distance", by_layer(array), caption, "mean_distance")
