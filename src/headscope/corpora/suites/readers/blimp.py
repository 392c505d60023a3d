"""BLiMP (Warstadt et al. 2020): 67 paradigms of minimal pairs in 12 phenomena; the paradigm is the condition."""

from collections.abc import Iterator, Sequence

from headscope.corpora.parsing.json_lines import Record
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.suites.item import ClozeItem, pair
from headscope.corpora.suites.readers.own import record_items, text

FILES = ("blimp.jsonl",)


def items(files: Sequence[str]) -> Iterator[ClozeItem | Bad | Skipped]:
    """The pairs of a file, in its order."""
    for file in files:
        yield from record_items(file, _item)


def _item(record: Record) -> ClozeItem:
    paradigm, number = text(record, "UID"), record.fields.get("pair_id", record.fields.get("pairID", record.line))
    good, bad = text(record, "sentence_good"), text(record, "sentence_bad")
    return pair(f"{paradigm}-{number}", text(record, "linguistics_term"), good, (bad,), condition=paradigm)
