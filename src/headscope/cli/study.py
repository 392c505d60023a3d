"""The command of a study: make its inputs, run, save, report."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import typer

from headscope import catalog
from headscope.cli import options
from headscope.cli.errors import INTERRUPTED, mended
from headscope.cli.inputs import NEEDS, RUNNING, made, options_of
from headscope.cli.terminal import as_json, print_result, progress_bar


def placeholder(study: str) -> Callable[[], None]:
    """A command without options, for the list of commands."""
    return lambda: None


def command(study: str) -> Callable[..., None]:
    """The command of a study: the shared options that its inputs ask for, and those that only its `run` has."""
    module = catalog.load("studies", study)
    hints = get_type_hints(module.run, include_extras=True)
    parameters = inspect.signature(module.run).parameters
    inputs = {name: parameter.default is None for name, parameter in parameters.items() if name in NEEDS}
    own = [parameter.replace(annotation=hints[name]) for name, parameter in parameters.items() if name not in NEEDS]

    def run(**given: Any) -> None:
        extra = {parameter.name: given.pop(parameter.name) for parameter in own}
        with mended(given["debug"]):
            _run(study, module.run, inputs, extra, given)

    wanted = options_of(inputs)
    shared = inspect.signature(_shared, eval_str=True).parameters.values()
    chosen = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in (*(each for each in shared if each.name in wanted), *own)
    ]
    run.__signature__ = inspect.Signature(chosen)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in chosen}
    return run


def _shared(  # noqa: PLR0913 (each is an option of the command line)
    *,
    model: options.Model = "minilm",
    models: options.Models,
    corpus: options.Source = "sample",
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


def _run(study: str, run: Callable, inputs: dict[str, bool], extra: dict[str, Any], given: dict[str, Any]) -> None:
    from headscope import report, results
    from headscope.engine import Settings

    given["out"] = given["out"] or Path("out") / study
    ready = made({"directory": False} | inputs, given)
    directory = ready["directory"] if "directory" in inputs else ready.pop("directory")
    with progress_bar(study, _examples(ready)) as (progress, expect):
        chosen = {name: given[name] for name in RUNNING if name in given}
        ready["settings"] = Settings(**chosen, progress=progress, expect=expect, keep_interrupted=True)
        result = run(**ready, **extra)
    results.save(result, directory)
    page = report.write(result, directory)
    if given["json"]:
        typer.echo(json.dumps(as_json(result, page), allow_nan=False))
    else:
        print_result(result, page)
    if "interrupted" in result.attrs:
        raise typer.Exit(INTERRUPTED)


def _examples(ready: dict[str, Any]) -> int | None:
    """How many examples a pass reads; None where the study will say."""
    if "corpus" in ready:
        return ready["corpus"].n_examples
    return ready["task"].dev.n_examples if ready.get("task") else None
