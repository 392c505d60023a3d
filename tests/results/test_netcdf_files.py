"""A file is what other programs read and write: h5netcdf reads ours, and we read those of h5netcdf."""

import io
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr
from xarray.testing import assert_identical

from headscope.results.netcdf import stored, written
from support.profile_result import profile_result


def odd() -> xr.Dataset:
    """Texts, truth, missing values, a dimension without labels, one without a value, a label of two dimensions."""
    return xr.Dataset(
        {
            "text": (("layer", "row"), np.array([["é", "", "long text"]] * 2)),
            "truth": (
                "layer",
                [True, False],
                {"long_name": "of two", "units": "", "list": ["a", "b"], "numbers": [1, 2]},
            ),
            "missing": (("row", "layer"), np.array([[np.nan, 1.5]] * 3, np.float32)),
            "empty": ("none", np.zeros(0)),
            "number": ((), 7, {"one": 1.5, "several": np.arange(3)}),
        },
        coords={
            "layer": [1, 2],
            "word": ("row", ["a", "b", "c"]),
            "both": (("layer", "row"), np.ones((2, 3), np.int8)),
        },
        attrs={"study": "profile", "n": 3, "share": 0.5, "names": ["x", "y"]},
    )


@pytest.mark.parametrize("data", [odd(), profile_result()], ids=["odd", "profile"])
def test_h5netcdf_reads_what_was_written(data: xr.Dataset, tmp_path: Path) -> None:
    (tmp_path / "ours.nc").write_bytes(written(data))
    data.to_netcdf(tmp_path / "theirs.nc", engine="h5netcdf")
    ours, theirs = (xr.load_dataset(tmp_path / name, engine="h5netcdf") for name in ("ours.nc", "theirs.nc"))
    assert_identical(ours, theirs)
    assert {name: array.dtype for name, array in ours.variables.items()} == {
        name: array.dtype for name, array in theirs.variables.items()
    }
    assert [*ours.variables] == [*theirs.variables]


@pytest.mark.parametrize("data", [odd(), profile_result()], ids=["odd", "profile"])
@pytest.mark.parametrize("writer", ["ours", "theirs"])
def test_files_of_both_are_read(writer: str, data: xr.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    if writer == "ours":
        path.write_bytes(written(data))
    else:
        data.to_netcdf(path, engine="h5netcdf")
    with stored(path) as read:
        assert_identical(read.load(), xr.load_dataset(path, engine="h5netcdf"))


def test_the_dimensions_are_those_of_the_netcdf_library() -> None:
    with h5py.File(io.BytesIO(written(odd()))) as opened:
        file: Any = opened
        ids = {name: int(item.attrs["_Netcdf4Dimid"]) for name, item in file.items() if "_Netcdf4Dimid" in item.attrs}
        assert sorted(ids) == ["layer", "none", "row"] and sorted(ids.values()) == [0, 1, 2]
        assert file["missing"].attrs["_Netcdf4Coordinates"].tolist() == [ids["row"], ids["layer"]]
        assert file["row"].attrs["NAME"] == b"This is a netCDF dimension but not a netCDF variable.         3"
        assert [scale.name for dim in file["missing"].dims for scale in dim.values()] == ["/row", "/layer"]


def test_values_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.nc").write_bytes(written(odd()))
    with stored(tmp_path / "a.nc") as read:
        assert not read["missing"].variable._in_memory
        assert read["text"][0, 2].item() == "long text" and read["missing"][1:, 1].values.tolist() == [1.5, 1.5]


def test_a_variable_whose_dimensions_have_no_name_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.nc", "w") as file:
        file["plain"] = np.zeros(3)
    with pytest.raises(ValueError, match="variable 'plain' has dimensions without a name"), stored(tmp_path / "a.nc"):
        pass
