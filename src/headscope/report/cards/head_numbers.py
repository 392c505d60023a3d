"""All numbers of the heads of a result, one a row, each with its rank among the heads."""

from typing import Any

import pandas as pd
import xarray as xr

from headscope import results
from headscope.figures import with_interval
from headscope.figures.labels import label
from headscope.report.study_page import TESTS, study_page

Row = Any  # a named tuple with the columns of `numbers`
HEAD = ("layer", "head")
# What is of single examples, of pairs of heads, of places in a plane, or of a test: not the number of a head.
UNSUITED = {"example", "other_layer", "other_head", "axis"}
COLUMNS = ("value", "lower", "upper", "n", "baseline", "q")


def numbers(result: xr.Dataset) -> pd.DataFrame:
    """A row for each number of each head, from any variable that has layers and heads.

    Columns: `layer`, `head`, `variable`, `long_name`, `labels` (where in the variable, a tuple), `words` (the same),
    `value`, its interval `lower` and `upper`, `n` (the number of cases), `units` and `cases` (their unit),
    `rank` (1 for the highest value; equal values have the same) among `heads` heads, `median` (that of the heads),
    `baseline` and `q` (a false discovery rate) where the study has them. NaN where there is none.
    """
    card = study_page(result).card()
    baselines, rates = card.baselines(result), card.rates(result)
    frames = [_of(result, name, baselines.get(name), rates.get(name)) for name in number_names(result)]
    return pd.concat([frame for frame in frames if len(frame)] or [pd.DataFrame(columns=_order())], ignore_index=True)


def number_names(result: xr.Dataset) -> list[str]:
    """The variables that are numbers of single heads: no tests, no coordinates, none that only repeat others."""
    hidden = study_page(result).card().hidden
    names = [name for name in results.means(result) if not name.endswith(TESTS) and name not in hidden]
    return [name for name in names if _is_number(result[name])]


def _is_number(array: xr.DataArray) -> bool:
    dims = set(map(str, array.dims))
    return set(HEAD) <= dims and not dims & UNSUITED and array.dtype.kind in "fiu"


def _of(result: xr.Dataset, name: str, baseline: xr.DataArray | None, rate: xr.DataArray | None) -> pd.DataFrame:
    array = with_interval(result, name)
    rest = [str(dim) for dim in array.dims if dim not in HEAD]
    beside = {"lower": "lower", "upper": "upper", "n": "n_examples"}
    parts = {"value": array} | {key: array[coord] for key, coord in beside.items() if coord in array.coords}
    others = {key: each for key, each in (("baseline", baseline), ("q", rate)) if each is not None}
    parts |= {key: each.reindex({dim: array[dim] for dim in each.dims}) for key, each in others.items()}
    bare = {key: each.drop_vars([one for one in each.coords if one not in each.dims]) for key, each in parts.items()}
    frame = xr.Dataset(bare).to_dataframe(dim_order=[*rest, *HEAD]).reset_index().dropna(subset="value")
    frame = pd.DataFrame(frame.reindex(columns=[*rest, *HEAD, *COLUMNS]))
    groups = frame.groupby(rest or (lambda row: 0), sort=False)["value"]
    of = pd.DataFrame(
        {
            "rank": groups.rank(ascending=False, method="min").astype(int),
            "heads": groups.transform("size"),
            "median": groups.transform("median"),
        }
    )
    spelt = [dim for dim in rest if array.sizes[dim] > 1 or dim != "model"]  # of one model, it is clear which
    frame["labels"] = list(zip(*(frame[dim].astype(str) for dim in rest), strict=True)) if rest else [()] * len(frame)
    frame["words"] = [", ".join(label(dim, row[dim]) for dim in spelt) for row in frame.to_dict("records")]
    cases = result[f"{name}_n_examples"].attrs.get("units", "examples") if f"{name}_n_examples" in result else ""
    units, long_name = str(array.attrs.get("units", "")), str(array.attrs.get("long_name", name))
    return pd.DataFrame(
        frame.assign(**of, variable=name, long_name=long_name, units=units, cases=cases), columns=_order()
    )


def _order() -> list[str]:
    words = ["variable", "long_name", "labels", "words", "units", "cases"]
    return [*HEAD, *words, *COLUMNS, "rank", "heads", "median"]


def rows(numbers: pd.DataFrame) -> list[Row]:
    """The rows, one by one."""
    return list(numbers.itertuples(index=False))


def where(numbers: pd.DataFrame, condition: Any) -> pd.DataFrame:
    """The rows that satisfy a condition."""
    return pd.DataFrame(numbers[condition])


def of_variable(numbers: list[Row], variable: str) -> list[Row]:
    """The rows of a variable, of one head."""
    return [row for row in numbers if row.variable == variable]


def of_labels(numbers: list[Row], variable: str, *labels: str) -> Row | None:
    """The row of these labels; None where there is none."""
    matching = [row for row in of_variable(numbers, variable) if set(labels) <= set(row.labels)]
    return matching[0] if matching else None
