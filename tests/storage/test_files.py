"""Files are written whole or not at all, and a full disk has a remedy."""

import errno
from pathlib import Path

import pytest

from headscope.errors import HeadscopeError
from headscope.storage.files import (
    existing,
    files_within,
    names_full_disk,
    new_folder,
    remove_unfinished,
    replacing,
    staying_in,
    write_atomically,
    writing,
)
from support.synced import order_of_calls


def test_a_file_and_its_folder_are_made(tmp_path: Path):
    path = write_atomically(tmp_path / "new" / "a.txt", "é")
    assert path.read_bytes() == "é".encode()
    assert [file.name for file in path.parent.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("lasting", "expected"), [(True, ["sync file", "replace", "sync folder"]), (False, ["replace"])]
)
def test_a_lasting_file_is_on_the_disk_before_and_after_it_comes_to_its_place(
    lasting: bool, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert order_of_calls(lambda: write_atomically(tmp_path / "a", "b", lasting=lasting), monkeypatch) == expected


def test_what_a_killed_process_left_of_a_file_is_removed_and_nothing_else(tmp_path: Path):
    for name in (".a[1].new-x", ".a1.new-x", ".b.new-x", ".a[1]", "a[1]"):
        (tmp_path / name).mkdir()
    remove_unfinished(tmp_path / "a[1]")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a1.new-x", ".a[1]", ".b.new-x", "a[1]"]


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_what_fails_midway_leaves_the_old_file_alone(tmp_path: Path, error: BaseException):
    path = write_atomically(tmp_path / "a.txt", "old")
    with pytest.raises(type(error)), replacing(path) as scratch:
        scratch.write_text("new")
        raise error
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_a_full_disk_has_a_remedy(tmp_path: Path):
    with pytest.raises(HeadscopeError) as raised, writing(tmp_path / "a", resumable=True):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(raised.value) == (
        f"'{tmp_path / 'a'}' cannot be written: no space left on the disk; make room or choose another folder with -o, "
        "and start again: what was done is kept"
    )


def test_a_full_disk_is_recognised_behind_the_errors_of_other_libraries():
    try:
        raise RuntimeError("cache") from OSError(errno.EDQUOT, "quota")
    except RuntimeError as error:
        assert names_full_disk(error)
    assert names_full_disk(ValueError("I/O error: No space left on device (os error 28)"))
    assert not names_full_disk(OSError(errno.EACCES, "Permission denied"))


def test_a_folder_that_is_a_file(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(HeadscopeError, match=r"cannot be written: .*; choose another folder with -o$"):
        write_atomically(tmp_path / "file" / "a", b"")


def test_a_folder_is_replaced_whole(tmp_path: Path):
    for text in ("old", "new"):
        with new_folder(tmp_path / "model") as scratch:
            (scratch / text).touch()
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_file_system_without_a_size_is_not_full():
    with pytest.raises(HeadscopeError, match=r"^'/proc/x' cannot be written: (?!no space)"):
        write_atomically(Path("/proc/x"), "")


def test_a_folder_that_was_made_for_nothing_is_removed_with_its_parents(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt), existing(tmp_path / "out" / "new") as folder:
        assert folder.is_dir()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_or_has_files_is_kept(tmp_path: Path):
    with existing(tmp_path), existing(tmp_path / "out" / "new") as folder:
        (folder / "a.txt").touch()
    assert (folder / "a.txt").exists()
    (folder / "a.txt").unlink()
    with existing(folder):
        pass
    assert folder.is_dir()


def test_files_in_linked_folders_are_found_once_and_links_in_circles_end(tmp_path: Path):
    inner = write_atomically(tmp_path / "out" / "inner" / "result.nc", b"")
    (tmp_path / "out" / "circle").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "linked").symlink_to(inner.parent)
    (tmp_path / "mine").symlink_to(tmp_path / "out")
    assert files_within(tmp_path / "out", "result.nc") == [inner]
    assert files_within(tmp_path / "mine", "result.nc") == [tmp_path / "mine" / "inner" / "result.nc"]
    assert files_within(tmp_path / "absent", "result.nc") == []


@pytest.mark.parametrize("name", ["linked", "inner/result.nc"])
def test_a_link_out_of_a_folder_is_refused_unless_it_may_leave(tmp_path: Path, name: str):
    outside = write_atomically(tmp_path / "elsewhere" / "result.nc", b"")
    link = tmp_path / "out" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if link.suffix else outside.parent)
    with pytest.raises(HeadscopeError, match=f"'{link}' leads out of folder"):
        files_within(tmp_path / "out", "result.nc")
    assert len(files_within(tmp_path / "out", "result.nc", leave=True)) == 1


def test_nothing_is_written_through_a_link_out_of_a_folder_that_is_a_link(tmp_path: Path):
    for name in ("elsewhere", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "figures").symlink_to(tmp_path / "elsewhere")
    with staying_in(tmp_path / "mine"):
        write_atomically(tmp_path / "mine" / "a.txt", "")
        for write in (lambda path: write_atomically(path, ""), lambda path: new_folder(path).__enter__()):
            with pytest.raises(HeadscopeError, match=r"figures' leads out of folder '.*mine'"):
                write(tmp_path / "mine" / "figures" / "a")
    write_atomically(tmp_path / "out" / "figures" / "a", "")
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["a"]
