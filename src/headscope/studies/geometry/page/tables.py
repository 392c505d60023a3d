"""The numbers of each layer, from the embeddings on, beside those of BERT-base for a model of as many layers."""

import xarray as xr

from headscope.figures import with_interval
from headscope.report.tables import Column, Table
from headscope.report.wording import of_array
from headscope.results import same_bounds

NAMES = {
    "anisotropy": "two random tokens of different documents",
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
COLUMNS = {
    "anisotropy": "Anisotropy",
    "self_similarity": "Self-similarity",
    "self_similarity_corrected": "Above random",
    "intra_sentence": "Intra-sentence",
    "intra_sentence_corrected": "Above random ",
    "explained_variance": "Explained variance",
    "norm": "Length",
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


def tables(result: xr.Dataset) -> list[Table]:
    """One row for each layer, from the embeddings on."""
    arrays = {name: from_embeddings(result, name) for name in COLUMNS}
    there = {name: array for name, array in arrays.items() if array is not None}
    if not there:
        return []
    layers = next(iter(there.values()))["layer"].values.tolist()
    paper = len(layers) == len(PAPER["anisotropy"])
    columns = [Column(name, COLUMNS[name].strip()) for name in there]
    columns += [Column(f"{name}-bert", f"BERT-base: {COLUMNS[name].lower()}") for name in PAPER if paper]
    rows = []
    for row, layer in enumerate(layers):
        cells = [of_array(array.sel(layer=layer)).known_cell(".3f") for array in there.values()]
        cells += [(f"{PAPER[name][row]:g}", "") for name in PAPER if paper]
        rows.append((("embeddings" if layer == 0 else str(layer),), cells))
    caption = (
        "Cosines, shares and lengths by layer, with 95% intervals. Above random: less the anisotropy, the mean cosine "
        "of two random tokens. Tokens are pieces of the tokenizer without special tokens. BERT-base (cased): "
        "released numbers of Ethayarajh (2019), not corrected; the authors call them close to the paper's charts, not "
        "equal."
    )
    return [Table("layers", caption, ("Layer",), tuple(columns), rows)]
