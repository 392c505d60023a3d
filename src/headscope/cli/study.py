"""The command of a study: make its inputs, run, save, report."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from headscope import catalog
from headscope.cli import options
from headscope.cli.commands import Function, asked_for, functions
from headscope.cli.errors import INTERRUPTED, mended, numbers_kept
from headscope.cli.inputs import RUNNING, made, options_of
from headscope.cli.terminal import as_json, in_lines, print_page, print_result, progress_bar, without_nan


def placeholder(study: str) -> Callable[[], None]:
    """A command without options, for the list of commands."""
    return lambda: None


def command(study: str) -> Callable[..., None]:
    """The command of a study: the shared options that its inputs ask for, and those that only it has.

    A study's `OPTIONS` are its own defaults of shared options; for `INSTEAD` see `headscope.cli.commands`.
    """
    module = catalog.load("studies", study)
    known = functions(module)

    def run(**given: Any) -> None:
        with mended(given["debug"]):
            chosen = asked_for(known, given)
            extra = {name: given[name] for name in chosen.own}
            (_run if chosen is known[0] else _run_instead)(study, chosen, extra, given)

    shared = inspect.signature(_shared, eval_str=True).parameters
    wanted = set().union(*(options_of(each.inputs) for each in known))
    defaults = getattr(module, "OPTIONS", {})
    parameters = [
        each.replace(default=defaults.get(name, each.default)) for name, each in shared.items() if name in wanted
    ]
    parameters += {name: each for function in known for name, each in function.own.items()}.values()
    chosen = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    run.__signature__ = inspect.Signature(chosen)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in chosen}
    return run


def _shared(  # noqa: PLR0913 (each is an option of the command line)
    *,
    model: options.Model = "minilm",
    models: options.Models,
    corpus: options.Source = "sample",
    corpora: options.Sources = None,
    other: options.Other = None,
    out: options.Out = None,
    kind: options.Kind = None,
    columns: options.Columns = None,
    task: options.Task = None,
    data: options.Data = None,
    regression: options.Regression = None,
    split: options.Split = None,
    segment: options.Segment = 128,
    limit: options.Limit = None,
    training: options.Training = None,
    training_limit: options.TrainingLimit = None,
    skip_bad: options.SkipBad = False,
    annotate: options.Annotate = None,
    long: options.Long = "skip",
    seed: options.Seed = 0,
    device: options.Device = None,
    dtype: options.Dtype = "float32",
    batch_tokens: options.BatchTokens = 2048,
    resamples: options.Resamples = 1000,
    revision: options.Revision = None,
    remote_code: options.RemoteCode = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """The options that studies share."""


def _run(study: str, function: Function, extra: dict[str, Any], given: dict[str, Any]) -> None:
    from headscope import report, results
    from headscope.engine import Settings

    given["out"] = given["out"] or Path("out") / study
    ready = made({"directory": False} | dict(function.inputs), given)
    directory = ready["directory"] if "directory" in function.inputs else ready.pop("directory")
    with progress_bar(study, _examples(ready)) as (progress, expect):
        ready["settings"] = Settings(**_running(given), on_progress=progress, on_total=expect, keep_interrupted=True)
        result = function.call(**ready, **extra)
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


def _run_instead(study: str, function: Function, extra: dict[str, Any], given: dict[str, Any]) -> None:
    from headscope.engine import Settings

    given["out"] = given["out"] or Path("out") / study
    ready = made(function.inputs, given)
    with progress_bar(function.name, None) as (progress, expect):
        if "settings" in function.inputs:
            ready["settings"] = Settings(**_running(given), on_progress=progress, on_total=expect)
        found = function.call(**ready, **extra)
    typer.echo(json.dumps(without_nan(found)) if given["json"] else in_lines(found))


def _running(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in RUNNING if name in given}


def _examples(ready: dict[str, Any]) -> int | None:
    """How many examples a pass reads; None where the study will say."""
    if "corpus" in ready:
        return ready["corpus"].n_examples
    if "corpora" in ready:
        return sum(corpus.n_examples for corpus in ready["corpora"])
    return ready["task"].dev.n_examples if ready.get("task") else None
