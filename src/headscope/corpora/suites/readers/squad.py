"""SQuAD of LAMA (Petroni et al. 2019): questions rewritten as sentences with a gap, whose answer is one word."""

from collections.abc import Iterator, Sequence

from headscope.corpora.parsing.json_lines import Record
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.suites.item import GAP, ClozeItem, filled
from headscope.corpora.suites.readers.own import record_items, text, texts

FILES = ("squad.jsonl",)


def items(files: Sequence[str]) -> Iterator[ClozeItem | Bad | Skipped]:
    """The sentences of a file, in its order; those with several gaps are counted."""
    for file in files:
        yield from record_items(file, _item)


def _item(record: Record) -> ClozeItem | Skipped:
    id, answer, sentences = text(record, "id"), text(record, "obj_label"), texts(record, "masked_sentences")
    gaps = "".join(sentences).count(GAP)
    if not gaps:
        raise Bad(record.line, f"'masked_sentences' has no {GAP}")
    if len(sentences) > 1 or gaps > 1:
        return Skipped("sentences with several gaps")
    return ClozeItem(id, "squad", filled("".join(sentences), answer), (), answer)
