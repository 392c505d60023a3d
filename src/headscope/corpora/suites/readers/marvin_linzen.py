"""Marvin and Linzen (2018): sentences made from templates; the construction is the phenomenon.

A sentence about negative polarity items may have two bad partners: the good one has to score higher than both.
"""

from collections.abc import Iterator, Sequence

from headscope.corpora.problems import Bad
from headscope.corpora.suites.item import ClozeItem, pair
from headscope.corpora.suites.tables import rows

FILES = ("marvin_linzen.tsv",)
COLUMNS = ("construction", "condition", "source_index", "good", "bad", "bad2")


def items(files: Sequence[str]) -> Iterator[ClozeItem | Bad]:
    """The items of a file, in its order."""
    for row in (row for file in files for row in rows(file, COLUMNS)):
        if isinstance(row, Bad):
            yield row
            continue
        construction, condition, index, good, *others = row.values
        bad = tuple(filter(None, others))
        if not (construction and good and bad):
            yield Bad(row.line, "the construction, the good or the bad sentence is empty")
        else:
            yield pair(f"{construction}/{condition}-{index}", construction, good, bad, condition=condition)
