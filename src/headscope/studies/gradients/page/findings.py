"""Findings of `gradients`: the dependence of the loss on attention to each class of token (Clark et al. 2019, 3.2)."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures.labels import label
from headscope.report.claims import below, over_heads, witness
from headscope.report.parts import Finding
from headscope.report.wording import examples, layer_means, layers_named, measured, number, of_array, spread

CLASSES = ("cls", "sep", "punct")
# Layers are called idle for a class of tokens if their gradient is below this share of that of other tokens.
# For a claim it has to be below half of that: other classes of tokens differ by so much with random weights.
LITTLE, UNUSED = 0.2, 0.1
MASKED = {
    "other": " Masked tokens count as other tokens.",
    "original": " A masked token counts to the class of its original token.",
}


def highlights(result: xr.Dataset) -> list[Finding]:
    """The dependence of the loss on attention to each class, beside the attention itself."""
    return [*_main(result), *_idle_heads(result)]


def _main(result: xr.Dataset) -> Iterator[Finding]:
    for name in CLASSES:
        relative = measured(result, "relative_gradient", token_class=name)
        if relative is not None:
            idle = _idle_layers(relative, UNUSED)
            where = layers_named(idle) if idle else "no layer"
            layers, n = relative.dropna("layer"), int(result.attrs["n_examples"])
            claims = [below(of_array(layer), UNUSED, n) for layer in layers]
            claim = claims[witness(claims)]
            share = float(result["attention_to"].sel(token_class=name).mean())
            looked = f"It gets {share:.0%} of the attention; the" if np.isfinite(share) else "The"
            yield Finding.judged(
                claim,
                f"{looked} gradient of the loss falls to {claim.value:.0%} of that of other tokens.",
                holds=f"Attention to {label('token_class', name)} hardly matters to the loss in {where}",
                fails=f"Attention to {label('token_class', name)} matters to the loss in all layers",
                undecided=f"Attention to {label('token_class', name)} may hardly matter to the loss",
                unit="examples",
            )


def _idle_layers(relative: xr.DataArray, limit: float) -> list[int]:
    """The layers whose gradient, beside that of other tokens, is surely below a limit."""
    layers = relative["layer"].values.tolist()
    return [layer for layer in layers if of_array(relative.sel(layer=layer)).upper < limit]


def _idle_heads(result: xr.Dataset) -> Iterator[Finding]:
    array = measured(result, "rank_correlation", token_class="sep")
    if array is not None:
        found = of_array(array)
        claim = over_heads(found, result.sizes["layer"] * result.sizes["head"])
        verb = "less" if found.value < 0 else "more"
        yield Finding.judged(
            claim,
            f"The rank correlation of attention and gradient over the heads is {number(found.value)}.",
            holds=f"Heads that attend more to [SEP] use it {verb}",
            fails="Attention to [SEP] and its use are not related",
            undecided="Attention to [SEP] and its use: no clear relation",
            unit="",
        )


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings: the loss, gradients by class and layer, their correlation with attention, the largest heads."""
    return [*_loss(result), *_relative(result), *_correlation(result), *_heads(result), *_mind()]


def _loss(result: xr.Dataset) -> Iterator[Finding]:
    array = measured(result, "gradient", token_class="other")
    if array is not None:
        means = ", ".join(f"{layer}: {number(mean)}" for layer, mean in layer_means(array).items())
        loss = f"{str(result.attrs['loss'])[:1].upper()}{str(result.attrs['loss'])[1:]}."
        loss += MASKED.get(str(result.attrs.get("masked_class")), "")
        yield Finding(
            "The loss", f"{loss} Mean gradient by attention to other tokens, by layer: {means}.{examples(array)}"
        )


def _relative(result: xr.Dataset) -> Iterator[Finding]:
    shares = result["attention_to"].mean("head")
    for name in CLASSES:
        array = measured(result, "relative_gradient", token_class=name)
        if array is None:
            continue
        layers = array.dropna("layer")["layer"].values.tolist()
        share = {layer: float(shares.sel(layer=layer, token_class=name)) for layer in layers}
        attended = {layer: f" ({number(value)})" if np.isfinite(value) else "" for layer, value in share.items()}
        gradients = {layer: of_array(array.sel(layer=layer)) for layer in layers}
        by_layer = [f"layer {layer}: {gradient.text}{attended[layer]}" for layer, gradient in gradients.items()]
        idle = list(map(str, _idle_layers(array, LITTLE)))
        below = f" Clearly below {LITTLE} in layers {', '.join(idle)}." if idle else ""
        yield Finding(
            f"Attention to {label('token_class', name)}",
            f"Gradient relative to that of attention to other tokens, with the share of attention in brackets: "
            f"{'; '.join(by_layer)}.{below}",
        )


def _correlation(result: xr.Dataset) -> Iterator[Finding]:
    array = measured(result, "rank_correlation")
    if array is None:
        return
    present = [name for name in result["token_class"].values.tolist() if bool(array.sel(token_class=name).notnull())]
    texts = ", ".join(f"{label('token_class', name)} {of_array(array.sel(token_class=name)).text}" for name in present)
    yield Finding(
        "More attention, less use?",
        f"Rank correlation over heads of attention to a class with its gradient: {texts}. Below 0, heads that attend "
        "to it more depend on it less. Clark et al. found this for separators in BERT-base: from layer 5 on, attention "
        "to them is high and its gradients are very small.",
    )


def _heads(result: xr.Dataset) -> Iterator[Finding]:
    for name in (*CLASSES, "other"):
        array = measured(result, "gradient", token_class=name)
        if array is not None:
            yield Finding(f"Heads, for {label('token_class', name)}", f"{spread(array)}.{examples(array)}")


def _mind() -> Iterator[Finding]:
    yield Finding(
        "Limits",
        "A gradient changes one weight alone, although a row sums to 1, and describes small changes only. "
        "Different losses have different scales: compare layers and classes, not results of different losses.",
    )
