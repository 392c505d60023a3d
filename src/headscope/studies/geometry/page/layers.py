"""How hidden states of every layer lie in space."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.parts import LayerNumber
from headscope.studies.geometry.page.summary import CORRECTED, from_embeddings

WORDS = {
    "anisotropy": "Cosine of two random tokens",
    **{name: f"{words.capitalize()} above random" for name, words in CORRECTED.items()},
    "explained_variance_corrected": "Variance that one vector explains",
    "norm": "Length",
}


def layers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """Cosines, explained variance and lengths from the embeddings on; none of them has a best layer."""
    for name, words in WORDS.items():
        array = from_embeddings(result, name)
        if array is not None:
            yield LayerNumber("Hidden states in space", words, array, is_share=False)
