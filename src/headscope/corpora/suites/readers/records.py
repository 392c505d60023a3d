"""Suites as JSON lines with a good and a bad sentence, or a sentence with a gap: one's own, BLiMP, and SQuAD of LAMA.

A line of one's own has `good` and `bad` (a text or a list of texts), or `sentence` with one [MASK], `answer` and
`alternatives`; without alternatives the answer is ranked among all pieces of the vocabulary. `id`, `phenomenon`,
`condition` and `lemma` may be added.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from headscope.corpora.parsing.json_lines import Record, records
from headscope.corpora.problems import Bad, Skipped, parsed
from headscope.corpora.suites.item import GAP, ClozeItem, filled, gap, in_gap, pair
from headscope.storage.limits import MOST_TEXTS

SUITES = {"own": (), "blimp": ("blimp.jsonl",), "blimp_words": ("blimp.jsonl",), "squad": ("squad.jsonl",)}
LABELS = ("id", "phenomenon", "condition", "lemma")


def own(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """One's own items."""
    return parsed(records(file), partial(_own, file=Path(file.removesuffix(".gz")).name))


def blimp(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """BLiMP (Warstadt et al. 2020): 67 paradigms of minimal pairs in 12 phenomena; the paradigm is the condition."""
    return parsed(records(file), _blimp)


def blimp_words(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """The critical word in the gap: the one in which the sentences of a pair of BLiMP differ; other pairs are counted.

    Of negative polarity items it is the item or its licensor (after Warstadt et al. 2019).
    """
    return parsed(blimp(file), lambda item: in_gap(item) or Skipped("pairs that do not differ in one word"))


def squad(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """SQuAD of LAMA (Petroni et al. 2019): questions rewritten as sentences with a gap, whose answer is one word.

    Sentences with several gaps are counted.
    """
    return parsed(records(file), _squad)


def _own(record: Record, file: str) -> ClozeItem:
    number = record.fields.get("id")
    id = str(number) if isinstance(number, int) else record.get("id", str, f"{file}:{record.line}")
    phenomenon = record.get("phenomenon", str, Path(file).stem)
    labels = {name: record.get(name, str, "") for name in ("lemma", "condition")}
    if not (id.strip() and phenomenon.strip()):
        raise Bad(record.line, "'id' or 'phenomenon' is empty; write a text or leave it out")
    if "sentence" in record.fields:
        record.only(*LABELS, "sentence", "answer", "alternatives")
        context, answers = record.get("sentence", str), (_text(record, "answer"), *_texts(record, "alternatives"))
        if context.count(GAP) != 1:
            raise Bad(record.line, f"'sentence' has {context.count(GAP)} gaps, expected one {GAP}")
        _refuse_repeated(record, answers)
        return gap(id, phenomenon, context, answers, **labels)
    if not {"good", "bad"} & record.fields.keys():
        raise Bad(record.line, "neither 'good' and 'bad' nor 'sentence' and 'answer'")
    record.only(*LABELS, "good", "bad")
    good, bad = _text(record, "good"), _texts(record, "bad")
    if not bad:
        raise Bad(record.line, "no 'bad'")
    _refuse_repeated(record, (good, *bad))
    return pair(id, phenomenon, good, bad, **labels)


def _blimp(record: Record) -> ClozeItem:
    paradigm, number = _text(record, "UID"), record.fields.get("pair_id", record.fields.get("pairID", record.line))
    good, bad = _text(record, "sentence_good"), _text(record, "sentence_bad")
    return pair(f"{paradigm}-{number}", _text(record, "linguistics_term"), good, (bad,), condition=paradigm)


def _squad(record: Record) -> ClozeItem | Skipped:
    id, answer, sentences = _text(record, "id"), _text(record, "obj_label"), _texts(record, "masked_sentences")
    gaps = "".join(sentences).count(GAP)
    if not gaps:
        raise Bad(record.line, f"'masked_sentences' has no {GAP}")
    if len(sentences) > 1 or gaps > 1:
        return Skipped("sentences with several gaps")
    return ClozeItem(id, "squad", filled("".join(sentences), answer), (), answer)


def _text(record: Record, name: str) -> str:
    """A text that is not empty; raises `Bad` for another."""
    value = record.get(name, str)
    if not value.strip():
        raise Bad(record.line, f"'{name}' is empty")
    return value


def _texts(record: Record, name: str) -> tuple[str, ...]:
    """A text or a list of texts, none of them empty; none where the field is missing."""
    value = record.fields.get(name)
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    if len(values) > MOST_TEXTS or not all(isinstance(value, str) and value.strip() for value in values):
        raise Bad(
            record.line, f"'{name}' is {str(value)[:60]!r}, expected a text or at most {MOST_TEXTS} texts, none empty"
        )
    return tuple(values)


def _refuse_repeated(record: Record, names: Sequence[str]) -> None:
    if names[0] in names[1:]:
        raise Bad(record.line, f"'{names[0][:40]}' stands on both sides")
