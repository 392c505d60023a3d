"""Heads that find the antecedent of mentions."""

import xarray as xr

from headscope.report.kinds import by_name
from headscope.report.parts import HeadKind

WORDS = {"all": "antecedent", "pronoun": "pronoun", "proper": "name", "nominal": "noun phrase"}


def kinds(result: xr.Dataset) -> list[HeadKind]:
    """Heads that are special for a kind of mention, named after the one with the highest accuracy."""
    accuracy = result["accuracy"].where(result["special"] == 1)
    words = [WORDS.get(str(name), str(name)) for name in accuracy["mention_type"].values]
    return by_name(accuracy.assign_coords(mention_type=words), "mention_type", "coreference")
