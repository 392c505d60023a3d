"""Files that a run reads: their hash, and whether they are still the same at its end."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from headscope.errors import HeadscopeError

Stamps = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class SourceFiles:
    """Files on whose bytes the numbers of a run depend.

    * `sha256`: hash of their bytes, one file after the other.
    * `stamps`: path, size and time of change of each.
    """

    sha256: str
    stamps: Stamps

    def refuse_changed(self, what: str) -> None:
        """Raise `HeadscopeError` if a file is no longer the one that was hashed; `what` is their role and name."""
        names = [name for name, *_ in self.stamps]
        try:
            changed = stamps_of(names) != self.stamps and sha256_of(names) != self.sha256
        except (OSError, HeadscopeError):
            changed = True
        if changed:
            raise HeadscopeError(f"{what} has changed since the run began; start the same command again")


def source_files(paths: Iterable[str | Path]) -> SourceFiles:
    """Hash some files.

    >>> source_files([]).sha256[:8]
    'e3b0c442'
    """
    names = [str(path) for path in paths]
    stamps = stamps_of(names)  # before their bytes are read: a change in between is noticed
    return SourceFiles(sha256_of(names), stamps)


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
