"""A model whose layers differ, on the page: which of their parts are gone, and what an ordinary one costs beside it."""

from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures.labels import label
from headscope.report.parts import Finding
from headscope.report.wording import examples, layers_named, measured, number, of_array


def removed_layers(result: xr.Dataset, facts: dict[str, Any]) -> list[int]:
    """The layers that are gone, from 1."""
    if "fine" in facts:
        return list(facts["fine"]["removed_layers"])
    left = result["layer_heads"].isel(step=-1)
    return [int(layer) for layer in left["layer"].values[left.values == 0]]


def sublayers(result: xr.Dataset, facts: dict[str, Any]) -> Iterator[str]:
    """Which layers have lost their attention or their feed-forward part alone; nothing of an ordinary model."""
    if "fine" not in facts:
        return
    without = removed_layers(result, facts)
    for name, words in (("layer_heads", "attention"), ("layer_neurons", "feed-forward part")):
        left = result[name].isel(step=-1)
        lost = [int(layer) for layer in left["layer"].values[left.values == 0] if int(layer) not in without]
        if lost and result[name].values.any():
            yield f"the {words} of {layers_named(lost)}"


def rest(facts: dict[str, Any]) -> str:
    """How what stays is loaded, and as which class if that is another one than before."""
    before, after = facts.get("model_class", ("", ""))
    if "fine" in facts:
        named = f", an {after}," if after != before else ""
        return f"Layers differ, so that other programs load the rest{named} by the code in its folder."
    if after == before:
        return "The rest is an ordinary model of its class."
    return f"The rest is an ordinary {after}: Auto classes load it, and a program that names {before} does not."


def portable(result: xr.Dataset, facts: dict[str, Any]) -> Iterator[Finding]:
    """What an ordinary model of the same target scores beside it; nothing without one."""
    metric, known = str(result["metric"].values[0]), facts.get("portable")
    if known is None:
        return
    score, gain = measured(result, "portable_score", metric=metric), measured(result, "fine_gain")
    if score is None or gain is None:
        return
    name, size = label("metric", metric), result["megabytes"].isel(step=-1)
    reached = "" if known["reached"] else " It does not reach the target."
    text = (
        f"The search for an ordinary model at the same target finds one of {number(known['megabytes'], '.3g')} MB, "
        f"expected to be {number(known['speed'], '.2f')} times as fast, with {name} {of_array(score).text}.{reached} "
        f"The model whose layers differ has {number(float(size), '.3g')} MB and is expected to be "
        f"{number(facts['speeds'][-1], '.2f')} times as fast; its {name} differs by {of_array(gain).text}. Both are "
        f"scored before any training, with the whole vocabulary.{examples(gain)}"
    )
    yield Finding("What an ordinary model costs", text)
