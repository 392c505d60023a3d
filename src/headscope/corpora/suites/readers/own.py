"""Suites of one's own: JSON lines with a good and a bad sentence, or a sentence with a gap and its answers.

A line has `good` and `bad` (a text or a list of texts), or `sentence` with one [MASK], `answer` and `alternatives`;
without alternatives the answer is ranked among all pieces of the vocabulary. `id`, `phenomenon`, `condition` and
`lemma` may be added.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from headscope.corpora.parsing.json_lines import Record, records
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.suites.item import GAP, ClozeItem, gap, pair

Item = TypeVar("Item", bound=ClozeItem | Skipped)

FILES: tuple[str, ...] = ()
LABELS = ("id", "phenomenon", "condition", "lemma")
MOST = 100


def items(files: Sequence[str]) -> Iterator[ClozeItem | Bad | Skipped]:
    """The items of a file, in its order."""
    for file in files:
        yield from record_items(file, partial(_item, file=Path(file.removesuffix(".gz")).name))


def record_items(file: str, item: Callable[[Record], Item]) -> Iterator[Item | Bad | Skipped]:
    """What `item` makes of each record of a file of JSON lines; where it raises `Bad`, that."""
    for record in records(file):
        try:
            yield item(record) if isinstance(record, Record) else record
        except Bad as bad:
            yield bad


def _item(record: Record, file: str) -> ClozeItem:
    number = record.fields.get("id")
    id = str(number) if isinstance(number, int) else record.get("id", str, f"{file}:{record.line}")
    phenomenon = record.get("phenomenon", str, Path(file).stem)
    labels = {name: record.get(name, str, "") for name in ("lemma", "condition")}
    if not (id.strip() and phenomenon.strip()):
        raise Bad(record.line, "'id' or 'phenomenon' is empty; write a text or leave it out")
    if "sentence" in record.fields:
        record.only(*LABELS, "sentence", "answer", "alternatives")
        context, answers = record.get("sentence", str), (text(record, "answer"), *texts(record, "alternatives"))
        if context.count(GAP) != 1:
            raise Bad(record.line, f"'sentence' has {context.count(GAP)} gaps, expected one {GAP}")
        _refuse_repeated(record, answers)
        return gap(id, phenomenon, context, answers, **labels)
    if not {"good", "bad"} & record.fields.keys():
        raise Bad(record.line, "neither 'good' and 'bad' nor 'sentence' and 'answer'")
    record.only(*LABELS, "good", "bad")
    good, bad = text(record, "good"), texts(record, "bad")
    if not bad:
        raise Bad(record.line, "no 'bad'")
    _refuse_repeated(record, (good, *bad))
    return pair(id, phenomenon, good, bad, **labels)


def text(record: Record, name: str) -> str:
    """A text that is not empty; raises `Bad` for another."""
    value = record.get(name, str)
    if not value.strip():
        raise Bad(record.line, f"'{name}' is empty")
    return value


def texts(record: Record, name: str) -> tuple[str, ...]:
    """A text or a list of texts, none of them empty; none where the field is missing."""
    value = record.fields.get(name)
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    if len(values) > MOST or not all(isinstance(value, str) and value.strip() for value in values):
        raise Bad(record.line, f"'{name}' is {str(value)[:60]!r}, expected a text or at most {MOST} texts, none empty")
    return tuple(values)


def _refuse_repeated(record: Record, given: Sequence[str]) -> None:
    if given[0] in given[1:]:
        raise Bad(record.line, f"'{given[0][:40]}' stands on both sides")
