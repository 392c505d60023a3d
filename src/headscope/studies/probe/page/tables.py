"""The parsers as Table 3 of Clark et al. (2019), and their recall of each relation."""

import numpy as np
import xarray as xr

from headscope.report.tables import Column, Table
from headscope.report.wording import estimate
from headscope.studies.probe.page.summary import NAMES, PAPER, Parser, parsers

BESIDE = ("attention_and_words", "attention", "distances_and_words", "fixed_offset")
SCORES = ("UAS", "Each word alone", "Seeds", "Epochs", "BERT-base")


def tables(result: xr.Dataset) -> list[Table]:
    """The scores of the parsers, the best first, and the recall of each relation."""
    every = parsers(result)
    return [_scores(result, every), _recall(result, list(every))]


def _scores(result: xr.Dataset, every: dict[str, Parser]) -> Table:
    caption = (
        "Per cent of words that get their syntactic head (UAS), with 95% intervals over sentences; without "
        "punctuation, roots among them. Each word alone: its best head, tree or not. Seeds: standard deviation over "
        "them. BERT-base: Clark et al. (2019), Table 3: the Penn Treebank with Stanford's relations, GloVe vectors."
    )
    columns = tuple(Column(words.lower(), words) for words in SCORES)
    order = sorted(every.values(), key=lambda each: -each.uas.value)
    return Table("parsers", caption, ("Parser",), columns, [((each.words,), _cells(each)) for each in order])


def _cells(each: Parser) -> list[tuple[str, str] | None]:
    return [
        each.uas.cell(".1f", 100),
        (_percent(each.argmax), ""),
        (_percent(each.std), "") if np.isfinite(each.std) and each.epochs else None,
        (f"{each.epochs:.1f}", "") if each.epochs else None,
        (f"{PAPER[each.name]}", "") if each.name in PAPER else None,
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
