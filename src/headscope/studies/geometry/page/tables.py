"""The numbers of each layer, with those of BERT-base beside the layers of a model of as many."""

import numpy as np
import xarray as xr

from headscope.report.tables import Column, Table
from headscope.report.wording import of_array
from headscope.studies.geometry.page.summary import PAPER, from_embeddings

COLUMNS = {
    "anisotropy": "Anisotropy",
    "self_similarity": "Self-similarity",
    "self_similarity_corrected": "Above random",
    "intra_sentence": "Intra-sentence",
    "intra_sentence_corrected": "Above random ",
    "explained_variance": "Explained variance",
    "norm": "Length",
}


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
    for place, layer in enumerate(layers):
        cells = [_cell(array.sel(layer=layer)) for array in there.values()]
        cells += [(f"{PAPER[name][place]:g}", "") for name in PAPER if paper]
        rows.append((("embeddings" if layer == 0 else str(layer),), cells))
    caption = (
        "Cosines, shares and lengths by layer, with 95% intervals. Above random: less the anisotropy, the mean cosine "
        "of two random tokens. Tokens are pieces of the tokenizer without [CLS] and [SEP]. BERT-base (cased): "
        "released numbers of Ethayarajh (2019), not corrected; the authors call them close to the paper's charts, not "
        "equal."
    )
    return [Table("layers", caption, ("Layer",), tuple(columns), rows)]


def _cell(array: xr.DataArray) -> tuple[str, str] | None:
    return of_array(array).cell(".3f") if np.isfinite(float(array)) else None
