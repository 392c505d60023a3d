"""What tests of trained models have of their own."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Trained models compute on all threads."""
