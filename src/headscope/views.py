"""Views of a model's attention on a text, in a notebook or as a file."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import xarray as xr

from headscope.api import as_model
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.report.cards import MeasuredModel, gather
from headscope.report.cards.model_results import Source
from headscope.viewer.export import export_file
from headscope.viewer.result_session import result_session
from headscope.viewer.session import ViewSession, results_about
from headscope.viewer.widget import FramedView, widget

TEXT = "The old lighthouse keeper, who had not slept for days, finally saw the ship turn away from the rocks."
Results = xr.Dataset | str | Path | Iterable[xr.Dataset | str | Path]


def show(
    subject: Any,
    first: str | None = None,
    second: str | None = None,
    *,
    results: Results = (),
    state: str = "",
    height: int = 480,
    static: bool = False,
    tokenizer: Any = None,
) -> Any:
    """Show the attention of a model on a text in a notebook: all heads, lines, heat maps, and cards of heads.

    * `subject`: a model (a name, a folder, or an object), or a result, whose first typical input is shown.
    * `first`, `second`: a text or a pair of texts; a result has its own.
    * `results`: results about the model, or folders of them, for kinds, numbers and cards of heads.
    * `state`: which view of which heads, e.g. "v=map&h=4-7": what follows "#" in the address of `headscope view`.
    * `height`: of the picture of a head, in pixels.
    * `static`: a page in a frame alone, which needs no widgets.

    Returns: a widget of anywidget, whose `state` can be read and set; with `static` an object that shows the frame.

    Raises `HeadscopeError` for a wrong text or state, a result without maps, or if anywidget is not installed.

    >>> show("minilm", "It rained.", state="v=map&h=1-3", static=True).height
    480
    """
    session, text = _opened(subject, first, second, results, tokenizer)
    return (FramedView if static else widget)(session, text, state, height)


def export_page(
    path: str | Path,
    subject: Any,
    first: str | None = None,
    second: str | None = None,
    *,
    results: Results = (),
    state: str = "",
    tokenizer: Any = None,
) -> Path:
    """Save a view of a model's attention on a text as an offline page (.html), or as a picture (.svg, .pdf, .png).

    A picture is of the views lines ("v=lines"), heat map ("v=map") and grid of all heads ("v=heads").

    * `path`: the file; its suffix is the format. See `show` for the other arguments.

    Returns: the path.

    Raises `HeadscopeError` as `show`, for another format, or if the file cannot be written.
    """
    session, text = _opened(subject, first, second, results, tokenizer)
    return export_file(session, text, path, state)


def _opened(
    subject: Any, first: str | None, second: str | None, results: Results, tokenizer: Any
) -> tuple[ViewSession, str]:
    """The session of a view, and the identifier of its text."""
    if isinstance(subject, xr.Dataset):
        if first is not None:
            raise HeadscopeError("a result shows its own typical input; give the model with a text, and results=result")
        return result_session(subject)
    model = as_model(subject, tokenizer)
    session = ViewSession((model,), (), _measured(model, results))
    return session, session.text(TEXT if first is None else first, second)["id"]


def _measured(model: Model, results: Results) -> MeasuredModel | None:
    """The results that are about a model.

    Raises `HeadscopeError` if there are results, but none about it.
    """
    several = [results] if isinstance(results, xr.Dataset | str | Path) else list(results)
    folders = [each for each in several if not isinstance(each, xr.Dataset)]
    sources: dict[tuple[str, str], list[Source]] = {}
    for result in several:
        if isinstance(result, xr.Dataset):
            key = str(result.attrs["model"]), str(result.attrs["model_sha256"] or "")
            sources.setdefault(key, []).append(Source(Path("result.nc"), result))
    inline = [MeasuredModel((name,), sha256, tuple(each)) for (name, sha256), each in sources.items()]
    return results_about(model, [*inline, *(gather(folders) if folders else [])])
