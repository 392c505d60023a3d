"""The command `view`: the attention of a model on a text, in the browser."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.front.cli.errors import notice, user_errors
from headscope.front.cli.printing import escaped
from headscope.front.progress import loading
from headscope.storage.files import files_within

if TYPE_CHECKING:
    from headscope.viewer.session import ViewSession

LOADING = ("device", "dtype", "tokenizer", "remote_code")
Places = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[MODEL] [DIR]...",
        help="A Hugging Face id, a local folder or 'minilm' (the default); then folders of results about it.",
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port of the local page; 0 for any free port.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open the page in the browser.")]
Corpora = Annotated[
    list[str] | None,
    typer.Option("--corpus", metavar="CORPUS", help="A corpus to pick texts from; may be given again."),
]
Export = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Save a view as FILE and end: an offline page (.html), .svg, .pdf or .png."),
]
Text = Annotated[str | None, typer.Option(metavar="TEXT", help="The text of the view.")]
Second = Annotated[str | None, typer.Option(metavar="TEXT", help="The second text of a pair.")]
Against = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Another text, to compare with: which heads change, and where.")
]
State = Annotated[
    str, typer.Option(metavar="STATE", help="What follows '#' in the page's address, e.g. 'v=map&h=4-7'.")
]
Steps = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="The folder of a fine-tuning that kept its steps, instead of MODEL: a slider chooses the step.",
    ),
]
With = Annotated[str | None, typer.Option("--with", metavar="MODEL", help="A second model, to compare with.")]


def view(  # noqa: PLR0913 (each is an option of the command line)
    places: Places = None,
    with_: With = None,
    steps: Steps = None,
    corpora: Corpora = None,
    port: Port = 0,
    no_browser: NoBrowser = False,
    *,
    export: Export = None,
    text: Text = None,
    second: Second = None,
    against: Against = None,
    state: State = "",
    **shared: Annotated[Any, (*LOADING, "debug")],
) -> None:
    """Look at the attention of a model on a text in the browser, until Ctrl-C; or save a view with --export."""
    options = {name: shared[name] for name in LOADING}
    with user_errors(shared["debug"]):
        if text is None and (export or against is not None):
            named = f"--export '{export}'" if export else "--against"
            raise HeadscopeError(f"{named} needs a text; add --text TEXT")
        if against is not None and (with_ or steps or second is not None):
            raise HeadscopeError("--against compares two texts in one model; leave out --with, --steps and --second")
        if export and text is not None:
            subject = (places, with_, steps, corpora or ["sample"])
            typer.echo(escaped(_exported(export, subject, (text, second, against), state, options)))
            return
        for package in ("starlette", "uvicorn"):
            require(package)
        # Whatever is wrong with the port, the models, the texts or the results is reported before anything is loaded.
        from headscope.viewer.serving import CallQueue, listening, serve_on

        with listening(port) as socket:
            session, calls = _session(places, with_, steps, corpora or ["sample"], options), CallQueue()
            from headscope.viewer.server import application
            from headscope.viewer.view_state import comparing, fragment, parse_state

            texts = {"first": text, "second": second, "against": against}
            opened = fragment(comparing(state) if against else state, texts)
            parse_state(opened)
            serve_on(application(session, calls.call), socket, lambda url: _started(url, opened, no_browser), calls)


def _session(
    places: list[str] | None, with_: str | None, steps: str | None, corpora: list[str], options: dict[str, Any]
) -> "ViewSession":
    """The models, the texts and the results of a view; `options` are the options of loading."""
    if steps and with_:
        raise HeadscopeError(f"--steps '{steps}' has models of its own; leave out --with")
    name, folders = ("", places or []) if steps else split(places or [])
    with loading("reading"):
        from headscope.corpora import read
        from headscope.models.checkpoint import locate
        from headscope.models.step_folder import steps_folder
        from headscope.results.hub import fetch
        from headscope.viewer.saved_index import read_folders

        if steps and not steps_folder(steps):
            raise HeadscopeError(f"--steps '{steps}' holds no kept steps; train with finetune --keep-steps 8")
        kept = {name: options[name] for name in ("remote_code", "tokenizer")}
        checkpoints = [locate(model, **kept) for model in (name, with_) if model]
        measured, indexes = read_folders([fetch(folder) for folder in folders])
        texts = tuple(map(read, corpora))
    with loading("loading"):
        from headscope.viewer.loading import load_with_head, steps_of
        from headscope.viewer.saved_index import index_about, results_about
        from headscope.viewer.session import ViewSession, no_change

        if steps:
            title, models, prepare = steps_of(steps, options)
        else:
            models = tuple(load_with_head(checkpoint, **options) for checkpoint in checkpoints)
            title, prepare = "", no_change
        about, index = results_about(models, measured), index_about(models[0], indexes)
        return ViewSession(models, texts, about, index, training=title, prepare=prepare)


def _exported(
    path: Path,
    subject: tuple[list[str] | None, str | None, str | None, list[str]],
    texts: tuple[str, str | None, str | None],
    state: str,
    options: dict[str, Any],
) -> Path:
    """Write a view of texts (see `ViewSession.text`) by a subject (places, second model, steps and corpora)."""
    from headscope.viewer.export import export_file, format_of
    from headscope.viewer.view_state import comparing, parse_state

    format_of(path)
    state = state if texts[-1] is None else comparing(state)
    places, with_, steps, corpora = subject
    # a wrong format or state is refused before a model is loaded; predictions alone may need a corpus
    session = _session(places, with_, steps, corpora if parse_state(state).view == "try" else [], options)
    return export_file(session, session.text(*texts)["id"], path, state, notice)


def split(places: list[str]) -> tuple[str, list[str]]:
    """The model and the folders of results; a first folder that has results and is no model is one of them.

    >>> split(["bert-base-uncased", "out"])
    ('bert-base-uncased', ['out'])
    >>> split([])
    ('minilm', [])
    """
    if not places or places[0].startswith("hf://"):
        return "minilm", places
    first = Path(places[0])
    if first.is_dir() and not (first / "config.json").is_file():
        if any(files_within(first, name) for name in ("result.nc", "examples.nc")):
            return "minilm", places
    return places[0], places[1:]


def _started(page: str, state: str, no_browser: bool) -> None:
    url = f"{page}#{state}" if state else page
    typer.echo(url)
    if not no_browser:
        webbrowser.open(url)
