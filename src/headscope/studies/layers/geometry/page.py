"""The page of `geometry`: how hidden states lie in space by layer, beside the released numbers of BERT-base."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple

import numpy as np
import xarray as xr

from headscope.figures import curve
from headscope.report.claims import apart, tied
from headscope.report.declared import Chart, StudyParts
from headscope.report.numbers import MissingNumber, Numbers
from headscope.report.parts import Figure, Finding, LayerNumber
from headscope.report.tables import Column, Table
from headscope.report.wording import Estimate, layers_named, number, of_array, spread
from headscope.results import in_series, joined

COSINES, LENGTHS, LAYERS = "How alike vectors are", "Lengths and dimensions", "Alike layers"
# A cosine that differs by less is about the same: random weights change it by so much.
CHANGE = 0.1
NAMES = {
    "anisotropy": "two random tokens of different documents",
    "self_similarity": "the same token twice",
    "intra_sentence": "token and input mean",
}
# The same minus the anisotropy.
CORRECTED = {"self_similarity_corrected": "self-similarity", "intra_sentence_corrected": "intra-sentence similarity"}
# BERT-base cased on the STS texts of 2012 to 2016, layers 0 to 12, not corrected: the released numbers of Ethayarajh
# (2019), which their authors call close to the paper's charts, not equal.
PAPER = {
    "anisotropy": (0.105, 0.168, 0.219, 0.245, 0.327, 0.377, 0.420, 0.398, 0.399, 0.484, 0.561, 0.675, 0.477),
    "self_similarity": (0.954, 0.921, 0.871, 0.823, 0.798, 0.781, 0.765, 0.744, 0.731, 0.754, 0.782, 0.839, 0.755),
    "intra_sentence": (0.435, 0.522, 0.570, 0.590, 0.642, 0.695, 0.726, 0.711, 0.720, 0.771, 0.820, 0.870, 0.776),
    "norm": (18.9, 22.3, 22.5, 22.1, 22.8, 23.9, 25.0, 24.6, 24.5, 26.2, 27.3, 29.4, 14.2),
}
COLUMNS = {
    "anisotropy": "Anisotropy",
    "self_similarity": "Self-similarity",
    "self_similarity_corrected": "Above random",
    "intra_sentence": "Intra-sentence",
    "intra_sentence_corrected": "Above random ",
    "explained_variance": "Explained variance",
    "norm": "Length",
}
BY_LAYER = {
    "anisotropy": "Cosine of two random tokens",
    **{name: f"{words.capitalize()} above random" for name, words in CORRECTED.items()},
    "explained_variance_corrected": "Variance that one vector explains",
    "norm": "Length",
}


def from_embeddings(numbers: Numbers, name: str) -> xr.DataArray:
    """A variable by layer with its interval, the embeddings as layer 0."""
    layers, first = numbers.array(name), numbers.array(f"embeddings_{name}").expand_dims(layer=[0])
    return joined([first, layers], "layer").transpose("layer", ...).rename(name).assign_attrs(layers.attrs)


def those_with_values(numbers: Numbers, names: Mapping[str, str]) -> dict[str, xr.DataArray]:
    """The variables of a list that the result has, from the embeddings on, by name."""
    arrays = {}
    for name in names:
        try:
            arrays[name] = from_embeddings(numbers, name)
        except MissingNumber:
            continue
    return arrays


def estimates(array: xr.DataArray) -> dict[int, Estimate]:
    """The values of the layers that have one, from layer 0 on."""
    return {int(value["layer"]): of_array(value) for value in array.dropna("layer")}


def cone(numbers: Numbers) -> Finding:
    """How alike the vectors of random tokens are."""
    values = estimates(from_embeddings(numbers, "anisotropy"))
    first, top = values[min(values)], max(values.values(), key=lambda value: value.value)
    where = layers_named(tied(values))
    return Finding.judged(
        apart(top, first, numbers.n("anisotropy"), least=CHANGE),
        f"The vectors of two random tokens have a mean cosine of {number(first.value)} in the embeddings and "
        f"{number(top.value)} in {where}; 0 means that vectors have no common direction.",
        holds=f"Vectors of unrelated tokens grow more similar, up to {where}",
        fails="Vectors of unrelated tokens stay about as similar as in the embeddings",
        undecided="It cannot be told whether vectors of unrelated tokens grow more similar",
        unit="random tokens",
    )


def context(numbers: Numbers) -> Finding:
    """How far context changes a token: how much closer than random tokens its occurrences are, of what is possible."""
    above, random = (estimates(from_embeddings(numbers, name)) for name in ("self_similarity_corrected", "anisotropy"))
    shares = {layer: Estimate(*(np.array(astuple(above[layer])) / (1 - random[layer].value))) for layer in above}
    first = shares.pop(min(shares))
    low = min(shares.values(), key=lambda share: share.value)
    where = layers_named(tied({layer: -share for layer, share in shares.items()}))
    return Finding.judged(
        apart(first, low, numbers.n("self_similarity"), least=CHANGE),
        "The mean cosine of two occurrences of a token is above that of random tokens, by this share of what is "
        f"possible: {first:%} in the embeddings, {low:%} in {where}.",
        holds=f"Context changes tokens, most in {where}",
        fails="Context hardly changes tokens",
        undecided="It cannot be told whether context changes tokens",
        unit="tokens of the vocabulary",
    )


def dimension(numbers: Numbers) -> Finding:
    """The share of a single dimension in the anisotropy."""
    rank = numbers.result["dimension_rank"].values[0]
    share = numbers.array("top_dimension_share", dimension_rank=rank)
    low, high = float(share.min()), float(share.max())
    shares = f"{low:.0%} to {high:.0%}" if low < high else f"{high:.0%}"
    text = f"Share of the anisotropy that one dimension adds at most, by layer: {shares}."
    return Finding(f"A single dimension adds up to {high:.0%} of the anisotropy", text)


def positions(numbers: Numbers) -> Finding:
    """How much the position of a token changes it."""
    same, far = (numbers.array("position_similarity", gap=gap) for gap in ("same", "17+"))
    return Finding(
        "Position",
        "The cosine of two occurrences of a token at the same position, minus that of two at 17 tokens or more: "
        f"layers have {spread(same - far)}.",
    )


def segments(numbers: Numbers) -> Finding:
    """How much the segment of a token changes it."""
    same, different = (numbers.array("segment_similarity", segments=kind) for kind in ("same", "different"))
    return Finding(
        "Segments",
        "In text pairs, the cosine of two occurrences of a token in the same segment, minus that in different "
        f"segments: layers have {spread(same - different)}.",
    )


def outliers(numbers: Numbers) -> Finding | None:
    """The dimensions that add most to the anisotropy, and those with a far mean."""
    shares = numbers.array("top_dimension_share").sum("dimension_rank", skipna=False).dropna("layer")
    if not shares.size:
        return None
    top = shares[shares.argmax("layer")]
    layer = int(top["layer"])
    dimensions = numbers.result["top_dimension"].sel(layer=layer)
    before, after = (float(numbers.result[name].sel(layer=layer)) for name in ("anisotropy", "anisotropy_without_top"))
    both = np.isfinite([before, after]).all()
    instead = f"; without them it is {number(after)} instead of {number(before)}" if both else ""
    counts = numbers.array("outlier_dimensions")
    return Finding(
        "Outlier dimensions",
        f"In layer {layer} dimensions {', '.join(str(int(dimension)) for dimension in dimensions)} add "
        f"{float(top):.0%} of the anisotropy{instead}. Dimensions with a mean more than 3 standard deviations from "
        f"all: {int(counts.min())} to {int(counts.max())} in a layer.",
    )


def cls(numbers: Numbers) -> Finding:
    """How alike [CLS] is in all inputs."""
    common = numbers.array("cls_shared").dropna("layer")
    most, last = int(common["layer"][common.argmax("layer")]), int(common["layer"][-1])
    cosine = float(numbers.result["cls_similarity"].sel(layer=last))
    inputs = "" if np.isnan(cosine) else f", where two inputs have a cosine of {number(cosine)}"
    return Finding(
        "[CLS]",
        f"The mean [CLS] makes {float(common.max()):.1%} of the squared length of [CLS] in layer {most} and "
        f"{float(common[-1]):.1%} in layer {last}{inputs}. Subtract the mean before [CLS] is compared.",
    )


def neighbours(numbers: Numbers) -> Finding | None:
    """How alike neighbouring layers are."""
    array = numbers.array("alignment")
    pairs = [float(array.isel(layer=index, other_layer=index + 1)) for index in range(array.sizes["layer"] - 1)]
    if np.isnan(pairs).all():
        return None
    ends = float(array[0, -1])
    last = "" if np.isnan(ends) else f"; that of the first and the last layer is {number(ends)}"
    return Finding(
        "Layers",
        "Centred kernel alignment of the hidden states of a layer and the next one: "
        f"{spread(xr.DataArray(pairs))}{last}.",
    )


def other_model(numbers: Numbers) -> Finding:
    """How alike each layer is to that of the other model."""
    same = np.diagonal(numbers.array("model_alignment").values)
    return Finding(
        "The other model",
        f"Alignment of each layer with the same layer of {numbers.words.get('other_model', 'the other model')}: "
        f"{', '.join('not known' if np.isnan(share) else number(share) for share in same)}.",
    )


def limits(numbers: Numbers) -> Finding:
    """What cosines do not say."""
    text = (
        "Tokens are pieces of the tokenizer without special tokens. Cosines depend on a few dimensions and on the "
        "text; a cosine minus anisotropy can be compared between layers, a cosine alone cannot."
    )
    if _normalised(numbers):
        text += " States of the last layer are those after the model's final normalisation; other layers have none."
    return Finding("Limits", text)


def _normalised(numbers: Numbers) -> bool:
    """Whether the states of the last layer come after a normalisation of their own."""
    return numbers.words.get("last_normalised") == "1"


def cosines(numbers: Numbers) -> Iterator[Figure]:
    """Cosines by layer, as they are and above random."""
    for names, variable, long_name, caption in (
        (NAMES, "anisotropy", "Mean cosine", ALIKE),
        (CORRECTED, "intra_sentence_corrected", "Mean cosine above that of two random tokens", ABOVE),
    ):
        arrays = those_with_values(numbers, names)
        if arrays:
            pairs = in_series({names[name]: array for name, array in arrays.items()}, "pair").rename("mean_cosine")
            chart = curve(pairs.assign_attrs(long_name=long_name, units="1"), "layer")
            yield Figure(variable, COSINES, chart, caption, variable)


def curves(numbers: Numbers) -> Iterator[Figure]:
    """Likeness by position and segment, lengths, and the shares of dimensions."""
    for name, array in those_with_values(numbers, CURVES).items():
        if name.endswith("similarity"):
            section, array = COSINES, array.drop_vars("n_examples", errors="ignore")
            end = "After Mickus et al. (2020); layer 0 is the embeddings."
        else:
            section, end = LENGTHS, "Layer 0 is the embeddings."
            if name == "norm" and _normalised(numbers):
                end += " The last layer's states are those after the final normalisation."
        yield Figure(name, section, curve(array, "layer"), f"{CURVES[name]} {end}", name)


def alignment(number: str, words: str) -> Chart:
    """A matrix of layers."""
    dims, words = ("layer", "other_layer"), f"{words} After Kornblith et al. (2019)."
    return Chart(number, "matrix", LAYERS, words, dims=dims, style={"side": 320})


def layers(numbers: Numbers) -> Iterator[LayerNumber]:
    """Cosines, explained variance and lengths from the embeddings on; none of them has a best layer."""
    for name, array in those_with_values(numbers, BY_LAYER).items():
        yield LayerNumber("Hidden states in space", BY_LAYER[name], array, is_share=False)


def table(numbers: Numbers) -> Table | None:
    """One row for each layer, from the embeddings on, beside BERT-base if it has equally many layers."""
    arrays = those_with_values(numbers, COLUMNS)
    if not arrays:
        return None
    indices = next(iter(arrays.values()))["layer"].values.tolist()
    paper = PAPER if len(indices) == len(PAPER["anisotropy"]) else {}
    columns = [Column(name, COLUMNS[name].strip()) for name in arrays]
    columns += [Column(f"{name}-bert", f"BERT-base: {COLUMNS[name].lower()}") for name in paper]
    rows = []
    for row, layer in enumerate(indices):
        cells = [of_array(array.sel(layer=layer)).known_cell(".3f") for array in arrays.values()]
        cells += [(f"{values[row]:g}", "") for values in paper.values()]
        rows.append((("embeddings" if layer == 0 else str(layer),), cells))
    return Table("layers", CAPTION, ("Layer",), tuple(columns), rows)


ALIKE = (
    "Two random tokens (anisotropy), two occurrences of a token (self-similarity), and a token and the mean of its "
    "input (intra-sentence similarity), by layer; layer 0 is the embeddings."
)
ABOVE = (
    "Self-similarity and intra-sentence similarity, minus the anisotropy of the layer: what is left does not come "
    "from a direction that all tokens share. After Ethayarajh (2019), section 4."
)
CURVES = {
    "position_similarity": "Two occurrences of a token, by the difference of their positions in tokens.",
    "segment_similarity": "Two occurrences of a token in text pairs, in the same and in different segments.",
    "norm": "Length of a token's vector: mean over the tokens of an input, then over inputs.",
    "top_dimension_share": "The three dimensions that add most to the anisotropy of each layer.",
}
ALIGNMENT = "Linear centred kernel alignment of two layers, 1 for layers that are the same up to a rotation."
CAPTION = (
    "Cosines, shares and lengths by layer, with 95% intervals. Above random: minus the anisotropy, the mean cosine "
    "of two random tokens. Tokens are pieces of the tokenizer without special tokens. BERT-base (cased): released "
    "numbers of Ethayarajh (2019), not corrected; the authors call them close to the paper's charts, not equal."
)
PAGE = StudyParts(
    highlights=(cone, context, dimension),
    findings=(positions, segments, outliers, cls, neighbours, other_model, limits),
    charts=(
        cosines,
        curves,
        alignment("alignment", ALIGNMENT),
        alignment("model_alignment", "The same of a layer with each layer of the other model."),
    ),
    tables=(table,),
    layers=(layers,),
)
