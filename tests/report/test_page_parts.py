"""A page is made of parts, one after the other."""

from pathlib import Path
from typing import NoReturn

import pytest

from headscope.errors import HeadscopeError
from headscope.report.page import Page, Parts


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
