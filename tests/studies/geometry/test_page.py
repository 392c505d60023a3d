"""The page of `geometry` says what was planted: a cone, what context changes, and a dimension that stands out."""

import numpy as np
import pytest
import xarray as xr

from headscope.report.study_page import study_page
from support.made_result import made_result
from support.snapshot import assert_page

LAYERS = {"layer": [1, 2, 3]}
# By layer, after the embeddings.
ANISOTROPY, CORRECTED = (0.1, 0.3, 0.5, 0.4), (0.9, 0.7, 0.4, 0.5)


def result_of(
    anisotropy: tuple[float, ...] = ANISOTROPY, corrected: tuple[float, ...] = CORRECTED, *, half: float = 0.02
) -> xr.Dataset:
    """A result of three layers; the first number of each variable is that of the embeddings."""
    values = {
        "anisotropy": anisotropy,
        "self_similarity": corrected,
        "self_similarity_corrected": corrected,
        "intra_sentence": corrected,
        "intra_sentence_corrected": corrected,
        "explained_variance_corrected": (0.5, 0.4, 0.3, 0.2),
        "norm": (10.0, 11.0, 12.0, 9.0),
    }
    measured = {name: xr.DataArray(list(value[1:]), LAYERS, name=name) for name, value in values.items()}
    measured |= {f"embeddings_{name}": xr.DataArray(value[0]) for name, value in values.items()}
    ranks = LAYERS | {"dimension_rank": [1, 2, 3]}
    first = xr.DataArray([0.25, 0.5, 0.125], LAYERS)
    shares = first * xr.DataArray([1.0, 0.5, 0.25], {"dimension_rank": [1, 2, 3]})
    pairs = np.eye(3) * 0.5 + [[0.5, 0.25, 0.125], [0.25, 0.5, 0.375], [0.125, 0.375, 0.5]]
    beside = {
        "top_dimension": xr.DataArray(np.arange(9).reshape(3, 3) + 11, ranks),
        "top_dimension_share": shares,
        "embeddings_top_dimension_share": shares[0] * 0 + 0.125,
        "anisotropy_without_top": xr.DataArray([0.2, 0.1, 0.3], LAYERS),
        "outlier_dimensions": xr.DataArray([0, 2, 1], LAYERS),
        "alignment": xr.DataArray(pairs, LAYERS | {"other_layer": [1, 2, 3]}),
    }
    return made_result("geometry", measured, beside, half=half, n=300)


def test_the_page_says_the_planted_numbers() -> None:
    claims = {
        "flat": result_of((0.1, 0.11, 0.12, 0.11)),
        "unsure": result_of(half=0.5),
        "context unsure": result_of(half=0.6),
        "two layers lead": result_of((0.1, 0.3, 0.5, 0.49)),
        "no context": result_of(corrected=(0.9, 0.68, 0.49, 0.58)),  # falls as the cone grows
    }
    assert_page(__file__, {"all": result_of()}, claims)


@pytest.mark.parametrize("missing", [(), ("anisotropy",), ("intra_sentence", "intra_sentence_corrected")])
def test_table_and_figures_begin_with_the_embeddings_and_leave_out_what_is_missing(missing: tuple[str, ...]) -> None:
    result = result_of()
    result = result.assign({name: result[name] * np.nan for name in missing})
    (table,) = study_page(result).tables()
    assert [key[0] for key, _ in table.rows] == ["embeddings", "1", "2", "3"]
    named = {
        column.key: [(cells[at] or ("", ""))[0] for _, cells in table.rows] for at, column in enumerate(table.columns)
    }
    assert not named.keys() & set(missing)
    assert named["self_similarity_corrected"] == ["0.900", "0.700", "0.400", "0.500"]
    figures = {figure.name: figure.chart.to_dict() for figure in study_page(result).figures()}
    assert {"norm", "top_dimension_share", "alignment"} <= figures.keys()
    (rows,) = figures["norm"]["datasets"].values()
    assert {row["layer"]: row["value"] for row in rows} == {0: 10.0, 1: 11.0, 2: 12.0, 3: 9.0}
