"""A result is written whole or not at all, is read back as it was, and has no words of its own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from headscope import HeadscopeError, open_result, results, save_result
from headscope.results import netcdf
from headscope.results.vocabulary import dimensions
from support.closed import closed
from support.profile_result import profile_result


def test_a_result_is_read_back_as_it_was(tmp_path: Path) -> None:
    written = profile_result(special=False)
    path = save_result(written, tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "result.nc"
    for source in (path, path.parent, str(path.parent)):
        read = open_result(source)
        xr.testing.assert_identical(read, written)
        assert list(read.data_vars) == list(written.data_vars)
        assert {name: array.dtype for name, array in read.items()} == {n: a.dtype for n, a in written.items()}


def test_a_result_can_be_written_over_one_that_is_open(tmp_path: Path) -> None:
    save_result(profile_result(n_layers=3), tmp_path)
    before = open_result(tmp_path)
    save_result(profile_result(n_layers=5), tmp_path)
    assert (before.sizes["layer"], open_result(tmp_path).sizes["layer"]) == (3, 5)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("skipped", "[1, 2]", "attribute 'skipped' is no JSON object"),
        ("versions", "[" * 50_000, "attribute 'versions' is no JSON object"),
        ("trees", 7, "attribute 'trees' is no JSON list"),
        ("n_examples", "1e999", "attribute 'n_examples' is not a number"),
    ],
)
def test_an_attribute_of_another_type_is_refused(tmp_path: Path, name: str, value: Any, words: str) -> None:
    result = profile_result(**{name: value})
    with pytest.raises(HeadscopeError, match=words):
        save_result(result, tmp_path)
    (tmp_path / "result.nc").write_bytes(netcdf.written(result))
    with pytest.raises(HeadscopeError, match=words):
        open_result(tmp_path)


def test_a_result_that_is_named_as_one_of_another_study_is_refused(tmp_path: Path) -> None:
    save_result(profile_result(study="syntax"), tmp_path)
    with pytest.raises(HeadscopeError, match="named a result of 'syntax', but has the variables of 'profile'; make it"):
        open_result(tmp_path)
    part = profile_result()[["entropy"]]
    save_result(part, tmp_path)
    xr.testing.assert_identical(open_result(tmp_path), part)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_result_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    old = profile_result()
    save_result(old, tmp_path)

    def half(path: Path, content: bytes) -> None:
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise error

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises((HeadscopeError, KeyboardInterrupt)) as raised:
        save_result(profile_result(n_layers=3), tmp_path)
    assert isinstance(raised.value, KeyboardInterrupt) or "no space left on the disk" in str(raised.value)
    assert os.listdir(tmp_path) == ["result.nc"]
    xr.testing.assert_identical(open_result(tmp_path), old)


SAVE = """
import sys
from headscope import HeadscopeError, save_result
from support.profile_result import profile_result
try:
    save_result(profile_result(), sys.argv[1])
except HeadscopeError as error:
    print(error)
"""


def test_a_disk_that_is_really_full_is_one_clear_error(tmp_path: Path) -> None:
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", tmp_path]).returncode:
        pytest.skip("a small disk can be mounted by root alone")
    try:
        command = [sys.executable, "-c", SAVE, str(tmp_path)]
        paths = os.pathsep.join(path for path in sys.path if path)
        ended = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths})
        assert os.listdir(tmp_path) == []
    finally:
        subprocess.run(["umount", tmp_path], check=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"'{tmp_path / 'result.nc'}' cannot be written: no space left")


def test_a_folder_that_cannot_be_written_to_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HeadscopeError, match=r"cannot be written: .*choose another folder with -o"):
        save_result(profile_result(), tmp_path / "file")


def test_a_folder_without_permission_is_one_clear_error(tmp_path: Path) -> None:
    with closed(tmp_path, 0o500), pytest.raises(HeadscopeError, match=r"Permission denied; choose another folder with"):
        save_result(profile_result(), tmp_path)


def test_a_folder_without_a_result_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="does not exist; name a folder that a study wrote with -o"):
        open_result(tmp_path)


def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    save_result(profile_result(), tmp_path / "elsewhere")
    for name in ("out", "mine"):
        (tmp_path / name).mkdir()
    (tmp_path / "out" / "result.nc").symlink_to(tmp_path / "elsewhere" / "result.nc")
    (tmp_path / "mine" / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HeadscopeError, match=r"result.nc' leads out of folder"):
        open_result(tmp_path / "out")
    assert open_result(tmp_path / "mine" / "out").identical(open_result(tmp_path / "elsewhere"))


def corrupt(content: bytes) -> bytes:
    return content[: len(content) // 2]


@pytest.mark.parametrize("spoil", [lambda _: b"", lambda _: b"some text, no result", corrupt])
def test_a_file_that_is_no_result_is_one_clear_error(tmp_path: Path, spoil) -> None:
    path = save_result(profile_result(), tmp_path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(HeadscopeError, match="is not a result of headscope"):
        open_result(tmp_path)


def test_a_netcdf_file_of_something_else_is_one_clear_error(tmp_path: Path) -> None:
    xr.Dataset({"rain": ("day", np.ones(3))}).to_netcdf(tmp_path / "result.nc", engine="h5netcdf")
    with pytest.raises(HeadscopeError, match=r"is not a result of headscope: .*'day'"):
        open_result(tmp_path)


def test_dimensions_outside_the_vocabulary_are_refused() -> None:
    with pytest.raises(ValueError, match=r"dimensions \['heads'\] are not in the vocabulary"):
        results.check(profile_result().rename(head="heads"))


@pytest.mark.parametrize("attribute", ["long_name", "units", "source"])
def test_variables_must_say_what_they_are(attribute: str) -> None:
    result = profile_result()
    del result["entropy"].attrs[attribute]
    with pytest.raises(ValueError, match=rf"variable 'entropy' lacks \['{attribute}'\]"):
        results.check(result)


@pytest.mark.parametrize("attribute", results.ATTRIBUTES)
def test_a_result_must_say_where_it_comes_from(attribute: str) -> None:
    result = profile_result()
    del result.attrs[attribute]
    with pytest.raises(ValueError, match=attribute):
        results.check(result)


@pytest.mark.parametrize("name", ["n_examples", "seed", "duration_s"])
def test_a_count_that_is_no_number_is_refused(name: str, tmp_path: Path) -> None:
    for value in ("12", "many"):
        profile_result().assign_attrs({name: value}).to_netcdf(tmp_path / f"{value}.nc", engine="h5netcdf")
    assert results.read(tmp_path / "12.nc").attrs[name] == "12"
    with pytest.raises(HeadscopeError, match=f"attribute '{name}' is not a number"):
        results.read(tmp_path / "many.nc")


def test_a_result_that_is_refused_is_not_written(tmp_path: Path) -> None:
    result = profile_result()
    del result.attrs["model"]
    with pytest.raises(ValueError, match="model"):
        save_result(result, tmp_path)
    assert os.listdir(tmp_path) == []


def test_means_are_the_variables_that_are_no_interval_and_no_count() -> None:
    found = results.means(profile_result())
    assert "entropy" in found and not [name for name in found if name.endswith(("_ci", "_n_examples"))]


def test_every_label_is_of_a_dimension_and_every_dimension_has_a_meaning() -> None:
    assert all(dimension.what for dimension in dimensions().values())
    for labels in (results.TOKEN_CLASSES, results.OFFSETS, results.FEATURES, results.RELATIONS, results.BOUNDS):
        assert len(set(labels)) == len(labels)
