"""The report of `gradients` says what its result has: in findings, in its table, in figures."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from headscope.report import write
from headscope.report.study_page import study_page
from headscope.results.vocabulary import ATTRIBUTES, BOUNDS, TOKEN_CLASSES
from support.findings import texts_of, verdicts_of
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


def test_attention_matters_in_all_layers_only_if_it_surely_does_in_each(result: xr.Dataset) -> None:
    """The layer with the lower gradient is sure, the other one is not."""
    topic = "Attention to [CLS] matters to the loss in all layers"
    assert verdicts_of(result)[topic] == "fails"
    wide = result["relative_gradient_ci"].copy()
    wide.loc[{"layer": 1}] = np.array([0.0, 1.2])
    lower = result["relative_gradient"].copy()
    lower.loc[{"layer": 1}] = 0.6
    unsure = verdicts_of(result.assign(relative_gradient_ci=wide, relative_gradient=lower))
    assert topic not in unsure and unsure["Attention to [CLS] may hardly matter to the loss"] == "undecided"


def test_the_page_says_the_planted_numbers(result: xr.Dataset) -> None:
    assert_page(__file__, {"all": result})


def test_the_loss_is_named_first(result: xr.Dataset) -> None:
    text = texts_of(result)["The loss"]
    assert text.startswith("Masked words: in nats. ") and text.endswith("by layer: 1: 2.00, 2: 1.00. n = 40 examples.")


def test_a_class_that_the_tokenizer_does_not_have_is_left_out() -> None:
    result = result_of(sep=False)
    texts = texts_of(result)
    assert not [topic for topic in texts if "[SEP]" in topic] and "[SEP] nan" not in "".join(texts.values())
    assert not [column for column in study_page(result).tables()[0].columns if "[SEP]" in column.words]
    assert "worth-sep" not in [figure.name for figure in study_page(result).figures()]


def test_the_table_has_a_line_for_each_layer(result: xr.Dataset) -> None:
    table, *_ = study_page(result).tables()
    assert [labels for labels, _ in table.rows] == [(1,), (2,)]
    assert [column.words for column in table.columns][:3] == ["[CLS]: attention", "[CLS]: gradient", "[CLS]: relative"]
    cells = table.rows[1][1]
    assert cells[:3] == [("0.25", ""), ("0.50", ""), ("0.50", "0.44, 0.56")] and len(cells) == len(table.columns) == 11


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


def test_the_page_has_it_all(result: xr.Dataset, tmp_path: Path) -> None:
    page = write(result, tmp_path, formats=()).read_text()
    assert page.count('id="own"') == 1 and "Gradient by attention" in page


def test_the_page_names_the_class_of_masked_tokens(result: xr.Dataset) -> None:
    assert "asked token" not in texts_of(result)["The loss"]  # saved before there was a choice
    other, original = (texts_of(result.assign_attrs(masked_class=kind))["The loss"] for kind in ("other", "original"))
    assert "in nats. Masked tokens count as other tokens. Mean" in other
    assert "A masked token counts to the class of its original token." in original
