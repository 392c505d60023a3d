"""Hashes: of the files that a run reads, of what its numbers depend on, and of finished files.

The digests of finished files and folders are in a file of lines beside them: damage is noticed before they are read. A
digest comes into the lines before the file comes to its place. So a process that is killed in between leaves the former
file there, whose digest is in the lines too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError
from headscope.storage.files import sync, writing
from headscope.storage.lines import append_line, line_of, read_lines

Stamps = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class SourceFiles:
    """Files on whose bytes the numbers of a run depend: their hash, and path, size and time of change of each."""

    sha256: str
    stamps: Stamps

    @property
    def changed(self) -> bool:
        """Whether a file is no longer the one that was hashed."""
        names = [name for name, *_ in self.stamps]
        try:
            return stamps_of(names) != self.stamps and sha256_of(names) != self.sha256
        except (OSError, HeadscopeError):
            return True

    def refuse_changed(self, what: str) -> None:
        """Raise `HeadscopeError` if a file is no longer the one that was hashed; `what` is their role and name."""
        if self.changed:
            raise HeadscopeError(f"{what} has changed since the run began; start the same command again")


def source_files(paths: Iterable[str | Path]) -> SourceFiles:
    """Hash some files.

    >>> source_files([]).sha256[:8]
    'e3b0c442'
    """
    return _source_files(stamps_of([str(path) for path in paths]))


@lru_cache(maxsize=256)  # studies of a survey read the same files
def _source_files(stamps: Stamps) -> SourceFiles:
    """The files with these stamps, which are taken before their bytes are read: a change in between is noticed."""
    return SourceFiles(sha256_of([name for name, *_ in stamps]), stamps)


def sha256_of(files: Iterable[str | Path]) -> str:
    """The hash of files, one after the other.

    Raises `HeadscopeError` if a file is open and then cannot be read, as on a damaged disk.
    """
    digest = sha256()
    for path in files:
        with open(path, "rb") as file:
            try:
                while block := file.read(1 << 20):
                    digest.update(block)
            except OSError as error:
                raise HeadscopeError(f"'{path}' cannot be read: {error.strerror}; check the disk") from error
    return digest.hexdigest()


def stamps_of(names: Iterable[str]) -> Stamps:
    """The path, size and time of change of each file."""
    states = [(name, Path(name).stat()) for name in names]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in states)


Fingerprint = dict[str, str | int]
CHARACTERS = 16
HASH = re.compile(r"[0-9a-f]{16}|[0-9a-f]{64}")


def hash_of(parts: Iterable[bytes | memoryview]) -> str:
    """The first characters of the SHA-256 of the bytes."""
    digest = sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:CHARACTERS]


def difference(before: dict[str, Any], now: Fingerprint) -> str:
    """The first part in which two fingerprints differ; "" if they are equal. A hash tells nobody what has changed.

    >>> difference({"seed": 0}, {"seed": 1}), difference({"corpus": "0123456789abcdef"}, {"corpus": "f" * 16})
    ('seed 0, now it is 1', 'another corpus')
    """
    for name in dict.fromkeys((*now, *before)):
        was, is_now = before.get(name), now.get(name)
        if was != is_now:
            hashed = any(HASH.fullmatch(str(value)) for value in (was, is_now))
            return f"another {name.removesuffix('_sha256')}" if hashed else f"{name} {was}, now it is {is_now}"
    return ""


FILE = "digests"


def add_digest(content: Path, final: Path) -> None:
    """Add the digest of a finished file or folder, which is then moved to `final`; first it comes onto the disk.

    Raises `HeadscopeError` if it cannot be written.
    """
    path = final.with_name(FILE)
    with writing(path, resumable=True), path.open("ab", buffering=0) as file:
        for part in (content, *content.rglob("*")):
            sync(part)
        append_line(path, file, line_of({"name": final.name, "sha256": digest(content)}))  # type: ignore[arg-type]


def damaged(paths: Iterable[Path]) -> Path | None:
    """The first file or folder of one folder whose digest is another; None if there is none, or none has a digest."""
    paths = list(paths)
    if not paths or not (path := paths[0].with_name(FILE)).exists():
        return None
    digests = defaultdict[object, set[object]](set)
    for record in read_lines(path):
        if record is not None:
            digests[record.get("name")].add(record.get("sha256"))
    return next((path for path in paths if digest(path) not in digests[path.name]), None)


def digest(path: Path) -> str:
    """The hash of a file, or of the names and contents of the files in a folder.

    Raises `HeadscopeError` if it cannot be read.
    """
    with writing(path, resumable=True):
        if path.is_file():
            return sha256_of([path])
        files = sorted(file for file in path.rglob("*") if file.is_file())
        lines = [f"{file.relative_to(path)} {sha256_of([file])}" for file in files]
    return sha256("\n".join(lines).encode()).hexdigest()
