"""The parsers as Table 3 of Clark et al. (2019), and their recall of each relation."""

from dataclasses import dataclass
from math import isfinite

import numpy as np
import xarray as xr

from headscope.report.tables import Cells, Column, Table, titled
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
BESIDE = ("attention_and_words", "attention", "distances_and_words", "fixed_offset")
SCORES = ("UAS", "Each word alone", "Seeds", "Epochs", "BERT-base")


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
    scored = {name: _parser(name, result.sel(probe=name)) for name in there or NAMES}
    return {name: parser for name, parser in scored.items() if isfinite(parser.uas.value)}


def best_without(scored: dict[str, Parser]) -> Parser | None:
    """The best of the parsers that do not see the model's attention; None if no such parser has a score."""
    others = [parser for name, parser in scored.items() if name not in SEES_ATTENTION]
    return max(others, key=lambda parser: parser.uas.value, default=None)


def _parser(name: str, part: xr.Dataset) -> Parser:
    std = float(part["uas_std"]) if "uas_std" in part else float("nan")
    return Parser(name, estimate(part, "uas"), float(part["uas_argmax"]), std, float(part["epochs"].mean()))


def tables(result: xr.Dataset) -> list[Table]:
    """The scores of the parsers, the best first, and the recall of each relation."""
    scored = parsers(result)
    return [_scores(result, scored), _recall(result, list(scored))]


def _scores(result: xr.Dataset, scored: dict[str, Parser]) -> Table:
    caption = (
        "Per cent of words that get their syntactic head (UAS), with 95% intervals over sentences; without "
        "punctuation, roots among them. Each word alone: its best head, tree or not. Seeds: standard deviation over "
        "them. BERT-base: Clark et al. (2019), Table 3: the Penn Treebank with Stanford's relations, GloVe vectors."
    )
    order = sorted(scored.values(), key=lambda parser: -parser.uas.value)
    return titled("parsers", caption, "Parser", SCORES, [(parser.words, _cells(parser)) for parser in order])


def _cells(parser: Parser) -> Cells:
    return [
        parser.uas.cell(".1f", 100),
        (_percent(parser.argmax), ""),
        (_percent(parser.std), "") if np.isfinite(parser.std) and parser.epochs else None,
        (f"{parser.epochs:.1f}", "") if parser.epochs else None,
        (f"{PAPER[parser.name]}", "") if parser.name in PAPER else None,
    ]


def _recall(result: xr.Dataset, names: list[str]) -> Table:
    names = [name for name in BESIDE if name in names]
    columns = (Column("words", "Words"), *(Column(name, NAMES[name].capitalize()) for name in names))
    rows = []
    for relation in result["relation"].values.tolist():
        part = result.sel(relation=relation)
        cells = [estimate(part, "recall", probe=name).cell(".1f", 100) for name in names]
        rows.append(((relation,), [(f"{int(part['recall_n_examples']):,}", ""), *cells]))
    caption = "Per cent of the words of each relation that get their syntactic head, with 95% intervals."
    return Table("recall", caption, ("Relation",), columns, rows)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
