"""Published figures beside those of a profile (Clark et al. 2019, section 3)."""

import xarray as xr

from headscope.report.published import published_table
from headscope.report.published_attention import CAPTION, attention_figures
from headscope.report.tables import Table


def tables(result: xr.Dataset) -> list[Table]:
    """The published figures whose numbers the profile has."""
    return published_table(attention_figures(result), CAPTION)
