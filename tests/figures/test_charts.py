"""Every chart is valid Vega-Lite and shows the numbers of its array."""

import re

import numpy as np
import pytest
import xarray as xr

from headscope.figures import (
    attention_map,
    attention_maps,
    bars,
    by_layer,
    classes,
    curve,
    heatmap,
    matrix,
    scatter,
    stacked,
    with_interval,
    zoom,
)
from headscope.figures.export import svg
from support.profile_result import profile_result

RESULT = profile_result()


def embedding(n_layers: int = 2, n_heads: int = 3) -> xr.DataArray:
    """Places of heads in a plane."""
    axes = {"layer": range(1, n_layers + 1), "head": range(1, n_heads + 1), "axis": [1, 2]}
    values = np.random.default_rng(0).normal(size=(n_layers, n_heads, 2))
    return xr.DataArray(values, axes, list(axes), name="embedding", attrs={"long_name": "heads by similarity"})


def pairs() -> xr.DataArray:
    """Distances of all pairs of six heads."""
    axes = {"layer": [1, 2], "head": [1, 2, 3], "other_layer": [1, 2], "other_head": [1, 2, 3]}
    values = np.random.default_rng(0).uniform(size=(2, 3, 2, 3))
    return xr.DataArray(values, axes, list(axes), name="divergence", attrs={"units": "nats"})


def scores() -> xr.DataArray:
    """Scores of two tasks by two starting points, with intervals."""
    axes = {"task": ["rte", "mrpc"], "init": ["random", "finetuned"]}
    array = xr.DataArray([[0.5, 0.75], [0.25, 1.0]], axes, list(axes), name="score")
    return array.assign_coords(lower=array - 0.125, upper=array + 0.125)


def over_epochs() -> xr.DataArray:
    """A score and its interval after each of three epochs."""
    axes = {"epoch": [1, 2, 4], "metric": ["f1", "accuracy"]}
    array = xr.DataArray([[0.5, 0.75], [0.25, 1.0], [0.375, 0.875]], axes, list(axes), name="score")
    return array.assign_coords(lower=array - 0.125, upper=array + 0.125)


def kinds() -> xr.DataArray:
    """Two heads of two kinds."""
    return xr.DataArray([["block", "diagonal"]], {"layer": [1], "head": [1, 2]}, name="dominant")


CHARTS = {
    "heatmap": lambda: heatmap(with_interval(RESULT, "entropy")),
    "heatmap of panels": lambda: heatmap(with_interval(RESULT, "feature_attention")),
    "heatmap of panels with their own scales": lambda: heatmap(with_interval(RESULT, "attention_to"), shared=False),
    "heatmap of differences": lambda: heatmap(with_interval(RESULT, "entropy") - 2, diverging=True),
    "by layer": lambda: by_layer(with_interval(RESULT, "entropy"), reference=3.25, reference_label="uniform"),
    "by layer in series": lambda: by_layer(with_interval(RESULT, "attention_to")),
    "bars": lambda: bars(with_interval(RESULT, "token_share")),
    "bars in groups": lambda: bars(scores()),
    "bars in panels": lambda: bars(scores().expand_dims(metric=["f1", "accuracy"], axis=2)),
    "curve": lambda: curve(over_epochs().sel(metric="f1", drop=True), "epoch"),
    "curves": lambda: curve(over_epochs(), "epoch", reference=0.5),
    "matrix": lambda: matrix(scores()),
    "matrix of pairs of heads": lambda: matrix(pairs()),
    "scatter": lambda: scatter(embedding()),
    "scatter by class": lambda: scatter(embedding(), colour=RESULT["entropy"].isel(layer=[0, 1]) > 1),
    "attention map": lambda: attention_map(
        xr.DataArray(np.eye(3), dims=["query", "key"], name="8-10"), ["if", "'", '"']
    ),
    "attention maps": lambda: attention_maps(
        [(xr.DataArray(np.eye(2) / 2, dims=["query", "key"], name="8-10"), ["if", "\\"])] * 2, "Maps"
    ),
    "zoom": lambda: zoom(xr.DataArray(np.eye(3), dims=["query", "key"], name="8-10"), ["if", "\\", '"'], 1, [0, 2]),
    "stacked": lambda: stacked(scores(), first="finetuned", band=(0.25, 0.5), band_label="elsewhere"),
    "classes": lambda: classes(kinds(), names=["block", "diagonal"], dim="pattern"),
    "classes in panels": lambda: classes(kinds().expand_dims(task=["a", "b"]), names=["block"], dim="pattern"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_chart_is_valid_and_draws(name: str) -> None:
    spec = CHARTS[name]().to_dict(validate=True)
    assert spec["description"]
    assert spec["title"]["text"]
    assert svg(spec).startswith("<svg")


@pytest.mark.parametrize("chart", [heatmap, by_layer])
@pytest.mark.parametrize("name", ["entropy", "feature_attention"])
def test_values_of_the_spec_are_those_of_the_result(chart, name: str) -> None:
    (rows,) = chart(with_interval(RESULT, name)).to_dict()["datasets"].values()
    values, bounds = RESULT[name], RESULT[f"{name}_ci"]
    assert len(rows) == values.size
    assert sorted(row["value"] for row in rows) == sorted(values.values.ravel().tolist())
    for row in rows:
        part = values.sel(layer=row["layer"], head=row["head"])
        assert row["value"] in part.values
        assert row["name"] == f"{row['layer']}-{row['head']}"
        assert row["lower"] in bounds.sel(layer=row["layer"], head=row["head"], bound="lower").values
        assert row["n_examples"] == 50


def test_layer_one_is_on_top_and_hover_tells_head_value_interval_and_examples() -> None:
    spec = heatmap(with_interval(RESULT, "entropy")).to_dict()
    y = spec["encoding"]["y"]
    assert (y["field"], y["type"]) == ("layer", "ordinal") and "sort" not in y
    assert [shown["field"] for shown in spec["encoding"]["tooltip"]] == [
        "name",
        "value",
        "lower",
        "upper",
        "n_examples",
    ]


def test_axes_carry_units() -> None:
    spec = by_layer(with_interval(RESULT, "entropy")).to_dict()
    assert spec["layer"][0]["encoding"]["y"]["title"] == "Entropy (nats)"
    assert (
        by_layer(with_interval(RESULT, "sep_to_sep")).to_dict()["layer"][0]["encoding"]["y"]["title"]
        == "Share of attention"
    )


def test_panels_of_a_class_that_does_not_exist_are_left_out() -> None:
    spec = heatmap(with_interval(profile_result(special=False), "attention_to")).to_dict()
    assert spec["facet"]["sort"] == ["punctuation", "other tokens"]
    (rows,) = spec["datasets"].values()
    assert {row["token_class"] for row in rows} == {"punctuation", "other tokens"}


def test_differences_are_coloured_evenly_around_zero() -> None:
    array = xr.DataArray([[-0.5, 0.25]], {"layer": [1], "head": [1, 2]}, ["layer", "head"], name="difference")
    scale = heatmap(array).to_dict()["encoding"]["color"]["scale"]
    assert scale["domain"] == [step / 8 for step in range(-4, 5)]
    assert scale["range"][4] == "#ffffff"


@pytest.mark.parametrize("size", [(6, 12), (12, 12), (24, 16), (32, 32)])
def test_sizes_follow_the_number_of_heads(size: tuple[int, int]) -> None:
    n_layers, n_heads = size
    for name, most in (("entropy", 420), ("relation", 230)):
        array = profile_result(n_layers, n_heads)["entropy"]
        spec = heatmap(array if name == "entropy" else array.expand_dims(relation=["a", "b"])).to_dict()
        panel = spec.get("spec", spec)
        assert panel["width"] <= most
        assert panel["width"] / n_heads == panel["height"] / n_layers


@pytest.mark.parametrize(
    "chart",
    [heatmap, by_layer, matrix, scatter, lambda array: attention_map(array, ["a"])],
    ids=["heatmap", "by_layer", "matrix", "scatter", "attention_map"],
)
def test_other_dimensions_are_refused(chart) -> None:
    with pytest.raises(ValueError, match="layer"):
        chart(RESULT["attention_to_ci"])


def test_bars_draw_intervals() -> None:
    spec = bars(scores()).to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["bar", "rule"]
    assert spec["layer"][1]["encoding"]["x2"]["field"] == "upper"


def test_curves_draw_intervals_as_bands_over_numbers() -> None:
    spec = curve(over_epochs(), "epoch").to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["area", "line", "point"]
    assert spec["layer"][0]["encoding"]["y2"]["field"] == "upper"
    assert [row["epoch"] for row in spec["datasets"][spec["data"]["name"]]] == [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]
    with pytest.raises(ValueError, match="select one of"):
        curve(over_epochs().expand_dims(task=["rte"]), "epoch")


def test_a_zoom_frames_the_row_that_its_bars_show() -> None:
    weights = xr.DataArray([[0.5, 0.5], [0.125, 0.875]], dims=["query", "key"], name="8-10")
    spec = zoom(weights, ["the", "cat"], 1, [0]).to_dict()
    grid, bars = spec["hconcat"]
    assert grid["encoding"]["stroke"]["condition"]["test"] == "datum.query === 1"
    rows = spec["datasets"][bars["data"]["name"]]
    assert [(row["token"], row["value"], row["kind"]) for row in rows] == [
        ("the", 0.125, "linked"),
        ("cat", 0.875, "other"),
    ]
    with pytest.raises(ValueError, match=r"tokens \[0, 2\] are not among 2"):
        zoom(weights, ["the", "cat"], 0, [2])


@pytest.mark.parametrize("low", [-0.5, 0.0])
def test_zero_is_white_as_drawn(low: float) -> None:
    values = xr.DataArray([[low, 0.0, 0.5]], {"layer": [1], "head": [1, 2, 3]}, ("layer", "head"), name="gain")
    drawn = svg(heatmap(values).to_dict())
    cells = re.findall(r'fill="([^"]*)"', drawn.split("mark-rect role-mark")[1].split("</g>")[0])
    assert cells[1] == "rgb(255, 255, 255)" and cells[2] != cells[1]
    assert (cells[0] == cells[1]) == (low == 0)


@pytest.mark.parametrize("n_relations", [3, 37, 60])
def test_bars_fit_a_page(n_relations: int) -> None:
    coords = {"relation": [f"r{number}" for number in range(n_relations)], "which": ["best head", "fixed word"]}
    array = xr.DataArray(np.full((n_relations, 2), 0.5), coords, name="accuracy")
    figure = svg(bars(array).to_dict())
    assert 60 < float(re.findall(r'height="([\d.]+)"', figure)[0]) < 9 * 96


def test_layers_are_no_shares() -> None:
    array = xr.DataArray([0.5, 0.9], {"layer": [1, 2]}, ("layer",), name="score")
    with pytest.raises(ValueError, match="'layer' counts; its labels are no shares"):
        curve(array, "layer", percent=True)
