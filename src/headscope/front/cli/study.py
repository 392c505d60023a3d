"""The commands of a study: make the inputs of a function, call it, save and show its result."""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import typer

from headscope import catalog
from headscope.front.cli.clock import Clock
from headscope.front.cli.cluster import engine_of, refuse_standard_input
from headscope.front.cli.errors import INTERRUPTED, notice, numbers_kept, user_errors
from headscope.front.cli.formats import formats
from headscope.front.cli.former_names import hidden, renamed
from headscope.front.cli.journal import FOLDER, journal_of
from headscope.front.cli.json_output import print_json
from headscope.front.cli.metavars import with_metavars
from headscope.front.cli.options import shared
from headscope.front.cli.output_folder import output_folder
from headscope.front.cli.parameters import parameters
from headscope.front.cli.progress import loading
from headscope.front.cli.usage import WORDS
from headscope.front.inputs import from_options, options_of
from headscope.front.progress import n_inputs, progress_bar
from headscope.front.signatures import Function, names, read, read_from

Call = Callable[[dict[str, Any], list[str]], None]
ALWAYS = {"json", "debug"}
OF_TOOLS = ALWAYS | {"quiet"}
OF_STUDIES = OF_TOOLS | {"figures", "no_figures", "overwrite", "engine", "address", "gpus_per_worker"}


@dataclass(frozen=True)
class Computed:
    """The result of a study, the inputs that it was made from, and its journal."""

    result: Any
    inputs: dict[str, Any]
    journal: Any


def command(study: str) -> Callable[..., None]:
    """The command that runs a study and writes its result, its figures and its page."""
    return command_calling(study, partial(_run_study, study))


def command_calling(study: str, call: Call) -> Callable[..., None]:
    """A command with the options of a study that calls a function with their values, and with the words of its line."""
    constants = (catalog.constant("studies", study, name) or () for name in ("OPTIONS", "WITHOUT", "FORMER"))
    options, without, former = constants
    function, inputs = _function_of(study)
    return _command(function, inputs, call, OF_STUDIES, defaults=dict(options), without=without, former=dict(former))


def _function_of(study: str) -> tuple[Function, dict[str, str]]:
    """The function of a study and its inputs, with a folder for the result."""
    function = read(study, "study", "run")
    return function, {"directory": "Directory"} | dict(function.inputs)


def verbs(study: str) -> dict[str, Callable[..., None]]:
    """The further commands of a study: the functions of its `commands.py`, which return what is printed."""
    functions = [read(study, "commands", name) for name in names(study, "commands")]
    return {each.name: _command(each, each.inputs, partial(_run_verb, study, each)) for each in functions}


def tool(place: str, name: str) -> Callable[..., None]:
    """The command of a function outside of the studies, which returns what is printed."""
    function = read_from(place, name)
    return _command(function, function.inputs, partial(_run_verb, name, function), OF_TOOLS)


def _command(
    function: Function,
    inputs: Mapping[str, str],
    call: Call,
    further: Iterable[str] = ALWAYS,
    *,
    defaults: Mapping[str, Any] = MappingProxyType({}),
    without: Iterable[str] = (),
    former: Mapping[str, str] = MappingProxyType({}),
) -> Callable[..., None]:
    """A command with the options of the function, and the shared options of its inputs and `further` ones.

    * `without`: shared options that it does not have.
    * `former`: former names of options, and the names of today.
    """

    def run(command_context: typer.Context, **given: Any) -> None:
        with user_errors(given["debug"]):
            call(renamed(given, former), command_context.meta.get(WORDS, []))

    wanted = {*options_of(inputs), *further} - {*without}
    options = inspect.signature(shared).parameters.items()
    common = [each.replace(default=defaults.get(name, each.default)) for name, each in options if name in wanted]
    own = parameters(function)
    context = inspect.Parameter("command_context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    old = [hidden(own[new], name) for name, new in former.items()]
    ordered = [context, *own.values(), *old, *common]
    run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
    run.__doc__ = function.summary
    return with_metavars(run)


def _run_study(study: str, given: dict[str, Any], words: list[str]) -> None:
    given["figures"] = formats(given["figures"], given["no_figures"])
    given["out"] = given["out"] or Path("out") / catalog.command_name(study)
    refuse_standard_input(given)
    with output_folder(given["out"], study, overwrite=given["overwrite"], on_no_lock=notice):
        _run_in_folder(study, given, words)


def compute(study: str, given: dict[str, Any], clock: Clock) -> Computed:
    """Make the inputs of a study, and run it."""
    (function, inputs), quiet = _function_of(study), given["quiet"]
    show = False if quiet else None
    with loading("reading", quiet=quiet):
        ready = from_options(inputs, given | {"kept": given["out"] / FOLDER})
    clock.stop("loading")
    if "directory" not in function.inputs:
        ready.pop("directory")
    bar = progress_bar(study, n_inputs(ready), show=show)
    with bar as (progress, expect):
        on_notice = (lambda line: None) if quiet else notice
        journal = journal_of(study, given, ready, on_notice)
        run = {"on_progress": progress, "on_total": expect, "on_notice": on_notice}
        run |= {"keep_interrupted": True, "journal": journal}
        options = {name: given[name] for name in function.options}

        with engine_of(study, given) as engine:
            settings = replace(ready["settings"], **run, engine=engine)
            result = function.load()(**ready | {"settings": settings}, **options)
    return Computed(result, ready, journal)


def _run_in_folder(study: str, given: dict[str, Any], words: list[str]) -> None:
    clock, quiet, files, directory = Clock(), given["quiet"], given["figures"], given["out"]
    show = False if quiet else None
    computed = compute(study, given, clock)
    result, ready, journal = computed.result, computed.inputs, computed.journal
    from headscope import report, results
    from headscope.front.cli import terminal

    result.attrs["command"] = json.dumps(words)
    saved = results.save(result, directory)
    with numbers_kept(saved, given["debug"]):
        if given.get("examples") and "interrupted" not in result.attrs:
            from headscope.passes.typical_inputs import with_maps_of

            result = with_maps_of(result, ready, given["examples"])
            results.save(result, directory)
        if "interrupted" not in result.attrs:
            journal.remove()
        clock.stop(study)
        if given["json"]:
            print_json(terminal.as_json(result, directory / "report.html"))
        elif not quiet:
            terminal.print_result(result)
        drawing = "page and figures" if files else "page"
        with progress_bar(drawing, None, show=show) as (progress, expect):
            page = report.write(result, directory, formats=files, on_figure=partial(_on_figure, progress, expect))
        clock.stop(drawing)
        if not given["json"] and not quiet:
            terminal.print_end(result, directory, page, str(clock))
    if "interrupted" in result.attrs:
        raise typer.Exit(INTERRUPTED)


def _run_verb(study: str, function: Function, given: dict[str, Any], words: list[str]) -> None:
    from headscope.front.cli.terminal import in_lines

    given["out"] = given.get("out") or Path("out") / study
    ready = from_options(function.inputs, given)
    quiet = given.get("quiet", False)
    with progress_bar(function.name, None, show=False if quiet else None) as (progress, expect):
        if "settings" in ready:
            ready["settings"] = replace(ready["settings"], on_progress=progress, on_total=expect)
        outcome = function.load()(**ready, **{name: given[name] for name in function.options})
    if given["json"]:
        print_json(outcome)
    elif not quiet:
        typer.echo(in_lines(outcome))


def _on_figure(progress: Callable[[int], None], expect: Callable[[int], None], done: int, total: int) -> None:
    if done == 1:
        expect(total)
    progress(1)
