"""False discovery rates of the changes of the score without a head."""

import xarray as xr

from headscope.statistics.interval_tests import q_changed


def rates(result: xr.Dataset, metric: str, gains: xr.DataArray) -> xr.DataArray | None:
    """The false discovery rate of a change: by McNemar's test for accuracy, else by the intervals."""
    return result["head_q_value"] if metric == "accuracy" and "head_q_value" in result else q_changed(gains)
