"""Findings of `gradients`: what attention to each class of token is worth (Clark et al. 2019, section 3.2)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import label
from headscope.report.parts import Finding
from headscope.report.wording import examples, layer_means, listed, measured, number, strongest

CLASSES = ("cls", "sep", "punct")
# Layers are called idle for a class of tokens if their gradient is below this share of that of other tokens.
LITTLE = 0.2


def findings(result: xr.Dataset) -> list[Finding]:
    """Which attention the loss depends on, and whether where much is it is worth little."""
    return [*_loss(result), *_relative(result), *_correlation(result), *_heads(result), *_mind()]


def _loss(result: xr.Dataset) -> Iterator[Finding]:
    found = measured(result, "gradient", token_class="other")
    if found is not None:
        means = ", ".join(f"{layer}: {number(mean)}" for layer, mean in layer_means(found).items())
        told = f"{str(result.attrs['loss'])[:1].upper()}{str(result.attrs['loss'])[1:]}."
        yield Finding(
            "The loss", f"{told} Mean gradient by attention to other tokens, by layer: {means}.{examples(found)}"
        )


def _relative(result: xr.Dataset) -> Iterator[Finding]:
    shares = result["attention_to"].mean("head")
    for name in CLASSES:
        array = measured(result, "relative_gradient", token_class=name)
        if array is None:
            continue
        layers = array["layer"].values.tolist()
        share = {layer: number(float(shares.sel(layer=layer, token_class=name))) for layer in layers}
        each = [f"layer {layer}: {_interval(array.sel(layer=layer))} ({share[layer]})" for layer in layers]
        idle = [str(layer) for layer in layers if float(array.sel(layer=layer)["upper"]) < LITTLE]
        told = f" Surely below {LITTLE} in layers {', '.join(idle)}." if idle else ""
        yield Finding(
            f"Attention to {label('token_class', name)}",
            f"Its gradient by that of attention to other tokens, and how much of it there is in brackets: "
            f"{'; '.join(each)}.{told}",
        )


def _correlation(result: xr.Dataset) -> Iterator[Finding]:
    array = measured(result, "rank_correlation")
    if array is None:
        return
    known = [name for name in result["token_class"].values.tolist() if bool(array.sel(token_class=name).notnull())]
    told = ", ".join(f"{label('token_class', name)} {_interval(array.sel(token_class=name))}" for name in known)
    yield Finding(
        "More attention, less worth?",
        f"Rank correlation over heads of attention to a class with its gradient: {told}. Below 0, heads that attend to "
        "it more depend on it less. Clark et al. find so for [SEP] in BERT-base: from layer 5 on attention to it is "
        "high and its gradients are very small.",
    )


def _heads(result: xr.Dataset) -> Iterator[Finding]:
    for name in (*CLASSES, "other"):
        array = measured(result, "gradient", token_class=name)
        if array is not None:
            yield Finding(
                f"Largest for {label('token_class', name)}", f"{listed(strongest(array)[:3])}.{examples(array)}"
            )


def _mind() -> Iterator[Finding]:
    yield Finding(
        "Mind",
        "A gradient is of one weight alone, as if a row need not sum to 1, and tells of small changes only. Losses of "
        "different kinds have different scales: compare layers and classes, not results of different losses.",
    )


def _interval(array: xr.DataArray) -> str:
    return f"{number(float(array))} [{number(float(array['lower']))}, {number(float(array['upper']))}]"
