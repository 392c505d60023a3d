"""The parsers of a result: names, scores, and the scores of the paper."""

from dataclasses import dataclass
from math import isfinite

import xarray as xr

from headscope.report.wording import Estimate, estimate

NAMES = {
    "attention_and_words": "attention and words",
    "attention": "attention alone",
    "distances_and_words": "distances and words",
    "random_attention_and_words": "random weights: attention and words",
    "random_attention": "random weights: attention alone",
    "fixed_offset": "best fixed offset",
    "right_branching": "right-branching",
}
SEES_ATTENTION = ("attention", "attention_and_words")
UNTRAINED = ("fixed_offset", "right_branching")
# Clark et al. (2019), Table 3: BERT-base, the Penn Treebank with Stanford's relations, GloVe vectors.
PAPER = {
    "right_branching": 26,
    "distances_and_words": 58,
    "random_attention_and_words": 30,
    "attention": 61,
    "attention_and_words": 77,
}


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser of a result: shares of words that get their syntactic head; `std` over seeds, if several."""

    name: str
    uas: Estimate
    argmax: float
    std: float
    epochs: float

    @property
    def words(self) -> str:
        """Its name, in words."""
        return NAMES.get(self.name, self.name)


def parsers(result: xr.Dataset) -> dict[str, Parser]:
    """The parsers of a result that have a score, in the order of `NAMES`.

    Raises `KeyError` if there are none.
    """
    there = [name for name in NAMES if name in result["probe"].values.tolist()]
    every = {name: _parser(name, result.sel(probe=name)) for name in there or NAMES}
    return {name: parser for name, parser in every.items() if isfinite(parser.uas.value)}


def best_without(every: dict[str, Parser]) -> Parser | None:
    """The best of the parsers that do not see the model's attention; None if no such parser has a score."""
    others = [parser for name, parser in every.items() if name not in SEES_ATTENTION]
    return max(others, key=lambda parser: parser.uas.value, default=None)


def _parser(name: str, part: xr.Dataset) -> Parser:
    std = float(part["uas_std"]) if "uas_std" in part else float("nan")
    return Parser(name, estimate(part, "uas"), float(part["uas_argmax"]), std, float(part["epochs"].mean()))
