"""The page of a tiny model, served once for the tests of a module."""

from collections.abc import Iterator

import pytest

from support.viewer_page import served, session_of


@pytest.fixture(scope="package")
def address() -> Iterator[str]:
    """The address of a page about one tiny model."""
    with served(session_of()) as page:
        yield page


@pytest.fixture(scope="package")
def pair_address() -> Iterator[str]:
    """The address of a page about two tiny models."""
    with served(session_of(seeds=(0, 1))) as page:
        yield page
