"""The scores of each method at its chosen layer, the most faithful first."""

import numpy as np
import xarray as xr

from headscope.report.tables import Column, Table
from headscope.report.wording import Estimate
from headscope.studies.attributions.page.summary import NAMES, chosen

BY_LAYER = ("norm_to",)
COLUMNS = ("Layer", "Comprehensiveness", "Gain", "Sufficiency", "Gain ", "Blank-out", "Inputs")


def tables(result: xr.Dataset) -> list[Table]:
    """One row for each method; none where no input was scored."""
    rows = [
        (
            (NAMES[each.method],),
            [
                (str(each.layer), ""),
                *(_cell(value) for name in ("comprehensiveness", "sufficiency")
                  for value in (each.scores[name], each.gains[name])),
                _cell(each.scores["rank_correlation"]),
                (str(each.inputs), ""),
            ],
        )
        for each in chosen(result)
    ]  # fmt: skip
    caption = (
        "Faithfulness of each method with 95% intervals: the layer was chosen on one half of the scored inputs, scores "
        "are of the other half. Comprehensiveness: fall of the target without the most important tokens (high is "
        "good). Sufficiency: fall with these alone (low is good). Gain: better than random order by so much. "
        "Blank-out: rank correlation of importance with it."
    )
    columns = tuple(Column(name.lower().replace(" ", "-"), name.strip()) for name in COLUMNS)
    return [Table("methods", caption, "", "", ("Method",), columns, rows)] if rows else []


def _cell(value: Estimate) -> tuple[str, str] | None:
    return value.cell(".3f") if np.isfinite(value.value) else None
