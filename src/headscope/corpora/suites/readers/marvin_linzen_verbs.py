"""Marvin and Linzen (2018) with the critical word in the gap, as in Goldberg (2019).

The answer is the one word in which a good and a bad sentence differ: a verb, or a reflexive. Sentences that differ in
more words, or that have two bad partners, and those about negative polarity items are counted.
"""

from collections.abc import Iterator, Sequence

from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.suites.item import GAP, ClozeItem, gap
from headscope.corpora.suites.readers import marvin_linzen

FILES = marvin_linzen.FILES
MARK = ", word in the gap"


def items(files: Sequence[str]) -> Iterator[ClozeItem | Bad | Skipped]:
    """The items of a file, in its order."""
    for item in marvin_linzen.items(files):
        yield item if isinstance(item, Bad) else _masked(item)


def _masked(item: ClozeItem) -> ClozeItem | Skipped:
    good, bad = item.good.text.split(), item.bad[0].text.split()
    places = [at for at, (one, other) in enumerate(zip(good, bad, strict=False)) if one != other]
    if "npi" in item.phenomenon or len(item.bad) > 1 or len(good) != len(bad) or len(places) != 1:
        return Skipped("pairs that do not differ in one verb or reflexive")
    at = places[0]
    context = " ".join([*good[:at], GAP, *good[at + 1 :]])
    return gap(item.id, f"{item.phenomenon}{MARK}", context, (good[at], bad[at]), condition=item.condition)
