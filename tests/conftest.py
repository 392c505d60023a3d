"""Fixtures that all tests share; that this file is here also lets them import the modules beside it (`tiny`, ...)."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of public data sets; without it a test is skipped, or fails where HEADSCOPE_STRICT is 1."""
    path = Path(os.environ.get("HEADSCOPE_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not path.is_dir():
        absent = pytest.fail if os.environ.get("HEADSCOPE_STRICT") == "1" else pytest.skip
        absent(f"no data sets in '{path}'; HEADSCOPE_DATA names their folder")
    return path
