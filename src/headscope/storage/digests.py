"""Digests of finished files and folders, in a file of lines beside them: damage is noticed before they are read.

The digest of a file comes into the lines before the file comes to its place. So a process that is killed in between
leaves the former file there, whose digest is in the lines too.
"""

from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from headscope.storage.files import sync, writing
from headscope.storage.lines import append_line, line_of, read_lines
from headscope.storage.source_files import sha256_of

FILE = "digests"


def add_digest(content: Path, place: Path) -> None:
    """Add the digest of a finished file or folder, which is then moved to `place`; first it comes onto the disk.

    Raises `HeadscopeError` if it cannot be written.
    """
    path = place.with_name(FILE)
    with writing(path, resumable=True), path.open("ab", buffering=0) as file:
        for each in (content, *content.rglob("*")):
            sync(each)
        append_line(path, file, line_of({"name": place.name, "sha256": digest(content)}))  # type: ignore[arg-type]


def damaged(places: Iterable[Path]) -> Path | None:
    """The first file or folder of one folder that has no digest of its content; None if there is none.

    Files of earlier versions, which have no digests beside them, count as whole.
    """
    places = list(places)
    if not places or not (path := places[0].with_name(FILE)).exists():
        return None
    digests = defaultdict[object, set[object]](set)
    for record in read_lines(path):
        if record is not None:
            digests[record.get("name")].add(record.get("sha256"))
    return next((place for place in places if digest(place) not in digests[place.name]), None)


def digest(path: Path) -> str:
    """The hash of a file, or of the names and contents of the files in a folder.

    Raises `HeadscopeError` if it cannot be read.
    """
    with writing(path, resumable=True):
        if path.is_file():
            return sha256_of([path])
        files = sorted(each for each in path.rglob("*") if each.is_file())
        lines = [f"{each.relative_to(path)} {sha256_of([each])}" for each in files]
    return sha256("\n".join(lines).encode()).hexdigest()
