"""Exported cells are no formulas, links, HTML or further columns."""

import re

import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from headscope import HeadscopeError
from headscope.report.printed import content
from headscope.report.tables import Column, Table
from headscope.results import save
from headscope.results.tables import csv_cell, csv_text, markdown_cell
from support.profile_result import profile_result


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+cmd|x", "-1+A1", "@SUM(A1)", "\t=A1", "\r=A1"])
def test_a_formula_is_text_in_csv_in_cells_and_headings(text: str) -> None:
    assert csv_text(pd.DataFrame({text: [text, "a"]})).count(f"'{text[0]}") == 2


@given(st.floats(allow_nan=False) | st.sampled_from(["-0.5", "+0.1 [-0.2, 0.3]", "-12.5%", "-", "=", "[CLS]"]))
def test_numbers_and_tokens_stay_as_they_are(cell: float | str) -> None:
    assert csv_cell(cell) == cell


@given(st.text())
def test_a_cell_of_markdown_is_one_column_of_one_line(text: str) -> None:
    cell = markdown_cell(text)
    assert "\n" not in cell and "](" not in cell and not re.search("<[a-z/!?]", cell, re.IGNORECASE)
    assert all(cell[at - 1] == "\\" for at, character in enumerate(cell) if character in "|`")


def test_the_caption_of_latex_is_text_alone() -> None:
    table = Table("score", "Score\n\\input{x}", ("layer",), (Column("value", "Value"),), [(("1",), [("1", "")])])
    assert "\n\\caption{Score \\textbackslash{}input\\{x\\}}\n" in content(table, "latex")


def test_what_could_not_be_read_again_is_not_saved(tmp_path) -> None:
    result = profile_result()
    infinite = result.assign(entropy=result["entropy"] * float("inf"))
    with pytest.raises(HeadscopeError, match=r"the result of 'profile' cannot be saved: variable 'entropy.* is not"):
        save(infinite, tmp_path)
    with pytest.raises(HeadscopeError, match="attribute 'seed' is not a number"):
        save(result.assign_attrs(seed="x"), tmp_path)
    twice = xr.concat([result.isel(layer=[0]), result.isel(layer=[0])], "layer", data_vars="minimal")
    with pytest.raises(HeadscopeError, match="two labels of dimension 'layer' are equal"):
        save(twice, tmp_path)
    assert not list(tmp_path.iterdir())
