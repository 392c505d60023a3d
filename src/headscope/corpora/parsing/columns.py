"""Columns of a table: which hold the sentences, and which the label."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headscope.corpora.options import Options
from headscope.corpora.parsing.json_lines import NumberText, first_repeated
from headscope.corpora.problems import Bad
from headscope.errors import HeadscopeError, suggest
from headscope.linguistics.sentence import Example, Sentence
from headscope.storage.limits import MOST_COLUMNS

PAIRS = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("#1 string", "#2 string"),
    ("sentence_a", "sentence_b"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("question", "passage"),
    ("question", "context"),
)
SINGLES = ("sentence", "text", "paragraph", "content", "review")
LABELS = ("label", "gold_label", "quality", "is_duplicate", "score", "labels", "class", "stars")
ALLOWED = "use a name, a path, strings, pairs of strings or rows, as in list(...), a DataFrame, or a datasets.Dataset"


@dataclass(frozen=True)
class TableColumns:
    """Names of the columns of the first sentence, the second, the label, and the name of the document."""

    first: str
    second: str | None = None
    label: str | None = None
    document: str | None = None


def check_header(header: Sequence[str], source: str) -> None:
    """Raise `HeadscopeError` if there are too many columns, or two of one name: it would be unclear which is meant.

    >>> check_header(["text", "text"], "x.tsv")
    Traceback (most recent call last):
    headscope.errors.HeadscopeError: corpus 'x.tsv': two columns are named 'text'; rename one
    """
    if len(header) > MOST_COLUMNS:
        raise HeadscopeError(
            f"corpus '{source}': {len(header)} columns, at most {MOST_COLUMNS} are read; remove those without text"
        )
    if repeated := first_repeated(header):
        raise HeadscopeError(f"corpus '{source}': two columns are named '{repeated}'; rename one")


def choose(header: Sequence[str], wanted: str | None, source: str, document: str | None = None) -> TableColumns:
    """The columns that are wanted ("FIRST,SECOND,LABEL"), or those that the header suggests, and that of documents.

    Raises `HeadscopeError` listing the columns if there are none such.

    >>> choose(["index", "question", "sentence", "label"], None, "dev.tsv")
    TableColumns(first='question', second='sentence', label='label', document=None)
    >>> choose(["1", "2", "3", "4"], "4,,2", "dev.tsv")
    TableColumns(first='4', second=None, label='2', document=None)
    """
    if document and document not in header:
        raise HeadscopeError(f"corpus '{source}': no column '{document}' for --document; {suggest(document, header)}")
    return replace(_named(header, wanted, source) if wanted else _guessed(header, source), document=document)


def numbered(wanted: str | None) -> bool:
    """True if columns are named by number, that is, the table has no header.

    >>> numbered("4,,2"), numbered("text"), numbered(None)
    (True, False, False)
    """
    return bool(wanted) and all(part.strip().isdecimal() for part in wanted.split(",") if part.strip())


def examples(
    rows: Iterable[Mapping[str, object]], options: Options, *, source: str, name: str
) -> Iterator[Example | Bad]:
    """The example of each row of a table; its columns are chosen by the first row, ids begin with `name`."""
    chosen = None
    for number, row in enumerate(rows, 1):
        chosen = chosen or choose(list(row), options.columns, source, options.document)
        try:
            yield example(name, number, row, chosen)
        except Bad as bad:
            yield bad


def example(name: str, line: int, row: Mapping[str, object], columns: TableColumns) -> Example:
    """The example of a row.

    Raises `Bad` if a column is missing, a sentence is not a text, or a label is infinite.

    >>> example("dev.tsv", 2, {"text": "It rained."}, TableColumns("text")).id
    'dev.tsv:2'
    """
    first = _sentence(row, columns.first, line)
    if columns.document:
        first = replace(first, document=str(_value(row, columns.document, line)))
    second = (_sentence(row, columns.second, line),) if columns.second else ()
    label = _value(row, columns.label, line) if columns.label else None
    if isinstance(label, float) and math.isinf(label):
        raise Bad(line, f"the label {label} is infinite")
    label = label if label is None or isinstance(label, float) else str(label)
    return Example(f"{name}:{line}", (first,), second, label)


def _named(header: Sequence[str], wanted: str, source: str) -> TableColumns:
    names = [part.strip() for part in wanted.split(",")]
    if len(names) > 3 or not names[0]:
        raise HeadscopeError(f"corpus '{source}': --columns '{wanted}' is not FIRST,SECOND,LABEL; name 1 to 3 columns")
    for name in filter(None, names):
        if name not in header:
            raise HeadscopeError(f"corpus '{source}': no column '{name}'; {suggest(name, header)}")
    return TableColumns(names[0], *(name or None for name in names[1:]))


def _guessed(header: Sequence[str], source: str) -> TableColumns:
    plain = {name.strip().lower(): name for name in reversed(header)}
    label = next((plain[name] for name in LABELS if name in plain), None)
    for first, second in PAIRS:
        if first in plain and second in plain:
            return TableColumns(plain[first], plain[second], label)
    for first in (*SINGLES, *(pair[0] for pair in PAIRS)):
        if first in plain:
            return TableColumns(plain[first], None, label)
    remedy = "name them with --columns FIRST,SECOND,LABEL"
    raise HeadscopeError(f"corpus '{source}': no column is known to hold text; {remedy} from: {', '.join(header)}")


def _value(row: Mapping[str, object], column: str, line: int) -> object:
    if column not in row:
        raise Bad(line, f"no column '{column}'")
    return row[column]


def _sentence(row: Mapping[str, object], column: str, line: int) -> Sentence:
    value = _value(row, column, line)
    if isinstance(value, NumberText):
        raise Bad(line, f"column '{column}' is the number {value}, expected text")
    if value is not None and not isinstance(value, str):
        raise Bad(line, f"column '{column}' is {type(value).__name__} {value!r}, expected text")
    return Sentence((value or "").strip())


def in_memory(source: Any, options: Options) -> Iterator[Example | Bad]:
    """Each row of an object in memory as an example: strings, pairs of strings or rows, a DataFrame, a `Dataset`.

    >>> [example.id for example in in_memory(["It rained.", "We stayed in."], Options())]
    ['list:1', 'list:2']

    Raises `HeadscopeError` if the object is not one of these, or has no column of text.
    """
    name = type(source).__name__
    return examples(_rows(source), options, source=name, name=name)


def _rows(source: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(source, list | tuple):
        return (_row(item, number) for number, item in enumerate(source, 1))
    library, kind = type(source).__module__.partition(".")[0], type(source).__name__
    if (library, kind) in (("pandas", "Series"), ("numpy", "ndarray")):
        return _rows(source.tolist())
    if (library, kind) == ("pandas", "DataFrame"):
        return ({str(name): value for name, value in row.items()} for row in source.to_dict("records"))
    if library == "datasets" and kind in ("Dataset", "IterableDataset"):
        return source
    if library == "datasets":
        raise HeadscopeError(f"corpus: a {kind} has several splits; choose one, for instance data['validation']")
    raise HeadscopeError(f"corpus: a {kind} cannot be read; {ALLOWED}")


def with_labels(source: Any, labels: Sequence[str | float]) -> list[dict[str, Any]]:
    """The rows of texts in memory, each with its label.

    Raises `HeadscopeError` unless there is one for each text.

    >>> with_labels(["It rained."], ["weather"])
    [{'text': 'It rained.', 'label': 'weather'}]
    """
    rows, labels = list(_rows(source)), list(labels)
    if len(rows) != len(labels):
        raise HeadscopeError(f"labels: {len(labels)} for {len(rows)} texts; give one for each text")
    return [{**row, "label": label} for row, label in zip(rows, labels, strict=True)]


def _row(item: object, number: int) -> dict[str, Any]:
    if isinstance(item, dict):
        return item
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(text, str) for text in item):
        return {"sentence1": item[0], "sentence2": item[1]}
    raise HeadscopeError(f"corpus: item {number} has the type {type(item).__name__}; {ALLOWED}")
