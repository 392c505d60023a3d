"""A page is made of parts, one after the other."""

from pathlib import Path
from typing import NoReturn

import pytest
import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError
from headscope.report.cards.card import Card
from headscope.report.cards.model_results import model_of
from headscope.report.cards.tables import of_card
from headscope.report.page import Page, Parts
from headscope.report.tables import complete
from headscope.report.wording import spread


def broken(measured: str) -> NoReturn:
    raise ValueError(f"no {measured}\nat all")


def incomplete(measured: str) -> NoReturn:
    raise HeadscopeError(f"the result lacks '{measured}'")


def test_part_that_fails_is_noted_and_the_next_one_is_made() -> None:
    page = Page(Path("report.html"), "page.html")
    parts: Parts[str] = {
        "first": ("the first", broken),
        "next": ("the next", str.upper),
        "none": ("none", lambda measured: None),
    }
    page.make(parts, "entropy")
    assert page.contents == {"first": (), "next": "ENTROPY", "none": ()}
    assert page.failed == ["the first (ValueError: no entropy at all)"]


def test_what_the_user_can_mend_ends_the_page() -> None:
    with pytest.raises(HeadscopeError, match="lacks 'entropy'"):
        Page(Path("report.html"), "page.html").make({"first": ("the first", incomplete)}, "entropy")


def test_what_rounding_leaves_of_zero_is_zero_on_pages_and_cards() -> None:
    """An importance whose median is -4.2e-11, as gradients that cancel each other leave it."""
    values = xr.DataArray([[-4.2e-11, -4.2e-11, 0.5]], {"layer": [1], "head": [1, 2, 3]}, ("layer", "head"), "x")
    result = values.to_dataset().assign_attrs(dict.fromkeys(results.ATTRIBUTES, "x") | {"study": "mine"})
    result["x"].attrs |= {"long_name": "x", "units": "loss", "source": "x"}
    (part,) = Card(model_of(result), 1, 3).parts
    cells = [cell for _, row in of_card(part.rows, "card", "").rows for cell in row]
    cells += [cell for _, row in complete(result, "x").rows for cell in row]
    assert ("0.00", "") in cells and ("0", "") in cells  # the median head of the card, and the values of the page
    assert not any("e-11" in str(text) for text in [*cells, spread(result["x"])])
