"""LAMA (Petroni et al. 2019): facts of T-REx with one template a relation; the answer is ranked in the vocabulary.

Other objects of the same subject and relation are right too, and are not ranked.
"""

from collections.abc import Iterator, Sequence

from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.suites.facts import items_of
from headscope.corpora.suites.item import ClozeItem

FILES = ("trex_pairs.jsonl",)


def items(files: Sequence[str]) -> Iterator[ClozeItem | Bad | Skipped]:
    """The facts of a file, in its order; templates are in relations.jsonl beside it."""
    for file in files:
        yield from items_of(file, "relations.jsonl", ("relation", "template"))
