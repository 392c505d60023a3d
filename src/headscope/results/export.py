"""Variables of a result as tables: data frames, and files of CSV, Parquet or LaTeX, in full precision."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import pandas as pd
import xarray as xr

from headscope.errors import HeadscopeError, suggest
from headscope.results.files import means
from headscope.results.tidy import MEASURED, tidy, with_interval
from headscope.storage.files import write_atomically

Format = Literal["csv", "parquet", "latex"]
SUFFIXES = {"csv": "csv", "parquet": "parquet", "latex": "tex"}


def variable_table(result: xr.Dataset, variable: str) -> pd.DataFrame:
    """One variable of a result as a table with a row for each value that is not missing.

    The columns are the dimensions, `value`, the bounds `lower` and `upper` of its 95% interval, and `n_examples`, as
    far as the result has them.

    * `variable`: name of the variable, such as "entropy".

    Raises `HeadscopeError` if the result has no such variable.

    >>> score = xr.Dataset({"score": ("layer", [0.5, 0.25])}, coords={"layer": [1, 2]})
    >>> variable_table(score, "score")
       layer  value
    0      1   0.50
    1      2   0.25
    """
    if variable not in result.data_vars:
        raise HeadscopeError(f"the result has no variable '{variable}'; {suggest(variable, means(result))}")
    table = tidy(with_interval(result, variable))
    columns = [*result[variable].dims, "value", *(name for name in MEASURED if name in table)]
    return table.reindex(columns=columns)


def export_tables(
    result: xr.Dataset, directory: str | Path, format: Format = "csv", variables: Iterable[str] | None = None
) -> list[Path]:
    """Write each variable of a result as a table `directory/VARIABLE.csv` (or .parquet, .tex).

    * `format`: "csv", "parquet" or "latex"; numbers are written in full precision.
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
        return table.to_csv(index=False, lineterminator="\n")
    if format == "latex":
        return table.to_latex(index=False, escape=True, float_format=lambda value: repr(float(value)), na_rep="")
    content = io.BytesIO()
    table.to_parquet(content, index=False)
    return content.getvalue()
