"""Labels of a saved result are those of its dimensions, or the result is refused in one line."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

from headscope import HeadscopeError, open_result, save_result
from headscope.report.kinds import head_kinds
from support.profile_result import profile_result
from support.stored_variable import stored

ONES = np.ones((4, 3), np.int64)


def relabelled(**labels: object) -> xr.Dataset:
    return profile_result().assign_coords({dim: (dim, np.asarray(label)) for dim, label in labels.items()})


REFUSED: dict[str, Callable[[], xr.Dataset]] = {
    "labels of dimension 'layer' are no whole numbers from 1 to 10000: 0, 1, 2, 3": lambda: relabelled(layer=range(4)),
    "labels of dimension 'layer' are no whole numbers .*: 1.0, 2.0": lambda: relabelled(layer=[1.0, 2.0, 3.0, np.nan]),
    "labels of dimension 'head' are no whole numbers .*: '1', '2', '3'": lambda: relabelled(head=["1", "2", "3"]),
    "two labels of dimension 'layer' are equal: 1, 2, 3, 3": lambda: relabelled(layer=[1, 2, 3, 3]),
    "labels of dimension 'token_share' are no shares .* order: 0.5, 0.0": lambda: beside(token_share=[0.5, 0.0]),
    "labels of dimension 'token_class' are no text: 1, 2, 3, 4": lambda: relabelled(token_class=range(1, 5)),
    "coordinate 'token_class' has a text of more than 5,000": lambda: relabelled(token_class=["x" * 10**5, *"abc"]),
    "dimension 'head' has no labels": lambda: profile_result().drop_vars("head"),
    "labels of dimension 'bound' are not lower and upper: 'low', 'high'": lambda: intervals(bound=["low", "high"]),
    r"'typical_token' has the dimensions \('head',\), not": lambda: beside(typical_token=("head", [*"abc"])),
    "coordinate 'dominant' has values of the type int64": lambda: beside(dominant=(("layer", "head"), ONES)),
}  # fmt: skip


def intervals(**labels: list[str]) -> xr.Dataset:
    result = profile_result()
    return result.drop_dims("bound", errors="ignore").assign(
        entropy_ci=xr.concat([result["entropy"]] * 2, "bound")
        .assign_attrs(result["entropy"].attrs)
        .assign_coords(labels)
    )


def beside(**coordinates: object) -> xr.Dataset:
    return profile_result().assign_coords(coordinates)


@pytest.mark.parametrize("words", REFUSED)
def test_labels_that_do_not_fit_are_refused(words: str, tmp_path: Path) -> None:
    REFUSED[words]().to_netcdf(tmp_path / "result.nc", engine="h5netcdf")
    with pytest.raises(
        HeadscopeError, match=rf"result '.*' is not a result of headscope: .*{words}.*make it again"
    ) as e:
        open_result(tmp_path)
    assert "\n" not in str(e.value) and len(str(e.value)) < 500


def test_slices_and_other_orders_of_a_result_are_read(tmp_path: Path) -> None:
    result = profile_result()
    for number, part in enumerate((result.isel(layer=[2, 0]), result.isel(token_class=[1]), result.isel(head=1))):
        part.to_netcdf(tmp_path / f"{number}.nc", engine="h5netcdf")
        xr.testing.assert_equal(read := open_result(tmp_path / f"{number}.nc"), part)
        assert number == 2 or (3, 1) in head_kinds([read])


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return save_result(profile_result(), tmp_path)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_infinite_and_huge_values_are_refused_with_their_place(saved: Path, value: float) -> None:
    with h5py.File(saved, "a") as file:
        stored(file, "entropy")[1, 0] = value
    with pytest.raises(HeadscopeError, match=r"variable 'entropy' is not between .* \(layer 2, head 1\)"):
        open_result(saved)


def test_missing_values_are_read(saved: Path) -> None:
    with h5py.File(saved, "a") as file:
        stored(file, "entropy")[...] = np.nan
    assert open_result(saved)["entropy"].isnull().all()


@pytest.mark.parametrize("owner", ["/", "entropy"])
def test_an_attribute_that_is_no_utf_8_is_refused(saved: Path, owner: str) -> None:
    with h5py.File(saved, "a") as file:
        file[owner].attrs.create("note", b"\xff\xfe", dtype=h5py.string_dtype("utf-8", 2))
    with pytest.raises(HeadscopeError, match=r"attributes \['note'\].* are no UTF-8") as raised:
        open_result(saved)
    assert str(raised.value).isprintable()


def test_a_label_that_is_no_utf_8_is_refused(saved: Path) -> None:
    with h5py.File(saved, "a") as file:
        stored(file, "token_class")[0] = b"\xff"
    with pytest.raises(HeadscopeError, match=r"'token_class' .*no UTF-8|utf-8"):
        open_result(saved)
