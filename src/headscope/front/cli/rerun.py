"""The commands that make a saved result again: `rerun` compares its numbers, `verify` scores its smaller model."""

import json as json_
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.errors import HeadscopeError
from headscope.front.cli.compute import compute, ready_inputs
from headscope.front.cli.errors import notice, user_errors
from headscope.front.cli.output_folder import output_folder
from headscope.front.cli.printing import escaped, print_json
from headscope.front.cli.saved_command import followed, say_followed, words_of
from headscope.front.inputs import ATTRIBUTE, made_from
from headscope.front.progress import Clock

if TYPE_CHECKING:
    import xarray as xr

    from headscope.results.differences import Difference

DIFFERENT = 1
ANEW = ("workers", "engine", "address", "gpus_per_worker", "annotate", "remote_code")
SHRINK = "shrink"
HASHES = {"model_sha256": "model", "corpus_sha256": "corpus"}
SHOWN = 8  # characters of a hash

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that a study wrote with -o.")]
Tolerance = Annotated[float, typer.Option(min=0, max=1e9, help="Largest absolute difference of equal numbers.")]
Relative = Annotated[
    float, typer.Option(min=0, max=1e9, help="Share of the saved number that is added to the tolerance.")
]
Out = Annotated[Path | None, typer.Option("-o", "--out", metavar="NEW", help="Keep the new result in this folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")]
ShrinkDirectory = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that 'headscope shrink' wrote with -o.")]


def rerun(
    directory: Directory,
    tolerance: Tolerance = 1e-5,
    relative: Relative = 0.0,
    out: Out = None,
    *,
    json: Json = False,
    **shared: Annotated[Any, (*ANEW, "debug")],
) -> None:
    """Run the command of a saved result again and compare all numbers. Exit status: 0 equal, 1 different."""
    with user_errors(shared["debug"]):
        from headscope import results
        from headscope.results.differences import differences

        saved = results.read(directory)
        words = words_of(saved, directory)
        anew = {name: shared[name] for name in ANEW}
        values, left_out = followed(saved.attrs["study"], words, anew)
        say_followed("running again", words, values, left_out)
        with _folder(out, saved.attrs["study"]) as folder:
            new = _run(saved.attrs["study"], values, folder)
            new.attrs["command"] = saved.attrs["command"]
            results.save(new, folder)
            new = results.read(folder)
        different = list(differences(saved, new, tolerance, relative))
        if json:
            print_json(_plain(saved, new, different))
        else:
            typer.echo(_in_words(saved, new, different))
    if different:
        raise typer.Exit(DIFFERENT)


def _run(study: str, values: dict[str, Any], out: Path) -> "xr.Dataset":
    """The result of the command, written to another folder, without a page."""
    computed = compute(study, values | {"out": out, "figures": (), "json": False, "quiet": True}, Clock())
    if "interrupted" in computed.result.attrs:
        raise KeyboardInterrupt
    computed.journal.remove()
    return computed.result.assign_attrs({ATTRIBUTE: json_.dumps(made_from(values, computed.inputs))})


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
        json_.loads(result.attrs.get("versions", "{}")) | {"headscope": result.attrs["headscope_version"]}
        for result in (saved, new)
    )
    names = dict.fromkeys((*before, *now))
    return {name: (str(before.get(name)), str(now.get(name))) for name in names if before.get(name) != now.get(name)}


def _plain(saved: "xr.Dataset", new: "xr.Dataset", different: "list[Difference]") -> dict[str, Any]:
    same = {name: before == now for name, (before, now) in _hashes(saved, new).items()}
    rows = [vars(difference) for difference in different]
    return {"equal": not different, "same": same, "versions": _versions(saved, new), "differences": rows}


def _in_words(saved: "xr.Dataset", new: "xr.Dataset", different: "list[Difference]") -> str:
    """Model, corpus and versions first, then a line for each variable that differs."""
    from headscope.results.differences import compared

    lines = [
        f"{name}: {f'the same ({now})' if before == now else f'changed ({before}, now {now})'}"
        for name, (before, now) in _hashes(saved, new).items()
    ]
    lines += [f"version of {name}: {before}, now {now}" for name, (before, now) in _versions(saved, new).items()]
    width = max((len(difference.variable) for difference in different), default=0)
    for difference in different:
        largest = "" if difference.largest != difference.largest else f"{difference.largest:.3g}"
        lines.append(f"{difference.variable:{width}}  {largest:>9}  {difference.where}")
    total = len(compared(new))
    lines.append(f"{len(different)} of {total} variables differ" if different else f"all {total} variables are equal")
    return "\n".join(map(escaped, lines))


def verify(
    directory: ShrinkDirectory,
    *,
    json: Json = False,
    **shared: Annotated[Any, ("task", "data", "remote_code", "debug")],
) -> None:
    """Score the model of 'headscope shrink' again, and compare scores, size and speed. Exit status: 1 different.

    With --task stsb --data GLUE the model card gets the Spearman correlation on these pairs of sentences, too.
    """
    with user_errors(shared["debug"]):
        from headscope import results
        from headscope.corpora.tasks import read as read_task
        from headscope.front.cli.terminal import in_lines, print_forms
        from headscope.storage.files import files_within
        from headscope.studies.size.shrink.verification import recorded, verified

        saved = results.read(directory)
        if saved.attrs["study"] != SHRINK:
            raise HeadscopeError(f"result '{directory}' is of '{saved.attrs['study']}'; name a folder of 'shrink'")
        files_within(directory, "*")  # refuses links out of the folder
        words = words_of(saved, directory)
        values, left_out = followed(SHRINK, words, {"remote_code": shared["remote_code"]})
        pairs = read_task(shared["task"], shared["data"]) if shared["task"] else None
        recorded(saved, str(directory))  # before the models and texts of its command are read
        say_followed("scoring again", words, values, left_out)
        with TemporaryDirectory(prefix="headscope-") as scratch:
            ready = ready_inputs(SHRINK, values | {"out": Path(scratch)})
        inputs = (ready["model"], ready["corpus"], ready.get("task"), ready["settings"])
        verification = verified(saved, directory / "model", *inputs, pairs=pairs)
        if json:
            print_json(verification)
        else:
            print_forms(saved)
            typer.echo(in_lines(verification))
    if not verification["same"]:
        raise typer.Exit(DIFFERENT)
