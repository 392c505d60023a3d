"""Options of reading a corpus."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from headscope.corpora.parsing.lines import Cursor
from headscope.errors import HeadscopeError, suggest

Offsets = Callable[[str], list[tuple[int, int]]]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of reading a corpus; each reader uses those that concern it.

    * `kind`: the reader; None tells it from the source.
    * `columns`: of a table, "FIRST,SECOND,LABEL" ("text", "premise,hypothesis", "sentence,,label"); numbers
      ("4,,2", from 1) mean that the table has no header. None guesses from the header.
    * `document`: the column of a table that names the document of a row: intervals are then over documents.
    * `skip_bad`: leave out and count what cannot be read, instead of raising.
    * `limit`: stop after so many examples.
    * `annotate`: an installed spaCy pipeline that annotates sentences without words.
    * `task`, `split`: of a GLUE folder ("mrpc", "dev"); `split` also of a hub data set.
    * `segment`: most tokens of a pair of paragraphs, special tokens included.
    * `offsets`: characters [start, end) of the pieces of a text, by the tokenizer; `read` sets it.
    * `cursor`: from where a reader of lines begins; `read` sets it, too.

    >>> Options(columns="sentence,,label").limit is None
    True
    """

    kind: str | None = None
    columns: str | None = None
    document: str | None = None
    skip_bad: bool = False
    limit: int | None = None
    annotate: str | None = None
    task: str | None = None
    split: str | None = None
    segment: int = 128
    offsets: Offsets | None = None
    cursor: Cursor | None = None


DEFAULTS = Options()


def with_keywords(options: Options, keywords: Mapping[str, Any]) -> Options:
    """The options with those that are given by name; columns also as a list of names.

    Raises `HeadscopeError` for a name that is no option.

    >>> with_keywords(DEFAULTS, {"columns": ["sentence", "", "label"]}).columns
    'sentence,,label'
    """
    names = [option.name for option in fields(Options)]
    if unknown := next((name for name in keywords if name not in names), ""):
        raise HeadscopeError(f"option '{unknown}' of a corpus is unknown; {suggest(unknown, names)}")
    columns = keywords.get("columns")
    joined = {"columns": ",".join(map(str, columns))} if isinstance(columns, list | tuple) else {}
    return replace(options, **{**keywords, **joined})
