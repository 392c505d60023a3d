"""FrameNet examples: frame elements, linked to the word that evokes the frame (lu/*.xml as released, or .jsonl)."""

import re
from collections.abc import Iterator
from pathlib import Path

from headscope.corpora.options import Options, existing, in_folder
from headscope.corpora.parsing import framenet_json
from headscope.corpora.parsing.limits import refuse_long
from headscope.corpora.parsing.lines import suffix
from headscope.corpora.parsing.words import Span, between_blanks, covered
from headscope.corpora.problems import Bad, Skipped, parsed
from headscope.linguistics.sentence import Example, Link, Sentence

SUFFIXES = (".xml",)


def locate(source: str, options: Options) -> list[str]:
    """A file; or all of a folder (the release, or its folder lu), lexical units in the order of their numbers.

    Raises `HeadscopeError` if there is none.
    """
    folder = str(Path(source) / "lu") if (Path(source) / "lu").is_dir() else source
    names = {path: Path(path).name for path in in_folder(folder, "lu*.xml*")}
    files = {path: re.fullmatch(r"lu(\d{1,9})\.xml(\.gz)?", name) for path, name in names.items()}
    numbered = sorted((int(match[1]), path) for path, match in files.items() if match)
    return [path for _, path in numbered] or existing(source, options)


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each annotated sentence, labelled by its frame; words stand between blanks, as in the release.

    Each element is the source of a link, the word that evokes the frame its target ("give ... up" is one of two parts).
    """
    annotated = framenet_json.from_xml if suffix(source) == ".xml" else framenet_json.from_jsonl
    return parsed(annotated(source), _example)


def _example(item: framenet_json.Annotated) -> Example:
    refuse_long(item.text, item.line)
    text = item.text.rstrip()
    words = between_blanks(text)
    target = sorted({word for span in item.target for word in _words(item, words, span, "the target")})
    links = tuple(
        Link(element.name, _words(item, words, element.span, f"element '{element.name}'"), tuple(target), element.core)
        for element in item.elements
    )
    return Example(item.id, (Sentence(text, words, links=links),), label=item.frame or None)


def _words(item: framenet_json.Annotated, words: tuple[Span, ...], span: Span, what: str) -> tuple[int, ...]:
    if not 0 <= span[0] < span[1] <= len(item.text):
        raise Bad(item.line, f"{what} is characters [{span[0]}, {span[1]}) of a sentence of {len(item.text)}")
    numbers = covered(words, span)
    if not numbers:
        raise Bad(item.line, f"{what} is blank")
    return numbers
