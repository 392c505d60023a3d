"""Texts that are in memory: strings or pairs of strings in any iterable, a DataFrame, a `datasets.Dataset`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headscope.corpora.options import Options
from headscope.corpora.parsing import columns
from headscope.corpora.problems import Bad
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example

ALLOWED = "use a name, a path, strings or pairs of strings, as in list(...), a DataFrame, or a datasets.Dataset"


def examples(source: Any, options: Options) -> Iterator[Example | Bad]:
    """Each row as an example.

    >>> [example.id for example in examples(["It rained.", "We stayed in."], Options())]
    ['list:1', 'list:2']

    Raises `HeadscopeError` if the object is none of these, or has no column of text.
    """
    name = type(source).__name__
    return columns.examples(_rows(source), options, source=name, name=name)


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


def _row(item: object, number: int) -> dict[str, str]:
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(text, str) for text in item):
        return {"sentence1": item[0], "sentence2": item[1]}
    raise HeadscopeError(f"corpus: item {number} has the type {type(item).__name__}; {ALLOWED}")
