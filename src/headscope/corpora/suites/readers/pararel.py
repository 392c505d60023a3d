"""ParaRel (Elazar et al. 2021): facts of T-REx in several wordings, and whether they get one answer."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.suites.facts import items_of
from headscope.corpora.suites.item import ClozeItem

FILES = ("pararel_patterns.jsonl",)
MARK = ", several wordings"


def items(files: Sequence[str]) -> Iterator[ClozeItem | Bad | Skipped]:
    """The facts of trex_pairs.jsonl beside the file of patterns, each in all patterns of its relation."""
    for file in files:
        beside = Path(file).with_name("trex_pairs.jsonl")
        pairs = beside if beside.is_file() else beside.with_name("trex_pairs.jsonl.gz")
        yield from items_of(str(pairs), Path(file).name.removesuffix(".gz"), ("predicate_id", "pattern"), MARK)
