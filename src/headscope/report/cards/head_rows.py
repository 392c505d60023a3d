"""Rows of numbers: each is one number of one head."""

from typing import Any

import pandas as pd

Row = Any  # a named tuple with the columns of `numbers`


def rows(numbers: pd.DataFrame) -> list[Row]:
    """The rows, one by one."""
    return list(numbers.itertuples(index=False))


def where(numbers: pd.DataFrame, chosen: Any) -> pd.DataFrame:
    """The rows for which something is true."""
    return pd.DataFrame(numbers[chosen])
