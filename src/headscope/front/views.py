"""Views of a model's attention on a text, in a notebook or as a file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from headscope import corpora
from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.front.from_values import as_model
from headscope.models import Model
from headscope.models.checkpoint import locate
from headscope.report.cards import MeasuredModel
from headscope.report.cards.model_results import Source
from headscope.viewer.export import export_file, format_of
from headscope.viewer.loading import load_with_head
from headscope.viewer.saved_index import index_about, read_folders, results_about
from headscope.viewer.session import ViewSession
from headscope.viewer.view_state import comparing, fragment, parse_state
from headscope.viewer.widget import FramedView, result_session, widget

TEXT = "The old lighthouse keeper, who had not slept for days, finally saw the ship turn away from the rocks."
Results = xr.Dataset | str | Path | Iterable[xr.Dataset | str | Path]


def show(  # noqa: PLR0913 (each is an option of the user)
    subject: Any,
    first: str | Sequence[str] | None = None,
    second: str | None = None,
    *,
    view: str = "",
    heads: Sequence[str] = (),
    against: str | None = None,
    results: Results = (),
    corpus: Any = "sample",
    state: str | Mapping[str, Any] = "",
    height: int = 480,
    static: bool = False,
    tokenizer: Any = None,
) -> Any:
    """Show the attention of a model on a text in a notebook: the views of `headscope view`.

    While the kernel runs, other texts can be typed and heads disabled; a saved notebook shows the first text.

    * `subject`: a model (a name, a folder, or an object); a tuple of two models to compare; or a result, whose first
      typical input is shown.
    * `first`, `second`: a text or a pair of texts; a result has its own. A list of two texts compares them.
    * `view`: "lines" (the default), "map", "card", "compare", "try", "importance" or "examples".
    * `heads`: layer and head, e.g. ["4-7", "5-1"].
    * `against`: a text to compare with: which heads change, and where.
    * `results`: results about the models, or folders of them, for kinds, numbers, cards and examples of heads.
    * `corpus`: a corpus to pick texts from, whose sentences are the nearest ones of an encoder; None for none.
    * `state`: more of what to show, by name, e.g. {"unit": "words"}, or what follows "#" in the address of
      `headscope view`, e.g. "w=words".
    * `height`: of the picture of a head, in pixels.
    * `static`: a page in a frame alone, which needs no widgets.
    * `tokenizer`: of a Hugging Face model.

    Returns: a widget of anywidget, whose `state` can be read and set; with `static` an object that shows the frame.

    Raises `HeadscopeError` for a wrong text or state, a result without maps, or if anywidget is not installed.

    >>> show("minilm", "It rained.", view="map", heads=["1-3"], static=True).height
    480
    """
    state = fragment({"view": view, "heads": heads}, state)
    if not static:
        require("anywidget")  # before a model is loaded
    session, text, state = _opened(subject, (first, second, against), state, results, tokenizer, corpus=corpus)
    return (FramedView if static else widget)(session, text, state, height)


def export_page(  # noqa: PLR0913 (as `show`)
    path: str | Path,
    subject: Any,
    first: str | Sequence[str] | None = None,
    second: str | None = None,
    *,
    view: str = "",
    heads: Sequence[str] = (),
    against: str | None = None,
    results: Results = (),
    corpus: Any = "sample",
    state: str | Mapping[str, Any] = "",
    tokenizer: Any = None,
) -> Path:
    """Save a view of a model's attention on a text as an offline page (.html), or as a picture (.svg, .pdf, .png).

    A picture is of `view`: "lines", "map", "compare", "card", "try" (with the heads that are disabled:
    state={"off": "3-7,4-*"}), "examples", or the grid of all heads ("heads").

    * `path`: the file; its suffix is the format.
    * `subject`, `first`, `second`, `heads`, `against`, `results`, `state`, `tokenizer`: as for `show`.
    * `corpus`: as for `show`; only "try" reads it.

    Returns: the path.

    Raises `HeadscopeError` as `show`, for another format, or if the file cannot be written.
    """
    format_of(path)  # before a model is loaded
    state = fragment({"view": view, "heads": heads}, state)
    needed = corpus if parse_state(state).view == "try" else None
    session, text, state = _opened(subject, (first, second, against), state, results, tokenizer, corpus=needed)
    return export_file(session, text, path, state)


def _opened(
    subject: Any,
    texts: tuple[str | Sequence[str] | None, str | None, str | None],
    state: str,
    results: Results,
    tokenizer: Any,
    *,
    corpus: Any = None,
) -> tuple[ViewSession, str, str]:
    """The session of a view, the identifier of its text, and its state as a fragment."""
    parse_state(state)  # whatever is wrong with it is said before a model is loaded
    first, second, against = texts
    if isinstance(first, list | tuple) and len(first) == 2 and against is None:
        first, against = first
    for text in (first, second, against):
        if not isinstance(text, str | None):
            kind = type(text).__name__
            raise HeadscopeError(f"text: a {kind}; give one text, a list of two to compare, or a pair as two arguments")
    if isinstance(subject, xr.Dataset):
        if first is not None or against is not None:
            raise HeadscopeError("a result shows its own typical input; give the model with a text, and results=result")
        return *result_session(subject), state
    several = subject if isinstance(subject, tuple) else (subject,)
    if not 1 <= len(several) <= 2:
        raise HeadscopeError(f"model: {len(several)} models are given; give one, or two to compare")
    models = tuple(_model(model, tokenizer) for model in several)
    measured, indexes = _read(results)
    about, index = results_about(models, measured), index_about(models[0], indexes)
    read = () if corpus is None else (corpora.read(corpus),)
    session = ViewSession(models, read, about, index)
    text = session.text(TEXT if first is None else str(first), second, against)["id"]
    return session, text, state if against is None else comparing(state)


def _model(subject: Any, tokenizer: Any) -> Model:
    """A model; one that is loaded here has the head that makes its predictions."""
    return load_with_head(locate(str(subject))) if isinstance(subject, str | Path) else as_model(subject, tokenizer)


def _read(results: Results) -> tuple[list[MeasuredModel], list[xr.Dataset]]:
    """Results about models, and indexes of examples."""
    several = [results] if isinstance(results, xr.Dataset | str | Path) else list(results)
    sources: dict[tuple[str, str], list[Source]] = {}
    for result in several:
        if isinstance(result, xr.Dataset):
            key = str(result.attrs["model"]), str(result.attrs["model_sha256"] or "")
            sources.setdefault(key, []).append(Source(Path("result.nc"), result))
    inline = [MeasuredModel((name,), sha256, tuple(about)) for (name, sha256), about in sources.items()]
    measured, indexes = read_folders([result for result in several if not isinstance(result, xr.Dataset)])
    return [*inline, *measured], indexes
