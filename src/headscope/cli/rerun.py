"""The command `rerun`: run the command of a saved result again, and compare the numbers."""

import json as json_
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope import catalog
from headscope.cli.clock import Clock
from headscope.cli.errors import notice, user_errors
from headscope.cli.inputs import reads_standard_input
from headscope.cli.options import Debug, RemoteCode
from headscope.cli.output_folder import output_folder
from headscope.cli.printable import escaped
from headscope.cli.study import command_calling, compute
from headscope.cli.usage import UsageError, usage_line
from headscope.errors import HeadscopeError

if TYPE_CHECKING:
    import xarray as xr

    from headscope.results.differences import Difference

DIFFERENT = 1
HASHES = {"model_sha256": "model", "corpus_sha256": "corpus"}
SHOWN = 8  # characters of a hash

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that a study wrote with -o.")]
Tolerance = Annotated[float, typer.Option(min=0, help="Largest absolute difference of equal numbers.")]
Relative = Annotated[float, typer.Option(min=0, help="Added to the tolerance: this share of the saved number.")]
Out = Annotated[Path | None, typer.Option("-o", "--out", metavar="NEW", help="Keep the new result in this folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")]


def rerun(
    directory: Directory,
    tolerance: Tolerance = 1e-5,
    relative: Relative = 0.0,
    out: Out = None,
    remote_code: RemoteCode = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Run the command of a saved result again and compare all numbers. Exit status: 0 equal, 1 different."""
    with user_errors(debug):
        from headscope import results
        from headscope.results.differences import differences

        saved = results.read(directory)
        words = words_of(saved, directory)
        notice(f"running again: headscope {shlex.join(words)}")
        with _folder(out, saved.attrs["study"]) as place:
            new = _run(saved.attrs["study"], words, place, remote_code=remote_code)
            new.attrs["command"] = saved.attrs["command"]
            results.save(new, place)
            new = results.read(place)
        different = list(differences(saved, new, tolerance, relative))
        typer.echo(json_.dumps(_plain(saved, new, different)) if json else _in_words(saved, new, different))
    if different:
        raise typer.Exit(DIFFERENT)


def words_of(saved: "xr.Dataset", directory: Path) -> list[str]:
    """The words of the command that made a result.

    Raises `HeadscopeError` if they are not known, or the run was interrupted.
    """
    words = json_.loads(saved.attrs.get("command", "[]"))
    if not words or not all(isinstance(word, str) for word in words):
        raise HeadscopeError(
            f"result '{directory}' does not name its command: it is of an older version or was made in Python; "
            "make it again from the command line"
        )
    if words[0] != catalog.command_name(saved.attrs["study"]):
        raise HeadscopeError(
            f"result '{directory}' is of '{saved.attrs['study']}', its command of '{words[0]}'; run the study again"
        )
    if "interrupted" in saved.attrs:
        raise HeadscopeError(f"result '{directory}' is of an interrupted run; finish it with the same command first")
    return words


def _run(study: str, words: Sequence[str], out: Path, *, remote_code: bool) -> "xr.Dataset":
    """The result of the command, written to another folder, without a page."""
    given = _given(study, words)
    if reads_standard_input(given):
        raise HeadscopeError("the corpus was standard input, which is not kept; save the texts in a file")
    if given.get("remote_code") and not remote_code:
        raise HeadscopeError("the command runs code of the model's folder; read it, then add --trust-remote-code")
    computed = compute(study, given | {"out": out, "figures": (), "json": False, "quiet": True}, Clock())
    if "interrupted" in computed.result.attrs:
        raise KeyboardInterrupt
    computed.journal.remove()
    return computed.result


def _given(study: str, words: Sequence[str]) -> dict[str, Any]:
    """The values of the options of a study that the words of a command give."""
    given: dict[str, Any] = {}
    app = typer.Typer()
    app.command()(command_calling(study, lambda values, _: given.update(values)))
    try:
        typer.main.get_command(app).main([*words[1:]], standalone_mode=False)
    except UsageError as error:
        raise HeadscopeError(
            f"the saved command is not one of this version: {usage_line(error)}; run the study again"
        ) from error
    if not given:
        raise HeadscopeError("the saved command only prints help; run the study again")
    return given


@contextmanager
def _folder(out: Path | None, study: str) -> Iterator[Path]:
    """The folder of the new result, which is not kept unless it is named."""
    if out is None:
        with TemporaryDirectory(prefix="headscope-") as scratch:
            yield Path(scratch)
    else:
        with output_folder(out, study, overwrite=False, on_no_lock=notice):
            yield out


def _hashes(saved: "xr.Dataset", new: "xr.Dataset") -> dict[str, tuple[str, str]]:
    """The first characters of the hashes of both results."""
    return {
        words: (str(saved.attrs.get(name))[:SHOWN], str(new.attrs.get(name))[:SHOWN]) for name, words in HASHES.items()
    }


def _versions(saved: "xr.Dataset", new: "xr.Dataset") -> dict[str, tuple[str, str]]:
    """The versions that changed."""
    before, now = (
        json_.loads(each.attrs.get("versions", "{}")) | {"headscope": each.attrs["headscope_version"]}
        for each in (saved, new)
    )
    names = dict.fromkeys((*before, *now))
    return {name: (str(before.get(name)), str(now.get(name))) for name in names if before.get(name) != now.get(name)}


def _plain(saved: "xr.Dataset", new: "xr.Dataset", different: "list[Difference]") -> dict[str, Any]:
    from headscope.cli.terminal import without_nan

    same = {name: before == now for name, (before, now) in _hashes(saved, new).items()}
    rows = [vars(each) | {"largest": each.largest if abs(each.largest) < float("inf") else None} for each in different]
    return {"equal": not different, "same": same, "versions": _versions(saved, new), "differences": without_nan(rows)}


def _in_words(saved: "xr.Dataset", new: "xr.Dataset", different: "list[Difference]") -> str:
    """Model, corpus and versions first, then a line for each variable that differs."""
    from headscope.results.differences import compared

    lines = [
        f"{name}: {f'the same ({now})' if before == now else f'changed ({before}, now {now})'}"
        for name, (before, now) in _hashes(saved, new).items()
    ]
    lines += [f"version of {name}: {before}, now {now}" for name, (before, now) in _versions(saved, new).items()]
    width = max((len(each.variable) for each in different), default=0)
    for each in different:
        largest = "" if each.largest != each.largest else f"{each.largest:.3g}"
        lines.append(f"{each.variable:{width}}  {largest:>9}  {each.where}")
    total = len(compared(new))
    lines.append(f"{len(different)} of {total} variables differ" if different else f"all {total} variables are equal")
    return "\n".join(map(escaped, lines))
