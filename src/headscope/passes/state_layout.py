"""Whether the state of a checkpoint goes together with that of the shards behind it: the same names and sizes."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from headscope.statistics.bootstrap import Tally
from headscope.statistics.columns import Columns


def misfit(kept: Any, new: Any) -> str:
    """The first difference in names or sizes between two states of one pass; "" if they can be merged.

    The rows of tables, the items of lists and the keys that are no names differ from shard to shard; a table without
    rows may have no columns either.

    >>> misfit(np.ones((2, 3)), np.ones((2, 4)))
    'has float64 [2, 3] in the place of float64 [2, 4]'
    """
    if isinstance(kept, np.ndarray) and isinstance(new, np.ndarray):
        return _of_arrays(kept, new, kept.shape == new.shape)
    if isinstance(kept, Columns) and isinstance(new, Columns):
        return _first(_of_columns(getattr(kept, each.name), getattr(new, each.name)) for each in fields(new))
    if isinstance(kept, list) and isinstance(new, list):
        filled = next((table for table in new if isinstance(table, Columns) and len(table)), None)
        return _first(misfit(table, filled) for table in kept if filled is not None and len(table))
    if isinstance(kept, Mapping):
        return _of_mappings(kept, new)
    if is_dataclass(new) and kept is not None:
        return _first(misfit(getattr(kept, each.name), getattr(new, each.name)) for each in fields(new))
    return ""


def _of_mappings(kept: Mapping[Any, Any], new: Mapping[Any, Any]) -> str:
    names = [name for name in kept.keys() | new.keys() if isinstance(name, str)]
    for name in sorted(names):
        if name in kept and name in new:
            if reason := misfit(kept[name], new[name]):
                return reason
        elif isinstance(kept.get(name, new.get(name)), Tally):
            return f"{'has' if name in kept else 'lacks'} '{name[:40]}'"
    return ""


def _of_columns(kept: np.ndarray, new: np.ndarray) -> str:
    return _of_arrays(kept, new, kept.shape[1:] == new.shape[1:])


def _of_arrays(kept: np.ndarray, new: np.ndarray, fits: bool) -> str:
    if fits and kept.ndim == new.ndim and kept.dtype.kind == new.dtype.kind:
        return ""
    return f"has {kept.dtype} {list(kept.shape)} in the place of {new.dtype} {list(new.shape)}"


def _first(reasons: Iterable[str]) -> str:
    return next(filter(None, reasons), "")
