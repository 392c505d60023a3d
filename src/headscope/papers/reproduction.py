"""Reproductions of papers as data: what to run, and which of its numbers matches which of the paper's."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from headscope import catalog
from headscope.errors import HeadscopeError, suggest
from headscope.papers.data_sets import DATA_SETS
from headscope.papers.entry_file import (
    ClaimedNumber,
    Refuse,
    check_fields,
    number,
    read_mapping,
    refuse_entry,
    refuse_file,
)

ENTRIES = Path(__file__).with_name("reproductions")
SCHEMA = 1
# A run that joins the results of others, in the place of a study.
JOIN = "join"
FIELDS = ("schema", "paper", "title", "model", "scope", "easy", "hard", "runs", "items")
SHOWN = ("value", "highest", "lowest", "count above")


@dataclass(frozen=True)
class Run:
    """A run of a study.

    * `data`: data sets by the option that takes them: `corpus`, `train`, `data` (of tasks), `vectors`; `optional` ones
      may be missing.
    * `tasks`: tasks of GLUE, of which those are read that the folder has; `trains`: whether it needs their train split.
    * `options`: options of the study.
    * `model`, `other`: a model that another run trains, RUN/FOLDER, in the place of the given one, or beside it.
    * `results`: other runs whose result an option takes, such as `beside`; of `join` those that are joined.
    * `method`: what it does, in words; `deviations`: from the paper.
    """

    name: str
    study: str
    method: str = ""
    data: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    trains: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    other: str = ""
    results: Mapping[str, str] = field(default_factory=dict)
    deviations: tuple[str, ...] = ()

    @property
    def reads(self) -> list[str]:
        """The runs that it reads the model or the result of."""
        return [path.partition("/")[0] for path in (self.model, self.other, *self.results.values()) if path]


@dataclass(frozen=True)
class ShownNumber:
    """A number of an item: which, and what is shown of it.

    * `show`: its value; of many the highest or lowest; or how many lie above `limit`.
    * `percent`: whether it is a share in per cent; `layers`: the paper's figures for each layer.
    """

    words: str = ""
    number: ClaimedNumber | None = None
    show: str = "value"
    limit: float = 0.0
    percent: bool = False
    layers: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A row of an item: labels that it selects, or a number of its own, and the paper's figures, one for a column.

    * `instead`: labels for those of `at` in a result that lacks them; `suffix`: of the variable of each column.
    """

    shown: ShownNumber
    at: Mapping[str, Any] = field(default_factory=dict)
    instead: Mapping[str, Any] = field(default_factory=dict)
    suffix: str = ""
    figures: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Item:
    """A table, a figure or a sentence of the paper.

    * `where`: its place in the paper; `title`: in our words; `run`: whose result has the numbers.
    * `columns`: numbers of all rows; those of `by: layer` have a number for each layer, with the paper's `layers`.
    * `percent`: whether all its numbers are shares in per cent.
    * `source`, `level`: where the paper's figures were read, and how sure they are, as of claims.
    """

    where: str
    title: str
    run: str
    columns: tuple[ShownNumber, ...]
    rows: tuple[Row, ...] = ()
    by: str = ""
    percent: bool = False
    source: str = ""
    level: str = ""
    deviations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """A paper's tables and figures in its order, and the runs that make them; `scope`, `easy`, `hard`: sections."""

    name: str
    title: str
    model: str
    scope: tuple[str, ...]
    easy: tuple[str, ...]
    hard: tuple[str, ...]
    runs: tuple[Run, ...]
    items: tuple[Item, ...]


def papers() -> list[str]:
    """The papers that can be reproduced.

    >>> papers()[:2]
    ['abnar2020', 'clark2019']
    """
    return [path.stem for path in sorted(ENTRIES.glob("*.yaml"))]


def read_reproduction(name: str) -> Reproduction:
    """The reproduction of a paper. Raises `HeadscopeError` for an unknown paper, and for an entry that is wrong."""
    if name not in papers():
        raise HeadscopeError(f"paper '{name}' is unknown; {suggest(name, papers())}")
    return read_file(ENTRIES / f"{name}.yaml")


def read_file(path: Path) -> Reproduction:
    """The reproduction in a file. Raises `HeadscopeError` naming the wrong entry."""
    bad = refuse_file("reproduction", path)
    data = read_mapping(path, FIELDS, "items", SCHEMA, bad)
    runs = tuple(_run(entry, refuse_entry(bad, f"run {index}")) for index, entry in enumerate(data["runs"], 1))
    names: list[str] = [run.name for run in runs]
    items = tuple(
        _item(entry, names, refuse_entry(bad, f"item {index}")) for index, entry in enumerate(data["items"], 1)
    )
    for run in runs:
        for other in run.reads:
            if other not in names[: names.index(run.name)]:
                raise bad(f"run '{run.name}' reads what '{other}' makes, which is no run before it")
    texts = {name: tuple(map(str, data.get(name, ()))) for name in ("scope", "easy", "hard")}
    return Reproduction(str(data["paper"]), str(data["title"]), str(data["model"]), runs=runs, items=items, **texts)


def _run(entry: Any, bad: Refuse) -> Run:
    values = _checked(entry, Run, bad, ("name", "study"))
    run = Run(**values)
    _check_sentences(run.deviations, bad)
    if run.study not in [*catalog.names("studies"), JOIN]:
        raise bad(f"no study '{run.study}'; {suggest(run.study, catalog.names('studies'))}")
    for name in run.data.values():
        if name not in DATA_SETS:
            raise bad(f"no data set '{name}'; {suggest(name, list(DATA_SETS))}")
    return run


def _item(entry: Any, runs: list[str], bad: Refuse) -> Item:
    values = _checked(entry, Item, bad, ("where", "title", "run", "columns"))
    values["columns"] = tuple(_shown(column, bad) for column in values["columns"])
    values["rows"] = tuple(_row(row, bad) for row in values.get("rows", ()))
    item = Item(**values)
    _check_sentences(item.deviations, bad)
    if item.run not in runs:
        raise bad(f"no run '{item.run}'; {suggest(item.run, runs)}")
    if bool(item.rows) == (item.by == "layer"):
        raise bad("it has rows, or `by: layer`")
    for row in item.rows:
        if len(row.figures) != len(item.columns):
            raise bad(f"row '{row.shown.words}' has {len(row.figures)} figures for {len(item.columns)} columns")
        if row.shown.number is None and any(column.number is None for column in item.columns):
            raise bad(f"row '{row.shown.words}' has no number")
    return item


def _row(entry: Any, bad: Refuse) -> Row:
    names = ("at", "instead", "suffix", "figures", "note")
    if not isinstance(entry, dict):
        raise bad("a row is a mapping of fields")
    shown = _shown({name: value for name, value in entry.items() if name not in names}, bad)
    at, instead, figures = entry.get("at", {}), entry.get("instead", {}), entry.get("figures", [])
    if not isinstance(at, dict) or not isinstance(instead, dict) or not isinstance(figures, list):
        raise bad(f"row '{shown.words}': `at` and `instead` are mappings, `figures` a list")
    texts = tuple("" if figure is None else str(figure) for figure in figures)
    return Row(shown, at, instead, str(entry.get("suffix", "")), texts, str(entry.get("note", "")))


def _shown(entry: Any, bad: Refuse) -> ShownNumber:
    values = _checked(entry, ShownNumber, bad, ("words",))
    if values.get("number") is not None:
        values["number"] = number(values["number"], bad)
    values["layers"] = {int(layer): str(figure) for layer, figure in values.get("layers", {}).items()}
    if values.get("show", "value") not in SHOWN:
        raise bad(f"show '{values['show']}'; use {', '.join(SHOWN)}")
    return ShownNumber(**values)


def _check_sentences(texts: Any, bad: Refuse) -> None:
    """Raise what `bad` makes for texts that are no list of sentences, such as one that a comma has cut."""
    if not isinstance(texts, tuple) or not all(isinstance(text, str) and text.endswith(".") for text in texts):
        raise bad("`deviations` is a list of sentences, each with a full stop; put them in quotes")


def _checked(entry: Any, kind: Any, bad: Refuse, needed: tuple[str, ...]) -> dict[str, Any]:
    """The fields of an entry, lists as tuples."""
    if not isinstance(entry, dict):
        raise bad("it is no mapping of fields")
    check_fields(entry, [part.name for part in fields(kind)], bad)
    for name in needed:
        if not entry.get(name):
            raise bad(f"it has no {name}")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}


def needed(run: Run) -> Iterator[str]:
    """The data sets without which a run cannot be made."""
    return (name for option, name in run.data.items() if option not in run.optional)
