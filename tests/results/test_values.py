"""Values and attributes that can be neither written nor drawn are refused when a result is read, with their place."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from headscope import HeadscopeError, open_result, save_result
from support.profile_result import profile_result
from support.stored_variable import stored


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


def test_long_words_of_a_variable_are_refused(tmp_path: Path) -> None:
    """Each figure and table has them: a page of a million characters a variable took many seconds."""
    result = profile_result()
    result["entropy"].attrs["long_name"] = "x" * 5001
    save_result(result, tmp_path)
    line = r"attributes \['long_name'\] of variable 'entropy' have more than 5000 characters"
    with pytest.raises(HeadscopeError, match=line):
        open_result(tmp_path)
