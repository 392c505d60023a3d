"""Charts at other widths: one column of a paper, a phone, a wide page."""

import re
from typing import Any

import pytest
import xarray as xr

from headscope.figures import attention_maps, bars, heatmap, with_interval
from headscope.figures.attention_image import AtlasCell, atlas
from headscope.figures.by_layer import layer_grid
from headscope.figures.export import svg
from headscope.figures.fit import COLUMN, fitted, in_column
from headscope.figures.scatter import LABELLED, scatter
from headscope.figures.words import token_rows
from support.profile_result import profile_result

TOKENS = [f"word{number}" for number in range(12)]


def width_of(spec: dict) -> float:
    """The width of a drawn chart, in pixels."""
    found = re.search(r'<svg[^>]* width="([\d.]+)"', svg(spec))
    assert found
    return float(found[1])


def charts() -> dict[str, dict]:
    result = profile_result(6, 12)
    weights = xr.DataArray([[1 / 12] * 12] * 12, dims=["query", "key"], name="8-10")
    return {
        "panels": heatmap(with_interval(result, "feature_attention")).to_dict(),
        "cells": heatmap(with_interval(result, "entropy")).to_dict(),
        "bars": bars(with_interval(result, "attention_to").mean("head")).to_dict(),
        "beside": attention_maps(
            [(weights, TOKENS)] * 3, "Three maps with a title that is longer than a column"
        ).to_dict(),
    }


def test_cells_that_are_too_narrow_for_their_numbers_have_none() -> None:
    layers = list(range(7))
    coords = {
        "number": ["root"],
        "layer": layers,
        "text": (("number", "layer"), [["84.2%"] * 7]),
        "chosen": ("number", [2]),
    }
    grid = layer_grid(
        xr.DataArray([[float(number) for number in layers]], coords, ("number", "layer")), "Layers"
    ).to_dict()
    marks = [[layer["mark"]["type"] for layer in fitted(grid, width)["layer"]] for width in (560, 200)]
    assert marks == [["rect", "rect", "text"], ["rect", "rect"]]


@pytest.mark.parametrize("name", charts())
def test_chart_fits_one_column_with_type_of_the_same_size(name: str) -> None:
    column = fitted(charts()[name], COLUMN)
    assert 200 < width_of(column) <= COLUMN
    assert 'font-size="11px"' in svg(column)


@pytest.mark.parametrize("name", ["panels", "bars"])
def test_chart_uses_a_wide_page(name: str) -> None:
    assert 900 < width_of(fitted(charts()[name], 1040)) <= 1040


def test_data_are_shared_and_the_original_stays_as_it_was() -> None:
    spec = charts()["panels"]
    before = width_of(spec)
    assert fitted(spec, COLUMN)["datasets"] is spec["datasets"]
    assert width_of(spec) == before


def test_only_heads_that_stand_out_are_labelled() -> None:
    axes = {"layer": range(1, 7), "head": range(1, 13), "axis": [1, 2]}
    points = xr.DataArray([[[0.01 * layer, 0.01 * head] for head in range(12)] for layer in range(6)], axes, list(axes))
    points.loc[{"layer": 3, "head": 4}] = 9.0
    chart: Any = scatter(points.rename("points"))
    labels = [row["label"] for row in chart.data.values]
    assert "3-4" in labels and 1 <= sum(map(bool, labels)) <= 2 * LABELLED


@pytest.mark.parametrize("width", [COLUMN, 600, 900])
def test_rows_of_tokens_wrap_and_no_token_is_narrower_than_its_word(width: int) -> None:
    words = ["word", "a", "incomprehensibilities", *TOKENS]
    chart = token_rows(words, {"attention": [0.1] * len(words), "norm": [1.0] * len(words)}, "Tokens", "importance")
    drawn = svg(fitted(chart.to_dict(), width))
    cells = [
        (float(left), float(top), float(left) + float(across))
        for left, top, across in re.findall(r'd="M([\d.]+),([\d.]+)h([\d.]+)v[^"]*" fill="rgb', drawn)
    ]
    assert len(cells) == 2 * len(words)
    assert max(right - left for left, _, right in cells) > 6 * len("incomprehensibilities")
    assert len({top for _, top, _ in cells}) == {COLUMN: 8, 600: 4, 900: 2}[width]
    for one in cells:
        assert not any(one[1] == top and one[0] < left < one[2] - 0.1 for left, top, _ in cells)
    assert width_of(fitted(chart.to_dict(), width)) <= width + 20


def test_maps_of_an_atlas_in_one_column_do_not_lie_over_each_other() -> None:
    cells = [AtlasCell(layer, head, "", "next", "next") for layer in (1, 2) for head in range(1, 13)]
    chart = fitted(atlas(cells, {"next": "#d55e00"}, "minilm").to_dict(), COLUMN)
    image, frame = chart["layer"]  # no words, which are wider than these maps
    assert image["mark"]["width"] < chart["width"] / 12 and image["mark"]["height"] < chart["height"] / 2
    assert frame["mark"]["size"] == image["mark"]["width"] ** 2 and chart["width"] < COLUMN


def test_the_file_of_a_column_is_as_wide_as_the_column() -> None:
    chart = heatmap(with_interval(profile_result(), "entropy")).to_dict()
    assert width_of(fitted(chart, COLUMN)) < COLUMN == width_of(in_column(chart)) == 3.3 * 96 // 1 + 1
    words = " ".join(in_column(chart)["title"]["text"])
    untitled = in_column(chart, title=False)
    assert words not in " ".join(svg(untitled).split()) and width_of(untitled) == COLUMN
