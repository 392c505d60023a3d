"""Variables from the embeddings, layer 0, to the last layer, and the published numbers of BERT-base."""

import xarray as xr

from headscope.figures import with_interval
from headscope.results.tidy import same_bounds

NAMES = {
    "anisotropy": "two random tokens",
    "self_similarity": "the same token twice",
    "intra_sentence": "token and input mean",
}
# The same less the anisotropy.
CORRECTED = {"self_similarity_corrected": "self-similarity", "intra_sentence_corrected": "intra-sentence similarity"}
# BERT-base cased on the STS texts of 2012 to 2016, layers 0 to 12, not corrected: the released numbers of Ethayarajh
# (2019), which their authors call close to the paper's charts, not equal.
PAPER = {
    "anisotropy": (0.105, 0.168, 0.219, 0.245, 0.327, 0.377, 0.420, 0.398, 0.399, 0.484, 0.561, 0.675, 0.477),
    "self_similarity": (0.954, 0.921, 0.871, 0.823, 0.798, 0.781, 0.765, 0.744, 0.731, 0.754, 0.782, 0.839, 0.755),
    "intra_sentence": (0.435, 0.522, 0.570, 0.590, 0.642, 0.695, 0.726, 0.711, 0.720, 0.771, 0.820, 0.870, 0.776),
    "norm": (18.9, 22.3, 22.5, 22.1, 22.8, 23.9, 25.0, 24.6, 24.5, 26.2, 27.3, 29.4, 14.2),
}


def from_embeddings(result: xr.Dataset, name: str) -> xr.DataArray | None:
    """A variable by layer with its interval, the embeddings as layer 0; None where the result does not have it."""
    if name not in result or bool(result[name].isnull().all()):
        return None
    layers = with_interval(result, name)
    first = with_interval(result, f"embeddings_{name}").expand_dims(layer=[0])
    return (
        xr.concat(same_bounds([first, layers]), "layer").transpose("layer", ...).rename(name).assign_attrs(layers.attrs)
    )
