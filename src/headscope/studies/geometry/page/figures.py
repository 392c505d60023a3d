"""Figures of `geometry`: cosines by layer, dimensions that stand out, and the alignment of layers."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import curve, matrix
from headscope.report.parts import Figure, LayerNumber
from headscope.report.wording import measured
from headscope.results import same_bounds
from headscope.studies.geometry.page.tables import CORRECTED, NAMES, from_embeddings

COSINES, LENGTHS, LAYERS = "How alike vectors are", "Lengths and dimensions", "Alike layers"
BY_LAYER = {
    "anisotropy": "Cosine of two random tokens",
    **{name: f"{words.capitalize()} above random" for name, words in CORRECTED.items()},
    "explained_variance_corrected": "Variance that one vector explains",
    "norm": "Length",
}


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result."""
    return [*_cosines(result), *_positions(result), *_lengths(result), *_alignments(result)]


def _cosines(result: xr.Dataset) -> Iterator[Figure]:
    for names, variable, long_name, caption in (
        (
            NAMES,
            "anisotropy",
            "Mean cosine",
            "Two random tokens (anisotropy), two occurrences of a token (self-similarity), and a token and the mean of "
            "its input (intra-sentence similarity), by layer; layer 0 are the embeddings.",
        ),
        (
            CORRECTED,
            "intra_sentence_corrected",
            "Mean cosine above that of two random tokens",
            "Self-similarity and intra-sentence similarity, less the anisotropy of the layer: what is left is not owed "
            "to a direction that all tokens share. After Ethayarajh (2019), section 4.",
        ),
    ):
        parts = {words: from_embeddings(result, name) for name, words in names.items()}
        there = {
            words: array.drop_vars("n_examples", errors="ignore") for words, array in parts.items() if array is not None
        }
        if there:
            pairs = xr.concat(same_bounds(list(there.values())), xr.Variable("pair", list(there)))
            pairs = pairs.rename("mean_cosine").assign_attrs(long_name=long_name, units="1")
            yield Figure(variable, COSINES, curve(pairs.transpose("layer", "pair"), "layer"), caption, variable)


def _positions(result: xr.Dataset) -> Iterator[Figure]:
    for name, caption in (
        ("position_similarity", "Two occurrences of a token, by the difference of their positions in tokens."),
        ("segment_similarity", "Two occurrences of a token in text pairs, in the same and in different segments."),
    ):
        array = from_embeddings(result, name)
        if array is not None:
            after = "After Mickus et al. (2020); layer 0 are the embeddings."
            part = array.drop_vars("n_examples", errors="ignore")
            yield Figure(name, COSINES, curve(part, "layer"), f"{caption} {after}", name)


def _lengths(result: xr.Dataset) -> Iterator[Figure]:
    for name, caption in (
        ("norm", "Length of a token's vector: mean over the tokens of an input, then over inputs."),
        ("top_dimension_share", "The three dimensions that add most to the anisotropy of each layer."),
    ):
        array = from_embeddings(result, name)
        if array is not None:
            yield Figure(name, LENGTHS, curve(array, "layer"), f"{caption} Layer 0 are the embeddings.", name)


def _alignments(result: xr.Dataset) -> Iterator[Figure]:
    for name, caption in (
        ("alignment", "Linear centred kernel alignment of two layers, 1 for layers that are alike up to a rotation."),
        ("model_alignment", "The same of a layer with each layer of the other model."),
    ):
        if measured(result, name) is not None:
            array = result[name].drop_vars("n_examples", errors="ignore")
            yield Figure(name, LAYERS, matrix(array, side=320), f"{caption} After Kornblith et al. (2019).", name)


def layer_numbers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """Cosines, explained variance and lengths from the embeddings on; none of them has a best layer."""
    for name, words in BY_LAYER.items():
        array = from_embeddings(result, name)
        if array is not None:
            yield LayerNumber("Hidden states in space", words, array, is_share=False)
