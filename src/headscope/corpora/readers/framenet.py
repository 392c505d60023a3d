"""FrameNet examples: frame elements, linked to the word that evokes the frame (lu/*.xml as released, or .jsonl)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from headscope.corpora.options import Options, existing, in_folder
from headscope.corpora.parsing.json_lines import Record, records
from headscope.corpora.parsing.lines import suffix
from headscope.corpora.parsing.words import Span, between_blanks, covered
from headscope.corpora.parsing.xml import Node, tree
from headscope.corpora.problems import Bad, Skipped, parsed, refuse_long, whole_number
from headscope.linguistics.sentence import Example, LabelledSpan, Link, Sentence

SUFFIXES = (".xml",)


class Element(NamedTuple):
    """A frame element: its name, whether it is core, and its characters [start, end)."""

    name: str
    core: bool
    span: Span


class Annotated(NamedTuple):
    """A sentence annotated for one frame; `line` is where it stands, `target` the characters that evoke the frame."""

    line: int
    id: str
    text: str
    frame: str
    target: tuple[Span, ...]
    elements: tuple[Element, ...]


def from_jsonl(source: str) -> Iterator[Annotated | Bad | Skipped]:
    """Each line: "sentence", "frame", "target" or "target_spans", and "elements" ("name", "core", "start", "end").

    Characters are counted from 0, ends are excluded. Other fields are not read, but for "lexical_unit" and "anno_id",
    which name the example.
    """
    return parsed(records(source), _from_record)


def _from_record(record: Record) -> Annotated:
    several = record.get("target_spans", list) if record.fields.get("target_spans") is not None else []
    spans = several or [record.get("target", list)]
    elements = [
        Element(
            element.get("name", str), element.get("core", bool), (element.get("start", int), element.get("end", int))
        )
        for element in record.records("elements")
    ]
    for span in spans:
        if not (isinstance(span, list) and len(span) == 2 and all(type(end) is int for end in span)):
            raise Bad(record.line, f"target {span!r} is not [start, end]")
    name = f"{record.get('lexical_unit', str, '')}:{record.fields.get('anno_id', f'line {record.line}')}"
    target = tuple((start, end) for start, end in spans)
    return Annotated(
        record.line, name, record.get("sentence", str), record.get("frame", str, ""), target, tuple(elements)
    )


def from_xml(source: str) -> Iterator[Annotated | Bad | Skipped]:
    """The annotations of a lexical unit (lu/lu10.xml of the release), whose ends of spans are included.

    Elements without words ("null instantiation") and sentences without annotation are counted.
    """
    try:
        root = tree(source)
        if root.name != "lexUnit":
            raise Bad(root.line, f"<{root.name}> is no lexical unit; name files of the folder lu, or another --kind")
        types = {
            element.required("name"): element.attributes["type"]
            for element in root.within("FE")
            if "type" in element.attributes
        }
        head = (root.required("name"), root.required("frame"))
    except Bad as bad:
        yield bad
        return
    for sentence in root.within("sentence"):
        yield from _of_sentence(sentence, *head, types)


def _of_sentence(
    sentence: Node, lexical_unit: str, frame: str, types: dict[str, str]
) -> Iterator[Annotated | Bad | Skipped]:
    text = "".join(part.text for part in sentence.named("text"))
    sets = [annotation for annotation in sentence.named("annotationSet") if any(_labels(annotation, "Target"))]
    if not sets:
        yield Skipped("sentences without annotation")
    for annotation in sets:
        try:
            elements = [label for label in _labels(annotation, "FE") if "start" in label.attributes]
            if without_words := sum(1 for _ in _labels(annotation, "FE")) - len(elements):
                yield Skipped("frame elements without words", without_words)
            yield Annotated(
                annotation.line,
                f"{lexical_unit}:{annotation.required('ID')}",
                text,
                frame,
                tuple(_span(label) for label in _labels(annotation, "Target")),
                tuple(_element(label, types) for label in elements),
            )
        except Bad as bad:
            yield bad


def _labels(annotation: Node, layer: str) -> Iterator[Node]:
    return (
        label
        for part in annotation.named("layer")
        if part.attributes.get("name") == layer
        for label in part.named("label")
    )


def _element(label: Node, types: dict[str, str]) -> Element:
    name = label.required("name")
    if name not in types:
        raise Bad(label.line, f"the frame has no element '{name}'")
    # "Core" and "Core-Unexpressed", as NLTK's and the released code's "core" elements
    return Element(name, types[name].startswith("Core"), _span(label))


def _span(label: Node) -> Span:
    start, end = label.required("start"), label.required("end")
    return whole_number(start, label.line, "start"), whole_number(end, label.line, "end") + 1


def locate(source: str, options: Options) -> list[str]:
    """A file; or all of a folder (the release, or its folder lu), lexical units in the order of their numbers."""
    folder = str(Path(source) / "lu") if (Path(source) / "lu").is_dir() else source
    names = {path: Path(path).name for path in in_folder(folder, "lu*.xml*")}
    files = {path: re.fullmatch(r"lu(\d{1,9})\.xml(\.gz)?", name) for path, name in names.items()}
    numbered = sorted((int(match[1]), path) for path, match in files.items() if match)
    return [path for _, path in numbered] or existing(source, options)


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each annotated sentence, labelled by its frame; words stand between blanks, as in the release.

    Each element is the source of a link, the word that evokes the frame its target ("give ... up" is one of two parts).
    The frame is a sense of the lexical unit (see `senses`), at the first part of its target.
    """
    annotated = from_xml if suffix(source) == ".xml" else from_jsonl
    return parsed(annotated(source), _example)


def _example(item: Annotated) -> Example:
    refuse_long(item.text, item.line)
    text = item.text.rstrip()
    words = between_blanks(text)
    target = sorted({word for span in item.target for word in _words(item, words, span, "the target")})
    links = tuple(
        Link(element.name, _words(item, words, element.span, f"element '{element.name}'"), tuple(target), element.core)
        for element in item.elements
    )
    end = next(word for word in range(target[0] + 1, len(words) + 1) if word not in target)
    lemma = item.id.rpartition(":")[0]
    senses = (LabelledSpan(((target[0], end),), (item.frame,), lemma=lemma),) if item.frame and lemma else ()
    return Example(item.id, (Sentence(text, words, links=links, labelled=senses),), label=item.frame or None)


def _words(item: Annotated, words: tuple[Span, ...], span: Span, what: str) -> tuple[int, ...]:
    if not 0 <= span[0] < span[1] <= len(item.text):
        raise Bad(item.line, f"{what} is characters [{span[0]}, {span[1]}) of a sentence of {len(item.text)}")
    numbers = covered(words, span)
    if not numbers:
        raise Bad(item.line, f"{what} is blank")
    return numbers
