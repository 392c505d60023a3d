"""The lock of a run's output folder: a second run in it is refused, and a crash leaves no lock behind."""

import errno
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from headscope.errors import HeadscopeError
from headscope.storage.files import existing, staying_in

FILE = ".headscope.lock"
MOST_CHARACTERS = 200
WITHOUT_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}


@contextmanager
def run_lock(directory: Path, run: str, *, on_no_lock: Callable[[str], None] = warnings.warn) -> Iterator[None]:
    """Within this context no other run can lock the folder, and no link leads what is written out of it.

    The operating system holds the lock for this process, so the end of the process ends it.

    * `directory`: made if it is missing, and removed again if it is empty at the end.
    * `run`: name of the run, for the message to another run.
    * `on_no_lock`: called with one line if the file system has no locks; the run goes on without a lock.

    Raises `HeadscopeError`, which names the other run, if another run holds the lock; or if the folder cannot be
    written to.
    """
    with existing(directory), staying_in(directory):
        path = directory / FILE
        lock = FileLock(path, blocking=False, fallback_to_soft=False)
        try:
            lock.acquire()
        except Timeout:
            raise HeadscopeError(
                f"folder '{directory}' is in use by {_owner(path)}; wait for its end, or choose another folder with -o"
            ) from None
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise HeadscopeError(
                    f"folder '{directory}' cannot be locked: {error.strerror}; allow writing there, or choose another"
                ) from error
            on_no_lock(f"folder '{directory}': its file system has no locks; start no second run in it now")
        try:
            if lock.is_locked:
                _name(path, run)
            yield
        finally:
            if lock.is_locked:
                with suppress(OSError):  # Windows removes no open file
                    path.unlink()
                lock.release()


def _name(path: Path, run: str) -> None:
    """Write into the lock file which run holds it, for the message to another run."""
    with suppress(OSError):  # the lock holds without it
        path.write_text(f"{run}, process {os.getpid()}, since {datetime.now():%Y-%m-%d %H:%M:%S}", encoding="utf-8")


def _owner(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")[:MOST_CHARACTERS] or "another run"
    return "another run"
