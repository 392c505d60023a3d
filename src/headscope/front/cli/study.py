"""The commands of a study: make the inputs of a function, call it, save and show its result."""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import typer

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.front.cli.compute import LEFT_OUT, compute, function_of, refuse_standard_input, shown
from headscope.front.cli.errors import INTERRUPTED, WORDS, UsageError, notice, numbers_kept, usage_line, user_errors
from headscope.front.cli.options import DEFAULTS, SHARED, shared
from headscope.front.cli.output_folder import default_folder, formats, output_folder
from headscope.front.cli.parameters import as_words, parameters, with_parameters
from headscope.front.cli.printing import print_json
from headscope.front.inputs import ATTRIBUTE, from_options, made_from, options_of
from headscope.front.progress import Clock, drawing_bar, progress_bar
from headscope.front.signatures import Function, names, read, read_from

Call = Callable[[dict[str, Any], list[str]], None]
# Why a study runs anew in a folder that has its result.
OTHER_COMMAND = "the command was another"
# Folders of a run that is not done, and files of one that has done nothing.
KEPT, BEGUN = (".headscope.*", "runs"), {"settings.json", "digests"}
ALWAYS = {"json", "debug"}
OF_TOOLS = ALWAYS | {"quiet"}
OF_STUDIES = OF_TOOLS | {"figures", "no_figures", "overwrite", "engine", "address", "gpus_per_worker"}


def command(study: str) -> Callable[..., None]:
    """The command that runs a study and writes its result, its figures and its page."""
    return command_calling(study, partial(_run_study, study))


def command_calling(study: str, call: Call) -> Callable[..., None]:
    """A command with the options of a study. It calls a function with their values and the words of the line."""
    declared, (function, inputs) = catalog.study(study), function_of(study)
    defaults = dict(declared.options)
    return _command(function, inputs, call, OF_STUDIES, defaults=defaults, without=declared.without)


def parsed(study: str, words: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """The parser of a study's command, and the values of all options."""
    values: dict[str, Any] = {}
    app = typer.Typer(add_completion=False)  # else --install-completion would write a file of the shell
    app.command()(command_calling(study, lambda options, _: values.update(options)))
    parser = typer.main.get_command(app)
    try:
        parser.main([*words[1:]], standalone_mode=False)
    except UsageError as error:
        raise HeadscopeError(
            f"the saved command is not one of this version: {usage_line(error)}; run the study again"
        ) from error
    if not values:
        raise HeadscopeError("the saved command only prints help; run the study again")
    return parser, values


def verbs(study: str) -> dict[str, Callable[..., None]]:
    """The further commands of a study: the functions of its `commands.py`, which return what is printed."""
    functions = [read(study, "commands", name) for name in names(study, "commands")]
    return {verb.name: _command(verb, verb.inputs, partial(_run_verb, study, verb)) for verb in functions}


def tool(file: str, name: str) -> Callable[..., None]:
    """The command of a function outside of the studies, which returns what is printed."""
    function = read_from(file, name)
    return _command(function, function.inputs, partial(_run_verb, name, function), OF_TOOLS)


def _command(
    function: Function,
    inputs: Mapping[str, str],
    call: Call,
    further: Iterable[str] = ALWAYS,
    *,
    defaults: Mapping[str, Any] = MappingProxyType({}),
    without: Iterable[str] = (),
) -> Callable[..., None]:
    """A command with the options of the function, and the shared options of its inputs and `further` ones."""

    def run(command_context: typer.Context, **values: Any) -> None:
        with user_errors(values["debug"]):
            call(values, command_context.meta.get(WORDS, []))

    wanted = {*options_of(inputs), *further} - {*without}
    common = [shared(name) for name in SHARED if name in wanted]
    common = [option.replace(default=defaults.get(option.name, option.default)) for option in common]
    options = parameters(function)
    context = inspect.Parameter("command_context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    run.__doc__ = function.summary
    return with_parameters(run, [context, *options.values(), *common])


def _run_study(study: str, values: dict[str, Any], words: list[str]) -> None:
    values["figures"] = formats(values["figures"], values["no_figures"])
    models = [values["model"]] if "model" in values else values.get("models") or values.get("steps") or []
    values["out"] = values["out"] or default_folder(catalog.command_name(study), models)
    refuse_standard_input(values)
    with output_folder(values["out"], study, overwrite=values["overwrite"], on_no_lock=notice):
        if not (values["overwrite"] or values.get("brief")):
            refuse_other_run(study, values)
        try:
            _run_in_folder(study, values, words)
        except KeyboardInterrupt:
            files = {file.name for kept in KEPT for file in values["out"].glob(f"{kept}/**/*") if file.is_file()}
            remedy = f"what was done is kept in '{values['out']}'; start the same command again to resume from there"
            raise KeyboardInterrupt(remedy if files - BEGUN else "nothing was done yet") from None


def refuse_other_run(study: str, values: Mapping[str, Any]) -> None:
    """Raise `HeadscopeError` if the folder has the result of another run: of another model, text or setting."""
    if not (values["out"] / "result.nc").exists():
        return
    from headscope import results

    attributes = results.attributes_of(values["out"])
    if "interrupted" in attributes:  # its journal says whether it is the same run
        return
    words = json.loads(attributes.get("command", "[]"))
    former = parsed(study, words)[1] if words else {}
    name = next((name for name in values if name not in LEFT_OUT and str(former.get(name)) != str(values[name])), "")
    if name:
        was, now = ("none" if value is None else value for value in (former.get(name), values[name]))
        run = f"a run with {name.replace('_', ' ')} {was}, not {now}" if former else "a run in Python"
        remedy = "choose another folder with -o, or replace it with --overwrite"
        raise HeadscopeError(f"folder '{values['out']}' has the result of {run}; {remedy}")


def shared_words(study: str, values: Mapping[str, Any], without: Iterable[str]) -> list[str]:
    """The shared options that a study has, where a value is not the default, as words; `without`: those left out."""
    options = {*options_of(function_of(study)[1]), *OF_STUDIES} - {*without}
    return as_words({name: value for name, value in values.items() if name in options and value != DEFAULTS[name]})


def run_brief(study: str, words: list[str]) -> None:
    """Run the command of a study with these words, and print no table of its result."""
    _, values = parsed(study, words)
    _run_study(study, values | {"brief": True}, words)


def run_or_keep(study: str, words: list[str], anew: str | None, say: Callable[[str], None]) -> None:
    """Run the command of a study if `anew` gives a reason; else write the page of its result, unless it is complete."""
    from headscope import report

    if anew is not None:
        if anew == OTHER_COMMAND:
            refuse_other_run(study, parsed(study, words)[1])
        say(f"; run again: {anew}" if anew else "")
        run_brief(study, words)
        return
    _, values = parsed(study, words)
    has_page = report.is_whole(values["out"])
    say(" is kept" if has_page else " is kept; its page is written")
    if not has_page:
        files = formats(values["figures"], values["no_figures"])
        with output_folder(values["out"], study, overwrite=False, on_no_lock=notice):
            with numbers_kept(values["out"] / "result.nc", values["debug"]):
                report.rebuild(values["out"], formats=files)


def _run_in_folder(study: str, values: dict[str, Any], words: list[str]) -> None:
    clock, quiet, files, directory = Clock(), values["quiet"], values["figures"], values["out"]
    computed = compute(study, values, clock)
    result, ready, journal = computed.result, computed.inputs, computed.journal
    from headscope import results

    result.attrs["command"] = json.dumps(words)
    maps = values.get("examples") and "interrupted" not in result.attrs
    provenance = {ATTRIBUTE: json.dumps(made_from(values, ready))}
    # Without its maps a result is not whole, and so not kept.
    saved = results.save(result if maps else result.assign_attrs(provenance), directory)
    with numbers_kept(saved, values["debug"]):
        from headscope import report
        from headscope.front.cli import terminal

        if maps:
            from headscope.passes.attention_maps import with_maps_of

            result = with_maps_of(result, ready, values["examples"])
            results.save(result.assign_attrs(provenance), directory)
        if "interrupted" not in result.attrs:
            journal.remove()
        clock.stop(study)
        if values["json"]:
            print_json(terminal.as_json(result, directory / "report.html"))
        elif not quiet and not values.get("brief"):
            terminal.print_result(result)
        drawing = "page and figures" if files else "page"
        with drawing_bar(drawing, show=shown(quiet)) as on_figure:
            mark = report.mark(directory, files)
            page = report.write(result, directory, formats=files, on_figure=on_figure, made_of=mark)
        clock.stop(drawing)
        if not values["json"] and not quiet and not values.get("brief"):
            terminal.print_end(result, directory, page, str(clock))
    if "interrupted" in result.attrs:
        raise typer.Exit(INTERRUPTED)


def _run_verb(study: str, function: Function, values: dict[str, Any], words: list[str]) -> None:
    from headscope.front.cli.terminal import in_lines

    values["out"] = values.get("out") or Path("out") / study
    ready = from_options(function.inputs, values)
    quiet = values.get("quiet", False)
    with progress_bar(function.name, None, show=shown(quiet)) as (progress, expect):
        if "settings" in ready:
            ready["settings"] = replace(ready["settings"], on_progress=progress, on_total=expect)
        outcome = function.load()(**ready, **{name: values[name] for name in function.options})
    if values["json"]:
        print_json(outcome)
    elif not quiet:
        typer.echo(in_lines(outcome))
