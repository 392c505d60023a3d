"""A hostile file is refused with one line: it reads no other file, and declares no more values than it has."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from headscope import HeadscopeError, open_result, save_result
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
    refuse(saved, "its variables declare [0-9,]+ bytes")


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
