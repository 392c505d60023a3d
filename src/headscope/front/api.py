"""The studies as Python functions: a model or a corpus may be a name, a path, or an object of another library."""

import inspect
import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import xarray as xr

from headscope import catalog, corpora
from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.front.progress import n_inputs, progress_bar
from headscope.passes.settings import Settings
from headscope.ranges import Range
from headscope.storage.files import opening
from headscope.storage.run_lock import run_lock

Study = Callable[..., xr.Dataset]
EXAMPLES = 3
ALLOWED = "use a name, a folder, a Hugging Face model with tokenizer=, or a SentenceTransformer"


def study(name: str) -> Study:
    """The function of a study; it accepts names and paths in the place of models and corpora.

    * A model: what `headscope.load` returns, a name, a folder, a Hugging Face model together with the argument
      `tokenizer`, or a `SentenceTransformer`.
    * A corpus: whatever `headscope.read` reads. Several corpora are given as a tuple.
    * `examples`: typical inputs whose attention maps are kept for the atlas of the page; 0 for none.
    * `progress`: show progress bars; by default only in a terminal or a notebook.

    >>> study("profile")("minilm", ["It rained.", "We stayed in."])["entropy"].dims
    ('layer', 'head')
    """
    run = catalog.load("studies", name).run
    signature, hints = inspect.signature(run), get_type_hints(run, include_extras=True)

    measured = bool({"model", "models"} & hints.keys()) and "suites" not in hints

    @opening()
    @wraps(run)
    def call(*args: Any, tokenizer: Any = None, progress: bool | None = None, **kwargs: Any) -> xr.Dataset:
        examples = kwargs.pop("examples", EXAMPLES) if measured else 0
        if "loading" in hints:
            kwargs.setdefault("loading", {})
        given = signature.bind(*args, **kwargs).arguments
        for argument, value in given.items():
            _check(argument, value, hints[argument])
        folder = given.get("directory")
        with run_lock(Path(folder), f"headscope.{name}") if folder else nullcontext():
            with progress_bar("loading", 1, show=progress, leave=False):
                inputs = _inputs(given, tokenizer, scored="task" in hints)
            with progress_bar(name, n_inputs(inputs), show=progress) as (advance, expect):
                settings = given.get("settings", signature.parameters["settings"].default)
                result = run(**inputs | {"settings": _with_bar(settings, advance, expect)})
            return _with_maps(result, inputs, examples) if examples else result

    more = ({"examples": EXAMPLES} if measured else {}) | {"tokenizer": None, "progress": None}
    parameters = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value) for key, value in more.items()]
    call.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *parameters])  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = name
    return call


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
    from headscope.passes.typical_inputs import with_maps_of

    return result if "interrupted" in result.attrs else with_maps_of(result, inputs, number)


def as_model(value: Any, tokenizer: Any = None, *, head: bool | None = False) -> Any:
    """The model that a name, a folder or an object of another library stands for.

    * `head`: keep the task head of a model that is loaded; None keeps a head for masked words, if there is one.

    Raises `HeadscopeError` for an object that stands for no model.
    """
    from headscope.models import Model, load, wrap
    from headscope.models.masked_lm import has_words_head

    kinds = [f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(value).__mro__]
    if isinstance(value, Model):
        return value
    if isinstance(value, str | os.PathLike):
        return load(str(value), head=has_words_head(str(value)) if head is None else head)
    if "sentence_transformers.SentenceTransformer" in kinds:
        return wrap(value[0].auto_model, value.tokenizer, "SentenceTransformer")
    if "transformers.PreTrainedModel" not in kinds:
        raise HeadscopeError(f"model: a {type(value).__name__} is no model; {ALLOWED}")
    if tokenizer is None:
        raise HeadscopeError(f"model: a {type(value).__name__} has no tokenizer of its own; give it as tokenizer=")
    return wrap(value, tokenizer, type(value).__name__)


def _inputs(given: dict[str, Any], tokenizer: Any, *, scored: bool) -> dict[str, Any]:
    """The arguments with models, corpora, tasks and paths in the place of what stands for them."""
    done = dict(given)
    if "model" in given:
        head = (
            (given.get("task") is not None or None) if scored else "suites" in given and _predicts_words(given["model"])
        )
        done["model"] = as_model(given["model"], tokenizer, head=head)
    if "models" in given:
        task = given.get("task") is not None
        models = [as_model(each, tokenizer, head=task and n > 0) for n, each in enumerate(given["models"])]
        done["models"] = tuple(models)
    if "checkpoint" in given:
        done["checkpoint"] = str(given["checkpoint"])
    for name in {"corpus", "training"} & given.keys():
        done[name] = given[name] if given[name] is None else _corpus(given[name], done)
    if "corpora" in given:
        several = given["corpora"] if isinstance(given["corpora"], tuple) else (given["corpora"],)
        done["corpora"] = tuple(_corpus(each, done) for each in several)
    for name in {"treebanks", "trainings"} & given.keys():
        several = given[name] if isinstance(given[name], tuple | None) else (given[name],)
        done[name] = several if several is None else tuple(_corpus(each, done) for each in several)
    if "tasks" in given and not isinstance(given["tasks"], tuple | list):
        done["tasks"] = (given["tasks"],)
    for name in {"directory", "data", "weights", "from_", "patterns", "syntax"} & given.keys():
        done[name] = given[name] if given[name] is None else Path(given[name])
    return done


def _predicts_words(model: Any) -> bool:
    """True for the name of a model with a head for masked or next words."""
    from headscope.models.checkpoint import locate
    from headscope.models.words_head import predicts_words

    return isinstance(model, str | os.PathLike) and predicts_words(locate(str(model)))


def _corpus(value: Any, done: dict[str, Any]) -> Corpus:
    """A corpus; pairs of paragraphs are counted in the pieces of the model's tokenizer."""

    def offsets(text: str) -> list[tuple[int, int]]:
        tokenizer = _tokenizer(done)
        pieces = tokenizer(text, add_special_tokens=False, verbose=False, return_offsets_mapping=True)
        return pieces["offset_mapping"]

    return corpora.read(value, offsets=offsets)


def _tokenizer(done: dict[str, Any]) -> Any:
    """The tokenizer of the model, or of its checkpoint where a study loads that itself."""
    from headscope.models.checkpoint import locate
    from headscope.models.tokenizer import load_tokenizer

    if "checkpoint" in done:
        return load_tokenizer(locate(done["checkpoint"]))
    return (done.get("model") or done["models"][0]).tokenizer


def _check(name: str, value: Any, hint: Any) -> None:
    """Raise `HeadscopeError` for a number out of its range."""
    for each in (hint, *get_args(hint)):
        if get_origin(each) is Annotated and value is not None:
            for bounds in get_args(each)[1:]:
                if isinstance(bounds, Range):
                    bounds.check(name, value)
