"""The report of `clusters` says what its result has: in findings, in the table of clusters, in figures."""

import numpy as np
import pytest
import xarray as xr

from headscope.report.study_page import study_page
from headscope.results.vocabulary import ATTRIBUTES, BOUNDS, OFFSETS, TOKEN_CLASSES
from support.findings import texts_of
from support.snapshot import assert_page

# Six heads on a line: two pairs near each other, and one head far from all; 2-3 is not there.
PLACES = {(1, 1): 0.0, (1, 2): 0.0625, (1, 3): 0.625, (2, 1): 0.25, (2, 2): 0.3125}
CLUSTER = [[1, 1, 2], [3, 3, 0]]


def result_of(*, known: bool = True) -> xr.Dataset:
    points = np.full((2, 3), np.nan)
    for (layer, head), point in PLACES.items():
        points[layer - 1, head - 1] = point
    coords = {"layer": [1, 2], "head": [1, 2, 3]}
    pairs = coords | {"other_layer": [1, 2], "other_head": [1, 2, 3]}
    apart = np.abs(points[..., None, None] - points)
    heads = ("layer", "head")
    attention = np.stack([np.where(np.isnan(points), np.nan, share) for share in (0.5, 0.25, 0.125, 0.125)], axis=-1)
    near = np.stack([np.where(np.isnan(points), np.nan, share) for share in (0.75, 0.0, 0.25)], axis=-1)
    variables = {
        "divergence": xr.DataArray(apart, pairs, tuple(pairs)),
        "layer_divergence": xr.DataArray([[0.375, 0.3], [0.3, 0.0625]], {"layer": [1, 2], "other_layer": [1, 2]}),
        "within_layer": xr.DataArray(0.25),
        "between_layers": xr.DataArray(0.375),
        "layer_gap": xr.DataArray(0.125),
        "layer_gap_p_value": xr.DataArray(0.2),
        "position": xr.DataArray(np.stack([points, points * 0], axis=-1), {**coords, "axis": [1, 2]}, (*heads, "axis")),
        "stress": xr.DataArray(0.125),
        "cluster_stability": xr.DataArray(0.75),
        "attention_to": xr.DataArray(
            attention, {**coords, "token_class": list(TOKEN_CLASSES)}, (*heads, "token_class")
        ),
        "attention_offset": xr.DataArray(near, {**coords, "offset": list(OFFSETS)}, (*heads, "offset")),
        "entropy": xr.DataArray(points * 0 + 2, coords, heads),
    }
    for name in ("within_layer", "between_layers", "layer_gap", "cluster_stability"):
        bounds = [variables[name] - 0.0625, variables[name] + 0.0625]
        variables[f"{name}_ci"] = xr.concat(bounds, xr.Variable("bound", list(BOUNDS)))
    variables["layer_gap_n_examples"] = xr.DataArray(40)
    names = {"cluster": CLUSTER, "behaviour": [["previous", "previous", "broadly"], ["several", "sep", ""]]}
    if known:
        names |= {"dominant": [["block", "diagonal", "diagonal"], ["vertical", "vertical", ""]]}
        names |= {"best_relation": [["", "", ""], ["det", "det", ""]]}
    result = xr.Dataset(variables).assign_coords({name: (heads, np.array(values)) for name, values in names.items()})
    for name, array in result.data_vars.items():
        array.attrs |= {"long_name": str(name), "units": "rate" if "p_value" in str(name) else "nats", "source": "made"}
    attrs = dict.fromkeys(ATTRIBUTES, "made") | {"n_examples": 40, "n_tokens": 900, "study": "clusters"}
    return result.assign_attrs(attrs)


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return result_of()


def test_the_pages_say_the_planted_numbers(result: xr.Dataset) -> None:
    sure = result.assign(layer_gap_p_value=result["layer_gap_p_value"] * 0 + 0.001)
    assert_page(__file__, {"all": result, "nothing known": result_of(known=False), "sure": sure})


def test_one_example_is_said_to_be_one(result: xr.Dataset) -> None:
    assert "Limits" not in texts_of(result)
    assert texts_of(result.assign_attrs(n_examples=1))["Limits"].startswith("There is only one example")


def test_figures_colour_heads_by_what_is_known_and_label_them_with_their_relation(result: xr.Dataset) -> None:
    figures = {figure.name: figure for figure in study_page(result).figures()}
    assert list(figures) == ["points-layer", "points-behaviour", "points-dominant", "points-cluster", "layers", "heads"]
    rows = figures["points-dominant"].chart.data.values
    assert {row["name"]: (row["class"], row["label"]) for row in rows} == {
        "1-1": ("near-even block", ""),
        "1-2": ("diagonal", ""),
        "1-3": ("diagonal", ""),
        "2-1": ("vertical", "2-1 det"),
        "2-2": ("vertical", "2-2 det"),
    }
    assert {row["class"] for row in figures["points-behaviour"].chart.data.values} >= {"[SEP]", "previous token"}
    plain = {figure.name: figure for figure in study_page(result_of(known=False)).figures()}
    assert "points-dominant" not in plain and not any(
        "det" in row["label"] for row in plain["points-layer"].chart.data.values
    )


@pytest.mark.parametrize("dims", [("layer",), ("layer", "other_layer"), ()])
def test_pairs_without_a_divergence_are_left_out(result: xr.Dataset, dims: tuple[str, ...]) -> None:
    gaps = result.copy(deep=True)
    gaps["divergence"][dict.fromkeys(dims, 0)] = np.nan
    page = study_page(gaps)
    findings = [*page.highlights(), *page.findings()]
    assert not [finding for finding in findings if "nan" in finding.text.split() or "(nan" in finding.text]
    assert ("Divergences of pairs" in {finding.topic for finding in findings}) == bool(dims)


@pytest.mark.parametrize("name", ["within_layer", "layer_gap_p_value", "stress", "cluster_stability"])
def test_a_missing_number_is_unknown_or_left_out(result: xr.Dataset, name: str) -> None:
    page = study_page(result.assign({name: result[name] * np.nan}))
    assert (
        "nan"
        not in " ".join(f"{finding.topic} {finding.text}" for finding in (*page.highlights(), *page.findings())).split()
    )
