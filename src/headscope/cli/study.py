"""The command of a study: read the corpus, load the model, run, save, report."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import typer

from headscope import catalog
from headscope.cli import options
from headscope.cli.errors import INTERRUPTED, mended
from headscope.cli.terminal import as_json, print_result, progress_bar
from headscope.errors import HeadscopeError

# What every study's `run` takes; what it takes beyond becomes an option of its command.
SHARED = ("model", "corpus", "settings")


def placeholder(study: str) -> Callable[[], None]:
    """A command without options, for the list of commands."""
    return lambda: None


def command(study: str) -> Callable[..., None]:
    """The command of a study: the shared options, and those that only its `run` has."""
    module = catalog.load("studies", study)
    hints = get_type_hints(module.run, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(module.run).parameters.items()
        if name not in SHARED
    ]

    def run(**given: Any) -> None:
        extra = {parameter.name: given.pop(parameter.name) for parameter in own}
        with mended(given.pop("debug")):
            _run(study, module.run, extra, **given)

    shared = inspect.signature(_shared, eval_str=True).parameters.values()
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*shared, *own)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _shared(  # noqa: PLR0913 (each is an option of the command line)
    model: options.Model = "minilm",
    corpus: options.Source = "sample",
    out: options.Out = None,
    kind: options.Kind = None,
    columns: options.Columns = None,
    task: options.Task = None,
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
    """The signature that all studies share."""


READING = ("kind", "columns", "task", "split", "segment", "limit", "skip_bad", "annotate")
LOADING = ("device", "dtype", "revision", "remote_code")
RUNNING = ("long", "seed", "batch_tokens", "resamples")


def _run(study: str, run: Callable, extra: dict[str, Any], **given: Any) -> None:
    """Whatever is wrong with the folder, the corpus or the model is said in this order, before anything is computed."""
    from headscope import corpora, models, report, results
    from headscope.engine import Settings
    from headscope.models.checkpoint import locate
    from headscope.models.words import offsets_of

    directory = _writable(given["out"] or Path("out") / study)
    checkpoint = locate(given["model"], revision=given["revision"], remote_code=given["remote_code"])
    chosen = corpora.Options(**{name: given[name] for name in READING})
    corpus = corpora.read(given["corpus"], chosen, offsets=offsets_of(checkpoint))
    model = models.load(given["model"], **{name: given[name] for name in LOADING})
    with progress_bar(study, corpus.n_examples) as progress:
        settings = Settings(**{name: given[name] for name in RUNNING}, progress=progress, keep_interrupted=True)
        result = run(model, corpus, settings, **extra)
    results.save(result, directory)
    page = report.write(result, directory)
    if given["json"]:
        typer.echo(json.dumps(as_json(result, page), allow_nan=False))
    else:
        print_result(result, page)
    if "interrupted" in result.attrs:
        raise typer.Exit(INTERRUPTED)


def _writable(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / ".headscope").touch()
        (directory / ".headscope").unlink()
    except OSError as error:
        raise HeadscopeError(
            f"folder '{directory}' cannot be written to: {error.strerror}; choose another with -o"
        ) from error
    return directory
