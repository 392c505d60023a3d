"""The command `view`: the attention of a model on a text, in the browser."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.cli import options
from headscope.cli.errors import user_errors
from headscope.cli.progress import loading
from headscope.errors import HeadscopeError
from headscope.extras import require

if TYPE_CHECKING:
    import xarray as xr

    from headscope.corpora import Corpus
    from headscope.models.checkpoint import Checkpoint
    from headscope.report.cards import MeasuredModel

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
With = Annotated[str | None, typer.Option("--with", metavar="MODEL", help="A second model, to compare with.")]


def view(  # noqa: PLR0913 (each is an option of the command line)
    places: Places = None,
    with_: With = None,
    corpora: Corpora = None,
    port: Port = 0,
    no_browser: NoBrowser = False,
    device: options.Device = None,
    dtype: options.Dtype = "float32",
    remote_code: options.RemoteCode = False,
    debug: options.Debug = False,
) -> None:
    """Look at the attention of a model on a text in the browser, until Ctrl-C."""
    with user_errors(debug):
        for package in ("starlette", "uvicorn"):
            require(package)
        name, folders = split(places or [])
        # Whatever is wrong with the port, the models, the texts or the results is reported before anything is loaded.
        from headscope.web.serve import listening, serve_on

        with listening(port) as socket:
            with loading("reading"):
                checkpoints = [_checkpoint(each, remote_code) for each in (name, with_) if each]
                indexes = _indexes(folders)
                measured, texts = _results(folders, indexes), _corpora(corpora or ["sample"])
            with loading("loading"):
                from headscope.viewer.loading import load_with_head
                from headscope.viewer.server import application
                from headscope.viewer.session import ViewSession, index_about, results_about

                given = {"device": device, "dtype": dtype, "remote_code": remote_code}
                models = tuple(load_with_head(each, **given) for each in checkpoints)
                about = results_about(models[0], measured), index_about(models[0], indexes)
                session = ViewSession(models, texts, *about)
            serve_on(application(session), socket, lambda url: _started(url, no_browser))


def split(places: list[str]) -> tuple[str, list[str]]:
    """The model and the folders of results; a first folder that has results and is no model is one of them.

    >>> split(["bert-base-uncased", "out"])
    ('bert-base-uncased', ['out'])
    >>> split([])
    ('minilm', [])
    """
    first = Path(places[0]) if places else None
    if first is None or (first.is_dir() and not (first / "config.json").is_file() and _has_results(first)):
        return "minilm", places
    return places[0], places[1:]


def _has_results(folder: Path) -> bool:
    return any(any(folder.rglob(name)) for name in ("result.nc", "examples.nc"))


def _started(url: str, no_browser: bool) -> None:
    typer.echo(url)
    if not no_browser:
        webbrowser.open(url)


def _checkpoint(name: str, remote_code: bool) -> "Checkpoint":
    from headscope.models.checkpoint import locate

    return locate(name, remote_code=remote_code)


def _indexes(folders: list[str]) -> "list[xr.Dataset]":
    """The indexes of examples in some folders."""
    from headscope.viewer.saved_index import indexes_in, read_index

    return [read_index(path) for folder in folders for path in indexes_in(folder)]


def _results(folders: list[str], indexes: "list[xr.Dataset]") -> "list[MeasuredModel]":
    """The results in some folders; none is needed beside an index."""
    from headscope.report.cards import gather

    with_results = [each for each in folders if not indexes or any(Path(each).rglob("result.nc"))]
    measured = gather(with_results)
    if folders and not measured and not indexes:
        raise HeadscopeError(f"none of the results in '{folders[0]}' is about heads; 'headscope profile' makes one")
    return measured


def _corpora(names: list[str]) -> "tuple[Corpus, ...]":
    from headscope import corpora

    return tuple(corpora.read(name) for name in names)
