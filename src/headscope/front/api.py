"""The studies as Python functions: a model or a corpus may be a name, a path, or an object of another library."""

import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any, get_args

import xarray as xr

from headscope import catalog, results
from headscope.corpora.options import Options
from headscope.front.arguments import bound
from headscope.front.inputs import from_values
from headscope.front.progress import OnProgress, n_inputs, progress_bar, timed
from headscope.front.signatures import Argument, documented, read
from headscope.passes.settings import Settings
from headscope.ranges import SETTINGS
from headscope.results.changes import changes
from headscope.storage.files import opening
from headscope.storage.run_lock import run_lock

Study = Callable[..., xr.Dataset]
EXAMPLES = 3
ARGUMENT_LINES = re.compile(r"(?<=Arguments:\n\n)(?:^\* `.*\n?(?:  .*\n?)*)+", re.MULTILINE)
# Of arguments that most studies have; the docstring of a study says where one is another.
INPUTS = {
    "model": "Model to measure.",
    "corpus": "Examples to read.",
    "settings": "Seed, batch size, number of resamples, and progress.",
}
ARGUMENTS = {
    "examples": "Typical inputs whose attention maps are kept for the page; 0 for none.",
    "tokenizer": "Tokenizer of a Hugging Face model that is given as an object.",
    "labels": "Of texts that are given as the task, one for each: a half trains, the other half scores.",
    "progress": "True or False for a progress bar, or a function that is called instead.",
}
BY_NAME = "* The fields of `headscope.Settings`, such as `seed` and `workers`, can also be given by name."


def study(name: str) -> Study:
    """The function of a study; it accepts names and paths instead of models and corpora.

    * A model: what `headscope.load` returns, a name, a folder, a Hugging Face model together with the argument
      `tokenizer`, or a `SentenceTransformer`.
    * A corpus: whatever `headscope.read` reads. Several corpora are given as a tuple.
    * Several models: a tuple, or one after the other: `headscope.compare(before, after, corpus)`. Two results, or their
      folders, in the place of models and corpus: the change of each number.
    * `seed`, `batch_tokens`, `workers` and the other fields of `headscope.Settings`, by name.
    * `examples`: typical inputs whose attention maps are kept for the atlas of the page; 0 for none.
    * `progress`: show progress bars; by default only in a terminal or a notebook. A function is called in their place:
      with the name of a phase, the number of inputs that are done, and their total (None: not known yet).

    >>> study("profile")("minilm", ["It rained.", "We stayed in."])["entropy"].dims
    ('layer', 'head')
    """
    function = read(name, "study", "run")
    run, names = function.load(), {kind: name for name, kind in function.inputs.items()}
    signature = inspect.signature(run)
    measured = not names.keys().isdisjoint(("Model", "tuple[Model, ...]"))
    labelled = not names.keys().isdisjoint(("Task", "tuple[Task, ...]"))

    @opening()
    @wraps(run)
    def call(*args: Any, tokenizer: Any = None, progress: bool | OnProgress | None = None, **kwargs: Any) -> xr.Dataset:
        if "tuple[Model, ...]" in names and len(args) == 2 and all(map(_is_result, args)):
            return changes(*(results.read(result) if isinstance(result, str | Path) else result for result in args))
        args, labels = _models_together(args, names), kwargs.pop("labels", None) if labelled else None
        examples = kwargs.pop("examples", EXAMPLES) if measured else 0
        for kind in ("Loading", "StepLoading"):
            if kind in names:
                kwargs.setdefault(names[kind], {})
        kwargs, changed = _told_apart(kwargs, signature.parameters)
        if of_corpus := sorted(kwargs.keys() & {field.name for field in fields(Options)} - signature.parameters.keys()):
            option = of_corpus[0]
            raise TypeError(f"headscope.{name}: give '{option}' to the corpus: headscope.read(corpus, {option}=...)")
        accepted = [*inspect.signature(call).parameters, *SETTINGS, "long"]
        arguments = bound(name, signature, args, kwargs, accepted).arguments
        options = {
            key: _option(key, arguments[key], option) for key, option in function.options.items() if key in arguments
        }
        defaults = {key: parameter.default for key, parameter in signature.parameters.items()}
        catalog.require_for(name, defaults | arguments)
        with ExitStack() as stack:
            if "Directory | None" in names and arguments.get("directory") is None:
                arguments["directory"] = stack.enter_context(TemporaryDirectory(prefix="headscope-"))
            elif folder := arguments.get("directory"):
                stack.enter_context(run_lock(Path(folder), f"headscope.{name}"))
            with progress_bar("loading", 1, show=progress, leave=False) as (advance, _):
                inputs = from_values(function.inputs, arguments, tokenizer=tokenizer, labels=labels)
                advance(1)
            with progress_bar(name, n_inputs(inputs), show=progress) as (advance, expect):
                settings = replace(arguments.get("settings", signature.parameters["settings"].default), **changed)
                result = timed(run, **inputs | options | {"settings": _with_bar(settings, advance, expect)})
            return _with_maps(result, inputs, examples) if examples else result

    more = ({"examples": EXAMPLES} if measured else {}) | ({"labels": None} if labelled else {})
    more |= {"tokenizer": None, "progress": None}
    parameters = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value) for key, value in more.items()]
    call.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *parameters])  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = name
    helps = INPUTS | ARGUMENTS | documented(inspect.getdoc(run) or "")
    helps |= {key: option.help for key, option in function.options.items()}
    call.__doc__ = documentation(name, run.__doc__ or "", {key: helps[key] for key in (*signature.parameters, *more)})
    return call


def documentation(name: str, docstring: str, helps: Mapping[str, str]) -> str:
    """The docstring of a study as a function of the package, with the help of all arguments; examples can be pasted.

    >>> print(documentation("profile", "Measure.\\n\\nArguments:\\n\\n* `full`: All.", {"full": "All."}))
    Measure.
    <BLANKLINE>
    Arguments:
    <BLANKLINE>
    * `full`: All.
    * The fields of `headscope.Settings`, such as `seed` and `workers`, can also be given by name.
    <BLANKLINE>
    """
    text = inspect.cleandoc(docstring)
    block = ARGUMENT_LINES.search(text)
    start, end = block.span() if block else (len(text), len(text))
    lines = [f"* `{name}`: {help}" for name, help in helps.items()]
    lines = [fill(line, 116, subsequent_indent="  ", break_on_hyphens=False) for line in lines]
    text = text[:start] + "\n".join([*lines, BY_NAME]) + f"\n{text[end:]}"
    text = re.sub(r"(?<![\w.])run\(", f"headscope.{name}(", text)
    return re.sub(r"^>>> ", ">>> import headscope\n>>> ", text, count=1, flags=re.MULTILINE)


def _is_result(value: Any) -> bool:
    """Whether a value is a result, or the folder of one."""
    return isinstance(value, xr.Dataset) or (isinstance(value, str | Path) and (Path(value) / "result.nc").is_file())


def _models_together(args: tuple[Any, ...], names: dict[str, str]) -> tuple[Any, ...]:
    """The positional arguments; of a study of several models those before the last one, a corpus, as one tuple."""
    several = names.keys() & {"tuple[Model, ...]", "Steps"}
    if not several or len(args) < 3 or isinstance(args[0], tuple | list):
        return args
    return (args[:-1], args[-1])


def _told_apart(keywords: dict[str, Any], parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keywords of a study itself, and those that are fields of its settings."""
    names = {field.name for field in fields(Settings)} - parameters.keys()
    settings = {name: value for name, value in keywords.items() if name in names}
    return {name: value for name, value in keywords.items() if name not in names}, settings


def _with_bar(settings: Settings, advance: Callable[[int], None], expect: Callable[[int], None]) -> Settings:
    """The settings, whose own functions are called before those of a bar."""

    def on_progress(done: int) -> None:
        settings.on_progress(done)
        advance(done)

    def on_total(total: int) -> None:
        settings.on_total(total)
        expect(total)

    return replace(settings, on_progress=on_progress, on_total=on_total)


def _with_maps(result: xr.Dataset, inputs: dict[str, Any], number: int) -> xr.Dataset:
    """The result with the maps of typical inputs, unless it was interrupted."""
    from headscope.passes.attention_maps import with_maps_of

    return result if "interrupted" in result.attrs else with_maps_of(result, inputs, number)


def _option(name: str, value: Any, argument: Argument) -> Any:
    """The value of an option; of a path as such. Raises `HeadscopeError` for a number out of its range."""
    if value is None:
        return None
    if argument.bounds:
        argument.bounds.check(name, value)
    return Path(value) if Path in (argument.kind, *get_args(argument.kind)) else value
