"""Two results with the same bits."""

import numpy as np
import xarray as xr

# Times, and the command, which names the folder.
CHANGING = ("duration_s", "started", "command")


def assert_same(result: xr.Dataset, expected: xr.Dataset) -> None:
    """Assert that variables and attributes are equal, but for times and the folder."""
    assert {key: value for key, value in result.attrs.items() if key not in CHANGING} == {
        key: value for key, value in expected.attrs.items() if key not in CHANGING
    }
    assert list(result.variables) == list(expected.variables)
    for name, variable in expected.variables.items():
        assert result[name].dtype == variable.dtype and result[name].dims == variable.dims
        np.testing.assert_array_equal(result[name].values, variable.values, err_msg=str(name))
