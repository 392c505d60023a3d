"""The main numbers of the heads of a model, by which the atlas orders them."""

from typing import TypedDict

import pandas as pd

from headscope.figures.labels import head_name
from headscope.figures.tidy import tidy
from headscope.report.cards.model_results import MeasuredModel


class HeadValues(TypedDict):
    """One number of the heads.

    * `title`: its name; `values`: its value for each head that has one, by the name of the head ("4-7").
    """

    title: str
    values: dict[str, float]


def head_values(model: MeasuredModel) -> list[HeadValues]:
    """The main numbers of each result, in four digits."""
    return [{"title": title, "values": _by_head(tidy(array))} for title, array in model.main_numbers]


def _by_head(frame: pd.DataFrame) -> dict[str, float]:
    return {head_name(row["layer"], row["head"]): float(f"{row['value']:.4g}") for row in frame.to_dict("records")}
