"""Findings of `geometry`: how hidden states lie in space, by layer."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.claims import apart, tied
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, layers_named, measured, number, of_array, spread
from headscope.studies.geometry.page.tables import CORRECTED, from_embeddings

# A cosine that differs by less is about the same: random weights change it by so much.
CHANGE = 0.1


def highlights(result: xr.Dataset) -> list[Finding]:
    """How alike random tokens are, how far context changes a token, and which dimension stands out."""
    return [*_cone(result), *_context(result), *_dimension(result)]


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings with their intervals."""
    return [
        *_anisotropy(result),
        *_corrected(result),
        *_explained(result),
        *_positions(result),
        *_dimensions(result),
        *_cls(result),
        *_alignment(result),
        *_limits(result),
    ]


def _cone(result: xr.Dataset) -> Iterator[Finding]:
    array = from_embeddings(result, "anisotropy")
    if array is not None:
        values = _by_layer(array)
        first, top = values[min(values)], max(values.values(), key=lambda value: value.value)
        where = layers_named(tied(values))
        yield Finding.judged(
            apart(top, first, int(result["anisotropy_n_examples"]), least=CHANGE),
            f"The vectors of two random tokens have a mean cosine of {number(first.value)} in the embeddings and "
            f"{number(top.value)} in {where}; 0 means that vectors have no common direction.",
            holds=f"Vectors of unrelated tokens grow alike, up to {where}",
            fails="Vectors of unrelated tokens stay about as alike as in the embeddings",
            undecided="It cannot be told whether vectors of unrelated tokens grow alike",
            unit="random tokens",
        )


def _context(result: xr.Dataset) -> Iterator[Finding]:
    array = from_embeddings(result, "self_similarity_corrected")
    if array is not None:
        values = _by_layer(array)
        first, low = values[min(values)], min(values.values(), key=lambda value: value.value)
        where = layers_named(tied({layer: -value for layer, value in values.items()}))
        yield Finding.judged(
            apart(first, low, int(result["self_similarity_n_examples"]), least=CHANGE),
            f"The mean cosine of two occurrences of a token, above that of random tokens, is {number(first.value)} in "
            f"the embeddings and {number(low.value)} in {where}.",
            holds=f"Context changes tokens, down to {where}",
            fails="Context hardly changes tokens",
            undecided="It cannot be told whether context changes tokens",
            unit="tokens of the vocabulary",
        )


def _dimension(result: xr.Dataset) -> Iterator[Finding]:
    share = measured(result, "top_dimension_share", dimension_rank=result["dimension_rank"].values[0])
    if share is not None:
        low, high = float(share.min()), float(share.max())
        shares = f"{low:.0%} to {high:.0%}" if low < high else f"{high:.0%}"
        text = f"The share of a single dimension in the likeness of random tokens reaches {shares}, by layer."
        yield Finding("Shares of single dimensions", text)


def _by_layer(array: xr.DataArray) -> dict[int, Estimate]:
    """The values of the layers that have one, from layer 0 on."""
    return {int(value["layer"]): of_array(value) for value in array.dropna("layer")}


def _range(array: xr.DataArray) -> str:
    """The first and the last value of a variable, from layer 0 on, and how far the values of layers reach."""
    estimates = _by_layer(array)
    first, last = min(estimates), max(estimates)
    begin = "the embeddings" if first == 0 else f"layer {first}"
    end = "the last layer" if last == int(array["layer"][-1]) else f"layer {last}"
    text = f"{estimates[first].text} in {begin}, {estimates[last].text} in {end}"
    return f"{text}; layers have {spread(array)}"


def _anisotropy(result: xr.Dataset) -> Iterator[Finding]:
    array = from_embeddings(result, "anisotropy")
    if array is not None:
        tokens = int(result["anisotropy_n_examples"])
        yield Finding("Anisotropy", f"Mean cosine of two of {tokens:,} random tokens: {_range(array)}.")


def _corrected(result: xr.Dataset) -> Iterator[Finding]:
    for name, words in CORRECTED.items():
        array = from_embeddings(result, name)
        if array is not None:
            count = result[f"{name.removesuffix('_corrected')}_n_examples"]
            unit = "inputs" if name.startswith("intra") else "tokens of the vocabulary"
            topic = words.capitalize()
            yield Finding(topic, f"Less anisotropy, {words} is {_range(array)}. n = {int(count):,} {unit}.")


def _explained(result: xr.Dataset) -> Iterator[Finding]:
    array = from_embeddings(result, "explained_variance_corrected")
    if array is not None:
        yield Finding(
            "Explained variance",
            "Share of a token's occurrences that one static vector explains, less that of as many random tokens: "
            f"{_range(array)}.",
        )


def _positions(result: xr.Dataset) -> Iterator[Finding]:
    if "position_similarity" in result:
        same, far = (result["position_similarity"].sel(gap=gap) for gap in ("same", "17+"))
        if bool((same - far).notnull().any()):
            yield Finding(
                "Position",
                "The cosine of two occurrences of a token at the same position, less that of two at 17 tokens or more: "
                f"layers have {spread(same - far)}.",
            )
    if "segment_similarity" in result:
        same, different = (result["segment_similarity"].sel(segments=kind) for kind in ("same", "different"))
        if bool((same - different).notnull().any()):
            yield Finding(
                "Segments",
                "In text pairs, the cosine of two occurrences of a token in the same segment, less that in different "
                f"segments: layers have {spread(same - different)}.",
            )


def _dimensions(result: xr.Dataset) -> Iterator[Finding]:
    if "top_dimension_share" in result:
        shares = result["top_dimension_share"].sum("dimension_rank", skipna=False)
        if bool(shares.isnull().all()):
            return
        top = shares[shares.argmax("layer")]
        layer = int(top["layer"])
        names = ", ".join(str(int(dimension)) for dimension in result["top_dimension"].sel(layer=layer))
        before, after = (float(result[name].sel(layer=layer)) for name in ("anisotropy", "anisotropy_without_top"))
        both = np.isfinite([before, after]).all()
        instead = f"; without them it is {number(after)} instead of {number(before)}" if both else ""
        counts = result["outlier_dimensions"]
        yield Finding(
            "Outlier dimensions",
            f"In layer {layer} dimensions {names} add {float(top):.0%} of the anisotropy{instead}. "
            "Dimensions with a mean more than 3 standard deviations from all: "
            f"{int(counts.min())} to {int(counts.max())} in a layer.",
        )


def _cls(result: xr.Dataset) -> Iterator[Finding]:
    if measured(result, "cls_shared") is not None:
        common, likeness = result["cls_shared"].dropna("layer"), result["cls_similarity"]
        most, last = int(common["layer"][common.argmax("layer")]), int(common["layer"][-1])
        cosine = float(likeness.sel(layer=last))
        inputs = "" if np.isnan(cosine) else f", where two inputs have a cosine of {number(cosine)}"
        yield Finding(
            "[CLS]",
            f"The mean [CLS] makes {float(common.max()):.1%} of the squared length of [CLS] in layer {most} and "
            f"{float(common[-1]):.1%} in layer {last}{inputs}. Subtract the mean before [CLS] is compared.",
        )


def _alignment(result: xr.Dataset) -> Iterator[Finding]:
    if "alignment" in result and result.sizes["layer"] > 1:
        array = result["alignment"]
        next_ones = [float(array.isel(layer=n, other_layer=n + 1)) for n in range(array.sizes["layer"] - 1)]
        if not np.isnan(next_ones).all():
            ends = float(array[0, -1])
            of_ends = "" if np.isnan(ends) else f"; that of the first and the last layer is {number(ends)}"
            yield Finding(
                "Layers",
                f"Centred kernel alignment of the hidden states of a layer and the next one: "
                f"{spread(xr.DataArray(next_ones))}{of_ends}.",
            )
    same = np.diagonal(result["model_alignment"].values) if "model_alignment" in result else np.empty(0)
    if not np.isnan(same).all():
        yield Finding(
            "The other model",
            f"Alignment of each layer with the same layer of {result.attrs.get('other_model', 'the other model')}: "
            f"{', '.join('not known' if np.isnan(share) else number(share) for share in same)}.",
        )


def _limits(result: xr.Dataset) -> Iterator[Finding]:
    yield Finding(
        "Limits",
        "Tokens are pieces of the tokenizer without special tokens. Cosines depend on a few dimensions and on the "
        "text; a cosine less anisotropy can be compared between layers, a cosine alone cannot.",
    )
