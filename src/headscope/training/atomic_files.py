"""Write folders whole or not at all, and say in one line when the disk is full."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headscope.errors import HeadscopeError

FULL = ("No space left", "Disk quota", f"os error {errno.ENOSPC}")


@contextmanager
def writing(path: Path, *, kept: bool = True) -> Iterator[None]:
    """Within this context a failure to write `path` becomes a `HeadscopeError`; what else fails is let through.

    `kept` says that what was done so far need not be done again.
    """
    try:
        yield
    except Exception as error:  # safetensors and torch raise their own kinds for a full disk
        full = any(words in str(error) for words in FULL) or _is_full(path)
        if not full and not isinstance(error, OSError):
            raise
        reason = "no space left on the disk" if full else getattr(error, "strerror", None) or error
        raise HeadscopeError(
            f"'{path}' cannot be written: {reason}; make room or choose another folder with -o, and start again"
            + (": what was done is kept" if kept else "")
        ) from error


@contextmanager
def new_folder(path: Path, *, kept: bool = True) -> Iterator[Path]:
    """A folder to write into, which takes the place of `path` once all is written; see `writing` for `kept`."""
    scratch = path.with_name(f".{path.name}.new")
    remove(scratch)
    try:
        with writing(path, kept=kept):
            scratch.mkdir(parents=True)
            yield scratch
            replace(scratch, path)
    finally:
        remove(scratch)


def replace(source: Path, target: Path) -> None:
    """Move a folder to another place on the same disk; one that is there is removed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    old = target.with_name(f".{target.name}.old")
    remove(old)
    if target.exists():
        os.replace(target, old)
    os.replace(source, target)
    remove(old)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_file():
        path.unlink()
    shutil.rmtree(path, ignore_errors=True)


def _is_full(path: Path) -> bool:
    there = next(folder for folder in path.absolute().parents if folder.exists())
    return shutil.disk_usage(there).free < 1 << 20
