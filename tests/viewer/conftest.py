"""The page of a tiny model, served once for the tests of a module."""

from collections.abc import Iterator

import pytest

from headscope.viewer.session import ViewSession
from support.viewer_page import served, session_of


@pytest.fixture(scope="package")
def served_session() -> ViewSession:
    """What the page at `address` is about: one tiny model."""
    return session_of()


@pytest.fixture(scope="package")
def address(served_session: ViewSession) -> Iterator[str]:
    """The address of a page about one tiny model."""
    with served(served_session) as page:
        yield page


@pytest.fixture(scope="package")
def pair_address() -> Iterator[str]:
    """The address of a page about two tiny models."""
    with served(session_of(seeds=(0, 1))) as page:
        yield page
