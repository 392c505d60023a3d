"""The sizes that the units of a sweep have: a journal may be forged, and units of other sizes count as not written."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headscope.ablation.strategies import Variants
from headscope.ablation.swept_group import ALL_HEADS, unit_name
from headscope.encoding.encoded import Encoded
from headscope.models import Model

AXES = 3  # of a unit's numbers


def misfits(
    units: Mapping[str, Any], model: Model, groups: Sequence[Sequence[Encoded]], parts: Sequence[Variants], mode: str
) -> list[str]:
    """The units that have another type or size; all outputs, if they do not have one number of outputs."""
    sizes = {name: size for name, size in _sizes(groups, parts).items() if name in units}
    outputs = {name: units[name] for name, size in sizes.items() if _is(units[name], *size)}
    wrong = set(sizes) - set(outputs)
    if len({values.shape[2] for values in outputs.values()}) > 1:
        wrong |= set(outputs)
    if "strategy" in units and not isinstance(units["strategy"], str):
        wrong.add("strategy")
    if "means" in units and mode == "mean":
        heads, widths = ([getattr(each, name) for each in model.projections] for name in ("heads", "width"))
        if not _is(units["means"], len(heads), max(heads), max(widths)):
            wrong.add("means")
    return sorted(wrong)


def _sizes(groups: Sequence[Sequence[Encoded]], parts: Sequence[Variants]) -> dict[str, tuple[int, int]]:
    """The number of variants and of examples of each unit."""
    variants = {ALL_HEADS: 1} | {part.name: len(part.heads) for part in parts}
    return {
        unit_name(number, name): (size, len(group))
        for number, group in enumerate(groups)
        for name, size in variants.items()
    }


def _is(values: Any, *sizes: int) -> bool:
    """Whether a unit is an array of floating-point numbers with these sizes."""
    floats = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.ndim == AXES
    return floats and values.shape[: len(sizes)] == sizes
