"""Write files and folders whole or not at all, and say in one line why a disk refuses them."""

import errno
import fnmatch
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError

UNFINISHED = ".new-"
FULL = ("No space left", "Disk quota", f"os error {errno.ENOSPC}")


def write_atomically(path: Path, content: bytes | str, *, lasting: bool = False) -> Path:
    """Write a file, whole or not at all, and its folder if it is missing; return its path.

    * `lasting`: return once it would survive a power cut.

    Raises `HeadscopeError` if it cannot be written.
    """
    with replacing(path, lasting=lasting) as scratch:
        scratch.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refuse_text(what: str, name: str) -> None:
    """Raise `HeadscopeError` for a name that cannot be a path, such as a pasted text."""
    try:
        os.lstat(os.path.expanduser(name))
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
            start = f"{what} '{name[:40]}...'"
            raise HeadscopeError(f"{start} is too long for a path, or no path; name a file or a folder") from error


@contextmanager
def opening() -> Iterator[None]:
    """Within this context, or as a decorator, a file that cannot be opened is a `HeadscopeError`; other errors pass."""
    try:
        yield
    except OSError as error:
        if not (line := unopened(error)):
            raise
        raise HeadscopeError(line) from error


def unopened(error: OSError) -> str:
    """The line for a file or a folder that the operating system refuses to open; empty if the error names none."""
    if error.errno == errno.ENAMETOOLONG:
        return f"'{str(error.filename)[:40]}...' is too long for a path; name a file or a folder"
    closed = error.errno in (errno.EACCES, errno.EPERM)
    remedy = "check its permissions and those of its folders" if closed else "check that it is there and its disk"
    return f"'{error.filename}' cannot be opened: {error.strerror}; {remedy}" if error.filename else ""


def files_within(folder: Path, pattern: str, *, leave: bool = False) -> list[Path]:
    """The files of a name in a folder and in folders within it, also linked ones; each folder once, so circles end.

    * `pattern`: the name, or a pattern of names such as "*.dp"; `leave`: links may lead out of the folder.

    Raises `HeadscopeError` for a link out of the folder, `OSError` for a folder that cannot be listed, unless it is
    missing.
    """
    files, seen = [], set[str]()
    for directory, folders, names in os.walk(folder, followlinks=True, onerror=raised):
        folders.sort()
        if (real := os.path.realpath(directory)) in seen:
            folders.clear()
            continue
        seen.add(real)
        paths = [Path(directory, name) for name in fnmatch.filter(names, pattern)]
        for path in () if leave else (Path(directory), *paths):
            refuse_link_out(path, folder)
        files += paths
    return sorted(files)


def refuse_link_out(path: Path, folder: Path) -> None:
    """Raise `HeadscopeError` for a path of a folder that leads out of it; the folder itself may be a link."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise HeadscopeError(f"'{path}' leads out of folder '{folder}'; put there what it leads to, or remove it")


@contextmanager
def staying_in(folder: Path) -> Iterator[None]:
    """Within this context nothing is written through a link that leads out of a folder; it may be a link itself."""
    _STAYING.append(absolute := folder.absolute())
    try:
        yield
    finally:
        _STAYING.remove(absolute)


_STAYING: list[Path] = []


@contextmanager
def replacing(path: Path, *, resumable: bool = False, lasting: bool = False) -> Iterator[Path]:
    """A place of the same name to write a file to; at the end of the context the file takes the place of `path`.

    * `resumable`: the file is kept for a run that goes on: it is `lasting`, and an error says that what was done is
      kept.
    * `lasting`: the file is on the disk at the end of the context, so that it survives a power cut.

    Raises `HeadscopeError` if it cannot be written.
    """
    with writing(path, resumable=resumable):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}{UNFINISHED}") as scratch:
            yield Path(scratch) / path.name
            if resumable or lasting:
                sync(Path(scratch) / path.name)
            os.replace(Path(scratch) / path.name, path)
            if resumable or lasting:
                sync(path.parent)


def remove_unfinished(path: Path) -> None:
    """Remove what processes that were killed have left of `replacing` this file; it needs a lock against others."""
    for scratch in path.parent.glob(f".{glob.escape(path.name)}{UNFINISHED}*"):
        remove(scratch)


def sync(path: Path) -> None:
    """Wait until a file, or the names of the files in a folder, are on the disk."""
    if path.is_dir() and (os.name == "nt" or not os.access(path, os.R_OK)):  # there it cannot be opened
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def new_folder(path: Path, *, resumable: bool = False) -> Iterator[Path]:
    """A folder to write into; at the end of the context it takes the place of the folder `path`. See `replacing`."""
    scratch = path.with_name(f".{path.name}.new")
    remove(scratch)
    try:
        with writing(path, resumable=resumable):
            scratch.mkdir(parents=True)
            yield scratch
            replace_folder(scratch, path)
    finally:
        remove(scratch)


@contextmanager
def existing(folder: Path) -> Iterator[Path]:
    """Within this context a folder exists; at the end, what was made for it is removed if it is empty.

    Raises `HeadscopeError` if it cannot be made.
    """
    absent: list[Path] = []
    try:
        with writing(folder):
            absent = [parent for parent in (folder, *folder.parents) if not parent.exists()]
            folder.mkdir(parents=True, exist_ok=True)
        yield folder
    finally:
        for parent in absent:  # the innermost first
            with suppress(OSError):  # it has files
                parent.rmdir()


@contextmanager
def writing(path: Path, *, resumable: bool = False) -> Iterator[None]:
    """Within this context a failure to write `path` becomes a `HeadscopeError`; other errors pass.

    * `resumable`: the error says that what was done is kept.

    Raises `HeadscopeError` also for a path behind a link out of a folder of `staying_in`.
    """
    parent = path.absolute().parent
    for folder in _STAYING:
        if parent.is_relative_to(folder):
            refuse_link_out(parent, folder)
    try:
        yield
    except HeadscopeError:
        raise
    except Exception as error:  # safetensors and torch raise their own kinds for a full disk
        full = names_full_disk(error) or _is_full(path)
        if not full and not isinstance(error, OSError):
            raise
        reason = getattr(error, "strerror", None) or error
        remedy = "choose another folder with -o"
        if full:
            reason, remedy = "no space left on the disk", f"make room or {remedy}"
        kept = ", and start again: what was done is kept" if resumable else ""
        raise HeadscopeError(f"'{path}' cannot be written: {reason}; {remedy}{kept}") from error


def names_full_disk(error: BaseException) -> bool:
    """Whether an error, or a cause of it, says that a disk is full or a quota is used up."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    codes = {cause.errno for cause in causes if isinstance(cause, OSError)}
    return bool(codes & {errno.ENOSPC, errno.EDQUOT}) or any(words in str(cause) for cause in causes for words in FULL)


def replace_folder(source: Path, target: Path) -> None:
    """Move a folder to another place on the same disk; a folder that is there is removed."""
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


def raised(error: OSError) -> None:
    """Raise the error of a folder that `os.walk` cannot list, unless it is missing."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def refuse_full(folder: Path, size: float, what: str, remedy: str = "") -> None:
    """Raise `HeadscopeError` if a folder has no room for this many bytes.

    * `what`: what takes them, such as "8 steps take"; `remedy`: what else helps, before "write to another disk".
    """
    if size > (free := _disk(folder / "file").free):
        raise HeadscopeError(
            f"{what} {size / 1e9:.3g} GB, and '{folder}' has {free / 1e9:.3g} GB free; {remedy}write to another disk "
            "by -o"
        )


def _disk(path: Path) -> Any:
    """The disk of a file that may not exist yet."""
    return shutil.disk_usage(next(folder for folder in path.absolute().parents if os.path.exists(folder)))


def _is_full(path: Path) -> bool:
    disk = _disk(path)
    return disk.free < 1 << 20 and disk.total > 0  # /proc has no size
