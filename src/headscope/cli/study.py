"""The commands of a study: make the inputs of a function, call it, save and show its result."""

import ast
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from headscope import catalog
from headscope.cli.errors import INTERRUPTED, numbers_kept, user_errors
from headscope.cli.functions import Function, names, read
from headscope.cli.inputs import made, options_of
from headscope.cli.options import shared

ALWAYS = {"json", "debug"}


def command(study: str) -> Callable[..., None]:
    """The command that runs a study and writes its result, its figures and its page."""
    function = read(study, "study", "run")
    inputs = {"directory": False} | dict(function.inputs)
    return _command(function, inputs, _defaults(study), partial(_run_study, study, function, inputs))


def verbs(study: str) -> dict[str, Callable[..., None]]:
    """The further commands of a study: the functions of its `commands.py`, which return what is printed."""
    found = [read(study, "commands", name) for name in names(study, "commands")]
    return {each.name: _command(each, each.inputs, {}, partial(_run_verb, study, each)) for each in found}


def _defaults(study: str) -> dict[str, Any]:
    """A study's own defaults of shared options: `OPTIONS` of its `study.py`, read from its source."""
    parts = ast.parse((catalog.ROOT / "studies" / study / "study.py").read_text(encoding="utf-8")).body
    assigned = [part for part in parts if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "OPTIONS"]
    return ast.literal_eval(assigned[0].value) if assigned else {}


def _command(
    function: Function, inputs: Mapping[str, bool], defaults: Mapping[str, Any], call: Callable[[dict[str, Any]], None]
) -> Callable[..., None]:
    """A command with the shared options of the inputs, then the options of the function."""

    def run(**given: Any) -> None:
        with user_errors(given["debug"]):
            call(given)

    wanted = options_of(inputs) | ALWAYS
    options = inspect.signature(shared, eval_str=True).parameters.items()
    parameters = [each.replace(default=defaults.get(name, each.default)) for name, each in options if name in wanted]
    parameters = (
        [*function.options.values(), *parameters]
        if function.name != "run"
        else [*parameters, *function.options.values()]
    )
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = function.summary
    return run


def _run_study(study: str, function: Function, inputs: Mapping[str, bool], given: dict[str, Any]) -> None:
    from headscope import report, results
    from headscope.cli.terminal import as_json, print_page, print_result, progress_bar

    given["out"] = given["out"] or Path("out") / study
    ready = made(inputs, given)
    directory = ready["directory"] if "directory" in function.inputs else ready.pop("directory")
    with progress_bar(study, _examples(ready)) as (progress, expect):
        ready["settings"] = replace(ready["settings"], on_progress=progress, on_total=expect, keep_interrupted=True)
        result = function.load()(**ready, **{name: given[name] for name in function.options})
    saved = results.save(result, directory)
    with numbers_kept(saved, given["debug"]):
        if given["json"]:
            typer.echo(json.dumps(as_json(result, directory / "report.html"), allow_nan=False))
        else:
            print_result(result)
        page = report.write(result, directory)
        if not given["json"]:
            print_page(result, page)
    if "interrupted" in result.attrs:
        raise typer.Exit(INTERRUPTED)


def _run_verb(study: str, function: Function, given: dict[str, Any]) -> None:
    from headscope.cli.terminal import in_lines, progress_bar, without_nan

    given["out"] = given.get("out") or Path("out") / study
    ready = made(function.inputs, given)
    with progress_bar(function.name, None) as (progress, expect):
        if "settings" in ready:
            ready["settings"] = replace(ready["settings"], on_progress=progress, on_total=expect)
        found = function.load()(**ready, **{name: given[name] for name in function.options})
    typer.echo(json.dumps(without_nan(found)) if given["json"] else in_lines(found))


def _examples(ready: dict[str, Any]) -> int | None:
    """The number of examples that a pass reads; None where the study will say."""
    if "corpus" in ready:
        return ready["corpus"].n_examples
    if "corpora" in ready:
        return sum(corpus.n_examples for corpus in ready["corpora"])
    return ready["task"].dev.n_examples if ready.get("task") else None
