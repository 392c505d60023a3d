"""Marvin and Linzen (2018): sentences made from templates; the construction is the phenomenon.

A sentence about negative polarity items may have two bad partners: the good one has to score higher than both.
"""

from collections.abc import Iterator

from headscope.corpora.problems import Bad, Skipped, parsed
from headscope.corpora.suites.item import GAP, ClozeItem, gap, pair
from headscope.corpora.suites.readers._tables import SuiteRow, rows

SUITES = {"marvin_linzen": ("marvin_linzen.tsv",), "marvin_linzen_verbs": ("marvin_linzen.tsv",)}
COLUMNS = ("construction", "condition", "source_index", "good", "bad", "bad2")


def marvin_linzen(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """The pairs of sentences."""
    return parsed(rows(file, COLUMNS), _pair)


def marvin_linzen_verbs(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """The critical word in the gap, as in Goldberg (2019).

    The answer is the one word in which a good and a bad sentence differ: a verb, or a reflexive. Sentences that differ
    in more words, or that have two bad partners, and those about negative polarity items are counted.
    """
    return parsed(marvin_linzen(file), _masked)


def _pair(row: SuiteRow) -> ClozeItem:
    construction, condition, index, good, *others = row.values
    bad = tuple(filter(None, others))
    if not (construction and good and bad):
        raise Bad(row.line, "the construction, the good or the bad sentence is empty")
    return pair(f"{construction}/{condition}-{index}", construction, good, bad, condition=condition)


def _masked(item: ClozeItem) -> ClozeItem | Skipped:
    good, bad = item.good.text.split(), item.bad[0].text.split()
    places = [at for at, (one, other) in enumerate(zip(good, bad, strict=False)) if one != other]
    if "npi" in item.phenomenon or len(item.bad) > 1 or len(good) != len(bad) or len(places) != 1:
        return Skipped("pairs that do not differ in one verb or reflexive")
    at = places[0]
    context = " ".join([*good[:at], GAP, *good[at + 1 :]])
    return gap(item.id, f"{item.phenomenon}, word in the gap", context, (good[at], bad[at]), condition=item.condition)
