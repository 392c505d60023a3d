"""A model of as many layers as BERT-base has its released numbers beside its own."""

import numpy as np
import xarray as xr

from headscope.report.numbers import Numbers
from headscope.studies.layers.geometry.page import table


def result_of(layers: int) -> xr.Dataset:
    """Anisotropy and self-similarity of a model, all of them a half."""
    half = xr.DataArray(np.full(layers, 0.5), {"layer": range(1, layers + 1)}, ("layer",))
    names = ("anisotropy", "self_similarity")
    return xr.Dataset({name: half for name in names} | {f"embeddings_{name}": xr.DataArray(0.5) for name in names})


def test_bert_base_stands_beside_a_model_of_as_many_layers() -> None:
    bert = table(Numbers(result_of(12)))
    assert bert
    keys = [column.key for column in bert.columns]
    numbers = [cells[keys.index("self_similarity-bert")] for _, cells in bert.rows]
    assert len(numbers) == 13 and numbers[:2] == [("0.954", ""), ("0.921", "")] and numbers[-1] == ("0.755", "")
    assert "BERT-base (cased)" in bert.caption and "close to the paper's charts, not equal" in bert.caption
    other = table(Numbers(result_of(6)))
    assert other and not any(column.key.endswith("-bert") for column in other.columns)
