"""Write pages of results, with cards or without, where torch cannot be imported; note the variables that are asked for.

    python tests/support/without_torch.py WITH_CARDS... -- WITHOUT...

prints JSON: for each folder the names that are asked for and are not in the result.
"""

import json
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import xarray as xr

from support.pages import cards_of, page_of


class Refused(MetaPathFinder):
    """Nothing can import torch or transformers."""

    def find_spec(self, name: str, *_: object) -> None:
        """Leave all other modules to the finders that come after."""
        if name.partition(".")[0] in ("torch", "transformers"):
            raise ImportError(f"{name} is imported where a saved result is shown")


def main(with_cards: list[str], without: list[str]) -> None:
    """Write pages and cards; print what they ask for in vain."""
    absent: set[str] = set()
    _watch(absent)
    found = {}
    for directory in with_cards + without:
        absent.clear()
        page_of(Path(directory))
        if directory in with_cards:
            cards_of(Path(directory))
        found[directory] = sorted(absent)
    print(json.dumps(found))


def _watch(absent: set[str]) -> None:
    """From now on every data set notes the names that headscope asks it for and that it does not have."""

    def watched(name: str) -> Any:
        method = getattr(xr.Dataset, name)

        def call(self: xr.Dataset, key: Any, *rest: Any) -> Any:
            caller = sys._getframe(1).f_globals["__name__"]  # xarray itself asks for names of dimensions
            if caller.startswith("headscope.") and isinstance(key, str) and key not in self.variables:
                absent.add(key)
            return method(self, key, *rest)

        return call

    for name in ("__contains__", "__getitem__", "get"):
        setattr(xr.Dataset, name, watched(name))


if __name__ == "__main__":
    sys.meta_path.insert(0, Refused())
    between = sys.argv.index("--")
    main(sys.argv[1:between], sys.argv[between + 1 :])
