"""Folders of models that are changed, and what is said of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from headscope.errors import HeadscopeError
from headscope.models import load


def edit(path: Path, **changes: Any) -> None:
    """Change some entries of a file of JSON."""
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def refusal(name: object, **options: Any) -> str:
    """The one line that `load` says."""
    with pytest.raises(HeadscopeError) as error:
        load(str(name), **options)
    assert "\n" not in str(error.value)
    return str(error.value)
