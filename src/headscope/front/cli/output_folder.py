"""The folder of a result: it belongs to one run at a time, and to one study; the formats of its figure files."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from headscope.catalog import missing
from headscope.errors import HeadscopeError, suggest
from headscope.front.cli.options import DEFAULTS
from headscope.storage.files import existing, remove_unfinished, writing
from headscope.storage.run_lock import run_lock

FORMATS = ("svg", "pdf", "png")
FIGURE = re.compile(rf'href="(figures/[\w-]+\.(?:{"|".join(FORMATS)}))"')
ATLAS, ATLAS_FIGURES = 'href="#atlas"', ("atlas", "atlas-column")


@contextmanager
def output_folder(directory: Path, study: str, *, overwrite: bool, on_no_lock: Callable[[str], None]) -> Iterator[None]:
    """Within this context a run of a study has the folder for itself, and may write its result there.

    A former result of the same study is replaced; its figure files that the new page lacks are removed at the end.

    * `overwrite`: also replace the result of another study.
    * `on_no_lock`: called with one line if the file system has no locks.

    Raises `HeadscopeError` if the folder cannot be written to, another run is in it, or it has the result of another
    study.
    """
    with run_lock(writable(directory), f"headscope {study}", on_no_lock=on_no_lock):
        for name in ("result.nc", "report.html"):
            remove_unfinished(directory / name)
        if not overwrite and (directory / "result.nc").exists():
            _refuse_other(directory, study)
        former = figure_files(directory)
        try:
            yield
        finally:
            for path in former - figure_files(directory):
                path.unlink(missing_ok=True)


def default_folder(command: str, models: Sequence[str]) -> Path:
    """The folder of a result without `-o`: it has the names of the command and of the first two models.

    >>> default_folder("compare", ["minilm", "someone/bert-small", "other"]).as_posix()
    'out/compare-minilm-bert-small'
    """
    return Path("out", "-".join((command, *map(short_name, models[:2]))))


def short_name(model: str) -> str:
    """The last part of the name of a model, or of its path, for a folder.

    >>> short_name("someone/bert-small@refs/pr/1"), short_name("models/gemma.gguf")
    ('bert-small@refs-pr-1', 'gemma')
    """
    name, at, revision = (model, "", "") if Path(model).exists() else model.partition("@")
    return f"{Path(name).resolve().name.removesuffix('.gguf')}{at}{revision.replace('/', '-')}"


def writable(directory: Path) -> Path:
    """The folder itself, after a file was written to it and removed; a missing folder is made for that alone.

    Raises `HeadscopeError` if that fails.
    """
    if directory.is_file():
        raise HeadscopeError(f"'{directory}' is a file; choose a folder with -o")
    with existing(directory), writing(directory), TemporaryFile(dir=directory):
        return directory


def formats(figures: str, no_figures: bool) -> tuple[str, ...]:
    """The formats of the figure files, from `--figures` and `--no-figures`.

    Raises `HeadscopeError` for an unknown format. Without vl-convert it asks for that where `--figures` is given; by
    default there are no figures then.

    >>> formats("svg, pdf", False), formats("svg", True)
    (('svg', 'pdf'), ())
    """
    wanted = () if no_figures else tuple(name.strip() for name in figures.split(","))
    for name in wanted:
        if name not in FORMATS:
            raise HeadscopeError(f"figures '{name}': {suggest(name, FORMATS)}")
    if wanted and figures != DEFAULTS["figures"] and (line := missing("vl_convert")):
        raise HeadscopeError(line)
    return wanted


def figure_files(directory: Path) -> set[Path]:
    """The existing figure files that `directory/report.html` links, and those of its atlas; none without a page."""
    try:
        page = (directory / "report.html").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    names = set(FIGURE.findall(page))
    if ATLAS in page:
        names |= {f"figures/{name}.{suffix}" for name in ATLAS_FIGURES for suffix in FORMATS}
    return {path for name in names if (path := directory / name).is_file()}


def _refuse_other(directory: Path, study: str) -> None:
    from headscope import results

    try:
        other = results.attributes_of(directory)["study"]
    except HeadscopeError:
        other = ""
    if other != study:
        content = f"the result of '{other}'" if other else "a result.nc that cannot be read as a result of headscope"
        raise HeadscopeError(
            f"folder '{directory}' has {content}; choose another folder with -o, or replace it with --overwrite"
        )
