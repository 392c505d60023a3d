"""Labelled spans of your own, a probing task (.jsonl): a text, one or two spans of it, and their label.

Each line is an object:

    {"text": "She had grown restless.", "span": [8, 13], "other_span": [14, 22], "label": "Experiencer"}

* `text`: the text. Lines of one text may follow each other: the model reads it once.
* `span`: characters [start, end) of the text. `other_span`: of a second span; all lines have it, or none.
* `label`: a text or a number, or a list of them, also an empty one: then each line has a set of labels.
* `group`: tested lines of a group are also scored apart.
* `lemma`: names the word of which the label is a sense, the same in all its forms; for lines of one span.
* `document`: names the document of the text; by default it is the text itself, so that none is both trained on and
  tested.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.parsing.json_lines import NumberText, Record, records
from headscope.corpora.parsing.words import Span, within, words
from headscope.corpora.problems import Bad, Skipped, is_whole_number, parsed, refuse_long
from headscope.linguistics.sentence import Example, LabelledSpan, Sentence
from headscope.storage.limits import LONGEST_NAME

SUFFIXES: tuple[str, ...] = ()
FIELDS = ("text", "span", "other_span", "label", "group", "lemma", "document")
COUNTS = {1: "one span", 2: "two spans"}


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each text with the spans of its lines; a line whose span is not in the text, or has no word, is `Bad`.

    The number of spans is that of the first line; a line with another number is `Bad`.
    """
    name, counts = Path(source).name, list[_Line]()
    lines = parsed(records(source, as_written=True), lambda record: _line(record, counts))
    for text, group in groupby(lines, lambda line: (line.text, line.document) if isinstance(line, _Line) else line):
        if isinstance(text, Bad | Skipped):
            yield from group  # type: ignore[misc]
        else:
            yield from _example(list(group), name)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Line:
    """A line: its text, characters of one or two spans, and labels."""

    number: int
    text: str
    document: str
    spans: tuple[Span, ...]
    labels: tuple[str, ...]
    group: str
    lemma: str


def _line(record: Record, first: list[_Line]) -> _Line:
    """Parse a line; `first` has the first line that is good, and gets it."""
    record.only(*FIELDS)
    text = record.get("text", str)
    refuse_long(text, record.line)
    names = ("span", "other_span") if "other_span" in record.fields else ("span",)
    spans = tuple(_span(record, name, text) for name in names)
    document, group, lemma = (_name(record, name) for name in ("document", "group", "lemma"))
    if lemma and len(spans) > 1:
        raise Bad(record.line, "'lemma' and 'other_span' cannot be together; the sense of a word is of one span")
    line = _Line(record.line, text, document, spans, _labels(record), group, lemma)
    if first and len(first[0].spans) != len(spans):
        said = f"{COUNTS[len(spans)]}, but line {first[0].number} has {COUNTS[len(first[0].spans)]}"
        raise Bad(record.line, f"the line has {said}; give all lines 'other_span', or none")
    first[:] = first or [line]
    return line


def _span(record: Record, name: str, text: str) -> Span:
    """The characters of a span."""
    value = record.get(name, list)
    if len(value) != 2 or not all(isinstance(end, NumberText) and is_whole_number(end) for end in value):
        shown = f"[{', '.join(map(str, value))}]"
        raise Bad(record.line, f"'{name}' is {shown[:60]}, expected two characters [start, end), counted from 0")
    start, end = (int(end) for end in value)
    if start >= end:
        said = "is empty" if start == end else "ends before it starts"
        raise Bad(record.line, f"'{name}' [{start}, {end}] {said}; its end is the character after the last one")
    if end > len(text):
        raise Bad(record.line, f"'{name}' [{start}, {end}] is not in the text of {len(text)} characters")
    if not words(text[start:end]):
        raise Bad(record.line, f"'{name}' [{start}, {end}] is {text[start:end][:40]!r}, which has no word; move it")
    return start, end


def _labels(record: Record) -> tuple[str, ...]:
    value = record.fields.get("label")
    if value is None:
        raise Bad(record.line, "no 'label'")
    labels = value if isinstance(value, list) else [value]
    if wrong := [label for label in labels if not isinstance(label, str) or not label.strip()]:
        raise Bad(record.line, f"'label' has {str(wrong[0])[:40]!r}, expected a text, a number, or a list of them")
    if len(set(labels)) < len(labels):
        raise Bad(record.line, f"'label' has '{max(labels, key=labels.count)[:40]}' twice; name each label once")
    return tuple(map(str, labels))


def _name(record: Record, name: str) -> str:
    value = str(record.get(name, str, ""))
    if len(value) > LONGEST_NAME:
        raise Bad(record.line, f"'{name}' has {len(value)} characters, at most {LONGEST_NAME} are stored")
    return value


def _example(lines: list[_Line], name: str) -> Iterator[Example | Bad]:
    """The text of some lines; a line whose spans another one has is bad."""
    text, first = lines[0].text, lines[0]
    parts = words(text, [span for line in lines for span in line.spans])
    by_spans: dict[tuple[Span, ...], tuple[int, LabelledSpan]] = {}
    for line in lines:
        spans = tuple(within(parts, span, line.number) for span in line.spans)
        if spans in by_spans:
            said = f"these spans are those of line {by_spans[spans][0]}"
            yield Bad(line.number, f"{said}; put several labels of one span into a list")
        else:
            by_spans[spans] = line.number, LabelledSpan(spans, line.labels, line.group, line.lemma)
    labelled = tuple(span for _, span in by_spans.values())
    sentence = Sentence(text, parts, document=first.document or text, labelled=labelled)
    yield Example(f"{name}:{first.number}", (sentence,))
