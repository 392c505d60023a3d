"""The lock of an output folder: one run at a time, and nothing is left of a run that was killed."""

import errno
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headscope.errors import HeadscopeError
from headscope.storage.files import write_atomically
from headscope.storage.run_lock import FILE, run_lock

HOLD = """
import sys, time
from pathlib import Path
from headscope.storage.run_lock import run_lock
with run_lock(Path(sys.argv[1]), "headscope ablate"):
    print("locked", flush=True)
    time.sleep(600)
"""


def test_a_second_run_is_refused_by_the_name_of_the_first_until_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as first:
        assert first.stdout and first.stdout.readline() == b"locked\n"
        owner = f"headscope ablate, process {first.pid}, since 20"
        expected = f"^folder '{re.escape(str(tmp_path))}' is in use by {owner}.*; "
        with pytest.raises(HeadscopeError, match=expected + "wait for its end, or choose another folder with -o$"):
            with run_lock(tmp_path, "headscope profile"):
                pass
        first.send_signal(signal.SIGKILL)
    with run_lock(tmp_path, "headscope profile"):
        assert FILE in os.listdir(tmp_path)
    assert os.listdir(tmp_path) == []


def test_the_same_process_cannot_lock_a_folder_twice(tmp_path: Path) -> None:
    with run_lock(tmp_path / "new", "one"), pytest.raises(HeadscopeError, match="in use by one, process"):
        with run_lock(tmp_path / "new", "two"):
            pass
    with run_lock(tmp_path / "new", "two"):
        pass


def test_an_error_ends_the_lock(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), run_lock(tmp_path, "one"):
        raise KeyboardInterrupt
    with run_lock(tmp_path, "two"):
        pass


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named_and_the_run_goes_on(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", refuse)
    lines: list[str] = []
    with run_lock(tmp_path, "one", on_no_lock=lines.append), run_lock(tmp_path, "two", on_no_lock=lines.append):
        pass
    assert f"folder '{tmp_path}': its file system has no locks" in lines[0]
    assert len(lines) == 2


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / FILE).symlink_to(tmp_path / "precious")
    with pytest.raises(HeadscopeError, match=r"cannot be locked: .*; allow writing there, or choose another"):
        with run_lock(tmp_path / "out", "one"):
            pass
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "text"


def test_what_is_written_under_a_lock_stays_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    with run_lock(tmp_path / "out", "one"):
        (tmp_path / "out" / "figures").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(HeadscopeError, match=r"figures' leads out of folder"):
            write_atomically(tmp_path / "out" / "figures" / "a.svg", "")
    assert list((tmp_path / "elsewhere").iterdir()) == []
