"""The report of `gradients` says what its result has: in findings, in its table, in figures."""

import numpy as np
import pytest
import xarray as xr

from headscope.report.study_page import study_page
from headscope.results.vocabulary import ATTRIBUTES, BOUNDS, TOKEN_CLASSES
from support.findings import texts_of
from support.snapshot import assert_page

GRADIENT = [0.5, 0.125, 0.25, 1.0]  # by token class; twice as much in layer 1
ATTENTION = [0.25, 0.5, 0.125, 0.125]


def result_of(*, sep: bool = True) -> xr.Dataset:
    """A model of 2 layers with 3 heads; heads have 1, 2 and 3 halves of the mean."""
    coords = {"layer": [1, 2], "head": [1, 2, 3], "token_class": list(TOKEN_CLASSES)}
    size = np.array([2.0, 1.0])[:, None, None] * np.array([0.5, 1, 1.5])[:, None] * np.array(GRADIENT)
    gradient = xr.DataArray(size, coords, tuple(coords))
    attention = gradient * 0 + xr.DataArray(ATTENTION, {"token_class": list(TOKEN_CLASSES)})
    classes = {"token_class": list(TOKEN_CLASSES)}
    by_layer = {"layer": [1, 2], **classes}
    variables = {
        "gradient": gradient,
        "gradient_from": xr.concat([gradient, gradient * 2], xr.Variable("query_group", ["sep", "cls"])),
        "attention_to": attention,
        "sep_to_sep": attention.isel(token_class=1, drop=True),
        "relative_gradient": xr.DataArray(np.array([GRADIENT, GRADIENT]), by_layer, tuple(by_layer)),
        "rank_correlation": xr.DataArray([-0.5, 0.25, 0.0, 0.5], classes, ("token_class",)),
    }
    if not sep:
        variables = {
            name: array.where(array["token_class"] != "sep") if "token_class" in array.dims else array * np.nan
            for name, array in variables.items()
        }
    for name in list(variables):
        bounds = [variables[name] - 0.0625, variables[name] + 0.0625]
        variables[f"{name}_ci"] = xr.concat(bounds, xr.Variable("bound", list(BOUNDS))).transpose(..., "bound")
    variables["gradient_n_examples"] = xr.DataArray([40, 40, 30, 40], classes, ("token_class",))
    result = xr.Dataset(variables)
    for name, array in result.data_vars.items():
        array.attrs |= {"long_name": str(name), "units": "share of attention", "source": "made"}
    attrs = dict.fromkeys(ATTRIBUTES, "made") | {"n_examples": 40, "n_tokens": 900, "study": "gradients"}
    return result.assign_attrs(attrs | {"loss": "masked words: in nats"})


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return result_of()


def test_the_page_says_the_planted_numbers(result: xr.Dataset) -> None:
    """In the last case the layer with the lower gradient is sure, the other one is not."""
    wide, lower = result["relative_gradient_ci"].copy(), result["relative_gradient"].copy()
    wide.loc[{"layer": 1}] = np.array([0.0, 1.2])
    lower.loc[{"layer": 1}] = 0.6
    unsure = result.assign(relative_gradient_ci=wide, relative_gradient=lower)
    assert_page(__file__, {"all": result, "no separators": result_of(sep=False)}, {"one layer is unsure": unsure})


def test_figures_are_those_of_the_paper_with_attention_beside(result: xr.Dataset) -> None:
    figures = {figure.name: figure for figure in study_page(result).figures()}
    assert list(figures) == [
        "gradient-by_layer",
        "gradient-heads",
        "attention_to-by_layer",
        "worth-sep",
        "worth-cls",
        "gradient_from-sep",
        "gradient_from-cls",
    ]
    rows = {row["name"]: (row["value"], row["second"]) for row in figures["worth-sep"].chart.data.values}
    assert rows["1-3"] == (0.5, 0.375) and rows["2-1"] == (0.5, 0.0625)
    values = figures["gradient_from-cls"].chart.data.values
    assert max(row["value"] for row in values) == 6.0


def test_the_page_names_the_class_of_masked_tokens(result: xr.Dataset) -> None:
    assert "asked token" not in texts_of(result)["The loss"]  # saved before there was a choice
    other, original = (texts_of(result.assign_attrs(masked_class=kind))["The loss"] for kind in ("other", "original"))
    assert "in nats. Masked tokens count as other tokens." in other
    assert "A masked token counts to the class of its original token." in original
