"""Saved results of all studies, mutated, and everything that is made of them: pages, cards, tables and the viewer."""

import io
import tempfile
from pathlib import Path
from random import Random
from unittest.mock import patch
from zipfile import ZipFile

from fuzz.result_mutations import mutate_result
from headscope import results
from headscope.errors import HeadscopeError
from headscope.viewer.saved_index import model_numbers, read_folders
from headscope.viewer.widget import result_session
from support.every_study import STUDIES, arguments, prepare, run
from support.pages import WITHOUT_FILES


def every_result(folder: Path) -> bytes:
    """The results of all studies on a tiny model, as an archive."""
    directory, archive = Path(tempfile.mkdtemp(dir=folder)), io.BytesIO()
    prepare(directory)
    with ZipFile(archive, "w") as zipped:
        for study in STUDIES:
            ended = run(*arguments(study, "annotated", directory), out=directory / "out" / study)
            zipped.write(ended.directory / "result.nc", study)
    return archive.getvalue()


def mutate_one(archive: bytes, random: Random) -> bytes:
    """One result of an archive, mutated."""
    with ZipFile(io.BytesIO(archive)) as zipped:
        return mutate_result(zipped.read(random.choice(zipped.namelist())), random)


def take_result(content: bytes, folder: Path) -> None:
    """Make page, index, card, tables and the numbers of the viewer of a mutated result, as the commands do.

    Raises `HeadscopeError` if one of them refuses it.
    """
    (folder / "result.nc").write_bytes(content)
    refused = list(filter(None, [_said(*words, folder) for words in COMMANDS]))
    measured, _ = read_folders([folder])
    for model in measured:
        model_numbers(model)
    result_session(results.read(folder))
    if refused:
        raise HeadscopeError(refused[0])


COMMANDS = (("report", "--no-figures"), ("head",), ("head", "--json"), ("head", "1-1"), ("export",))


def _said(*words: str | Path) -> str:
    """The line with which a command refuses; "" where it does not. A page that lacks a part is a failure."""
    with patch(WITHOUT_FILES[1]):
        ended = run(*words)
    assert ended.status in (0, 2), ended.errors
    assert ended.errors.count("\n") <= 1, f"several lines: {ended.errors}"
    return ended.errors.removeprefix("headscope: ").strip() if ended.status else ""
