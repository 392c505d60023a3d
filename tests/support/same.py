"""Two results with the same bits."""

import numpy as np
import xarray as xr

TIMES = ("duration_s", "started")


def assert_same(result: xr.Dataset, expected: xr.Dataset) -> None:
    """Assert that variables and attributes are equal, but for times."""
    assert {key: value for key, value in result.attrs.items() if key not in TIMES} == {
        key: value for key, value in expected.attrs.items() if key not in TIMES
    }
    assert list(result.variables) == list(expected.variables)
    for name, variable in expected.variables.items():
        assert result[name].dtype == variable.dtype and result[name].dims == variable.dims
        np.testing.assert_array_equal(result[name].values, variable.values, err_msg=str(name))
