"""Variables of a result as tables: in memory, and as files of CSV, Parquet, LaTeX or Markdown with safe cells."""

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import xarray as xr

from headscope.errors import HeadscopeError, suggest
from headscope.results.files import MEASURED, means, tidy, with_interval
from headscope.storage.files import write_atomically

Format = Literal["csv", "parquet", "latex", "markdown"]
HEADS = ("layer", "head")
# Labels of a further dimension that become columns.
MOST_LABELS = 20
SUFFIXES = {"csv": "csv", "parquet": "parquet", "latex": "tex", "markdown": "md"}


def variable_table(result: xr.Dataset, variable: str | None = None) -> pd.DataFrame:
    """One variable of a result as a table with a row for each value that is not missing; or all variables by head.

    The columns are the dimensions, `value`, the bounds `lower` and `upper` of its 95% interval, and `n_examples`, as
    far as the result has them. Without `variable` there is a row for each head, and a column for each variable that has
    one number a head; of a variable with few labels beside, such as `attention_to`, one for each label.

    * `result`: what a study returned, or `headscope.open_result`.
    * `variable`: name of the variable, such as "entropy".

    Raises `HeadscopeError` if the result has no such variable, or none by head.

    >>> score = xr.Dataset({"score": (("layer", "head"), [[0.5, 0.25]])}, coords={"layer": [1], "head": [1, 2]})
    >>> variable_table(score, "score")
       layer  head  value
    0      1     1   0.50
    1      1     2   0.25
    >>> variable_table(score)
       layer  head  score
    0      1     1   0.50
    1      1     2   0.25
    """
    if variable is None:
        return head_table(result)
    refuse_unknown(result, variable)
    table = tidy(with_interval(result, variable))
    columns = [*result[variable].dims, "value", *(name for name in MEASURED if name in table)]
    return table.reindex(columns=columns)


def refuse_unknown(result: xr.Dataset, variable: str) -> None:
    """Raise `HeadscopeError` if a result has no such variable."""
    if variable not in result.data_vars:
        raise HeadscopeError(f"the result has no variable '{variable}'; {suggest(variable, means(result))}")


def head_table(result: xr.Dataset) -> pd.DataFrame:
    """A row for each head, and a column for each number that a result has of it.

    Raises `HeadscopeError` if the result has no variable by head.
    """
    columns = dict[str, xr.DataArray]()
    for name in means(result):
        array = result[name]
        further = [dim for dim in array.dims if dim not in HEADS]
        if not set(HEADS) <= set(array.dims) or len(further) > 1:
            continue
        if not further:
            columns[name] = array
        elif array.sizes[further[0]] <= MOST_LABELS:
            columns |= {f"{name}: {label}": array.sel({further[0]: label}) for label in array[further[0]].values}
    if not columns:
        raise HeadscopeError(f"the result has no variable by head; name a variable: {', '.join(means(result))}")
    heads = xr.Dataset({name: array.drop_vars(set(array.coords) - set(HEADS)) for name, array in columns.items()})
    return heads.to_dataframe(dim_order=list(HEADS)).reset_index()


def export_tables(
    result: xr.Dataset, directory: str | Path, format: Format = "csv", variables: Iterable[str] | None = None
) -> list[Path]:
    """Write each variable of a result as a table `directory/VARIABLE.csv` (or .parquet, .tex, .md).

    * `format`: "csv", "parquet", "latex" or "markdown"; numbers are written in full precision.
    * `variables`: names of the variables; by default all but maps, intervals and counts, which stand beside a mean.

    Returns: the paths of the tables.

    Raises `HeadscopeError` if a name or the format is unknown, or the folder cannot be written to.
    """
    if format not in SUFFIXES:
        raise HeadscopeError(f"format '{format}' is unknown; {suggest(format, SUFFIXES)}")
    tables = {name: variable_table(result, name) for name in variables or means(result)}
    return [
        write_atomically(Path(directory) / f"{name}.{SUFFIXES[format]}", _content(table, format))
        for name, table in tables.items()
    ]


def _content(table: pd.DataFrame, format: Format) -> bytes | str:
    if format == "csv":
        return csv_text(table)
    if format == "latex":
        return table.to_latex(index=False, escape=True, float_format=lambda value: repr(float(value)), na_rep="")
    if format == "markdown":
        return markdown(table, ["---:"] * len(table.columns))
    content = io.BytesIO()
    table.to_parquet(content, index=False)
    return content.getvalue()


def csv_text(table: pd.DataFrame) -> str:
    """A table as CSV."""
    return table.map(csv_cell).rename(columns=csv_cell).to_csv(index=False, lineterminator="\n")


def markdown(table: pd.DataFrame, sides: Iterable[str]) -> str:
    """A table of Markdown; `sides` are the lines below the headings of its columns."""
    lines = [
        list(map(str, table.columns)),
        list(sides),
        *([str(cell) for cell in row] for row in table.values.tolist()),
    ]
    return "".join(f"| {' | '.join(map(markdown_cell, line))} |\n" for line in lines)


TAG = re.compile(r"<(?=[A-Za-z/!?])")
NUMERIC = re.compile(r"[-+\d.,%e \[\]]*")


def csv_cell(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe.

    >>> csv_cell("=1+A1"), csv_cell("-0.5 [-1, 0]"), csv_cell("-"), csv_cell(-0.5)
    ("'=1+A1", '-0.5 [-1, 0]', '-', -0.5)
    """
    formula = isinstance(cell, str) and len(cell) > 1 and cell[0] in "=+-@\t\r" and not NUMERIC.fullmatch(cell)
    return f"'{cell}" if formula else cell


def markdown_cell(text: str) -> str:
    """A text in a cell of Markdown: in one line, and without marks that would make a link, a column or HTML of it.

    >>> print(markdown_cell("[CLS] a|b [x](y) <b>"))
    [CLS] a\\|b [x]\\(y) &lt;b>
    """
    line = TAG.sub("&lt;", " ".join(text.split()))
    return line.replace("|", "\\|").replace("](", "]\\(").replace("`", "\\`")


def plain(value: object) -> str:
    """Text without line breaks and Markdown's marks."""
    return "".join(character for character in " ".join(str(value).split()) if character not in "`|<>[]")


def markdown_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown.

    >>> markdown_table(["layer", "heads"], [("1", "12")])
    ['| layer | heads |', '| --- | --- |', '| 1 | 12 |']
    """
    return [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)]
