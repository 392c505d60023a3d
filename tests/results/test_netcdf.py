"""A hostile file is refused with one line: it reads no other file, and declares no more values than it has."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope import HeadscopeError, open_result, save_result
from headscope.results import hostile_netcdf as hostile
from headscope.storage import limits
from support.profile_result import profile_result


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return save_result(profile_result(), tmp_path)


def opened(path: Path) -> Any:
    return h5py.File(path, "a")


def refuse(path: Path, reason: str) -> None:
    with pytest.raises(HeadscopeError, match=f"is not a result of headscope: .*{reason}") as raised:
        open_result(path)
    assert "\n" not in str(raised.value)


def test_values_in_another_file_are_refused(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(64))
    with opened(saved) as file:
        file.create_dataset("stolen", (8,), "f8", external=[(str(tmp_path / "secret"), 0, 64)])
    refuse(saved, "variable 'stolen' has its values in another file")


def test_virtual_values_are_refused(saved: Path, tmp_path: Path) -> None:
    layout = h5py.VirtualLayout((8,), "f8")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "values", (8,))
    with opened(saved) as file:
        file.create_virtual_dataset("stolen", layout)
    refuse(saved, "variable 'stolen' has its values in another file")


@pytest.mark.parametrize("link", [h5py.ExternalLink("other.h5", "/values"), h5py.SoftLink("/entropy")])
def test_links_are_refused(saved: Path, link: object) -> None:
    with h5py.File(saved.parent / "other.h5", "w") as other:
        other["values"] = np.ones(8)
    with opened(saved) as file:
        file["linked"] = link
    refuse(saved, "'linked' is a link to another place")


def test_groups_are_refused(saved: Path) -> None:
    with opened(saved) as file:
        file.create_group("inner")["again"] = file["/"]
    refuse(saved, "'inner' is a group")


@pytest.mark.parametrize("shape", [(2**40,), (2**20, 2**20, 2**20)])
def test_more_values_than_memory_are_refused_before_they_are_read(saved: Path, shape: tuple[int, ...]) -> None:
    with opened(saved) as file:
        file.create_dataset("huge", shape, "f8", chunks=(1024,) if len(shape) == 1 else (1, 1, 1024))
    refuse(saved, "variable 'huge' declares [0-9,]+ bytes")


def test_a_variable_has_the_shape_of_its_dimensions(saved: Path) -> None:
    with opened(saved) as file:
        wide = file.create_dataset("wide", (file["layer"].shape[0] + 1,), "f8")
        wide.dims[0].attach_scale(file["layer"])
    refuse(saved, "variable 'wide' has . values along a dimension of shape")


@pytest.mark.parametrize("name", ["study", "model", "corpus", "n_examples", "seed"])
def test_an_attribute_of_the_wrong_type_is_refused(saved: Path, name: str) -> None:
    with opened(saved) as file:
        file.attrs[name] = np.arange(3)
    refuse(saved, f"attribute '{name}' is not")


@pytest.mark.parametrize("name", ["long_name", "units", "source"])
def test_a_label_of_the_wrong_type_is_refused(saved: Path, name: str) -> None:
    with opened(saved) as file:
        file["entropy"].attrs[name] = 3.0
    refuse(saved, "of variable 'entropy' are not text")


def test_an_interval_without_its_variable_is_refused(saved: Path) -> None:
    with opened(saved) as file:
        del file["entropy"]
    refuse(saved, "variable 'entropy_ci' has no variable 'entropy' beside it")


def test_packed_zeros_are_refused_before_they_are_unpacked(saved: Path) -> None:
    with opened(saved) as file:
        file.create_dataset("zeros", data=np.zeros((3000, 1000)), chunks=(1000, 1000), compression="gzip")
    refuse(saved, r"its variables declare [0-9,]+ bytes, more than 10 times the [0-9,]+ of the file; save it without")


def test_texts_have_the_room_of_the_longest(saved: Path) -> None:
    with opened(saved) as file:
        file.create_dataset("texts", (1000,), h5py.string_dtype())[...] = ["a" * 450_000, *"b" * 999]
    refuse(saved, "variable 'texts' declares 1,800,000,000 bytes")


def test_sizes_are_checked_before_texts_are_read(saved: Path, never: Callable[[str], None]) -> None:
    with opened(saved) as file:
        file.create_dataset("texts", (3000, 1000), h5py.string_dtype(), chunks=(10, 1000), compression="gzip")
    never("headscope.results.hostile_netcdf._blocks")
    refuse(saved, "its variables declare [0-9,]+ bytes, more than 10 times")


def test_short_texts_with_the_room_of_a_long_one_are_refused(saved: Path) -> None:
    with opened(saved) as file:
        file.create_dataset("texts", (10_000,), h5py.string_dtype())[...] = ["a" * 4000, *"b" * 9999]
    refuse(saved, "its texts declare [0-9,]+ bytes, more than 100 times the [0-9,]+ of the file; shorten the longest")


def test_one_text_in_all_places_is_refused(saved: Path) -> None:
    with opened(saved) as file:
        file.create_dataset("texts", (50, 300), h5py.string_dtype(), fillvalue="a" * 4000)
    refuse(saved, "variable 'texts' has texts of [0-9,]+ bytes, more than the file; save it again")


@pytest.mark.parametrize("name", ["words", "NAME"])
def test_a_list_in_an_attribute_is_refused_before_it_is_read(saved: Path, name: str) -> None:
    with opened(saved) as file:
        file["entropy"].attrs[name] = ["a"] * (limits.MOST_VALUES + 1)
    refuse(saved, f"attribute '{name}' has 65 values, more than 64; save it again")


def test_dimensions_that_are_no_references_are_refused_before_they_are_looked_up() -> None:
    listed = SimpleNamespace(shape=(1,), dtype=h5py.string_dtype())
    item: Any = SimpleNamespace(ndim=1, attrs=MagicMock(get_id=lambda name: listed))
    item.attrs.__iter__.return_value = iter(["DIMENSION_LIST"])
    with pytest.raises(ValueError, match="attribute 'DIMENSION_LIST' names no dimensions; save it again"):
        hostile._refuse_attributes(item)


def test_attributes_have_no_more_bytes_than_the_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PACKED_LEAST", 1000)
    with opened(saved) as file:
        size = file.id.get_filesize()
    monkeypatch.setattr(hostile, "_length", lambda value: size)
    refuse(saved, "its attributes have [0-9,]+ bytes, more than the file; save it again")


@given(st.lists(st.integers(0, 9), max_size=4), st.integers(1, 40))
@settings(deadline=None, max_examples=30)
def test_blocks_have_all_values_once_and_few_at_a_time(shape: list[int], most: int) -> None:
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    blocks = [np.ravel(block) for block in hostile._blocks(numbers, most)]
    assert sorted(np.concatenate([[], *blocks]).tolist()) == numbers.ravel().tolist()
    assert all(len(block) <= most for block in blocks)
