"""Questions about passages in the JSON of SQuAD (Rajpurkar et al. 2016); those without an answer (2.0) are left out.

The label of an example is where its answers stand in the passage: "12:18 30:36", characters [start, end).
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from headscope.corpora.options import Options
from headscope.corpora.parsing.json_lines import Record, parse
from headscope.corpora.parsing.lines import opened
from headscope.corpora.problems import Bad, Skipped
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.storage.limits import LARGEST_FILE

SUFFIXES: tuple[str, ...] = ()
VERSIONS = ("-v1.1", "-v2.0", "")


def locate(source: str, options: Options) -> list[str]:
    """The file of a split in a folder (`dev-v1.1.json`), or the source itself if it is a file.

    Raises `HeadscopeError` if there is no such file.
    """
    if Path(source).is_file():
        return [source]
    split = options.split or "dev"
    for folder, version, packed in product((Path(source), Path(source) / "squad"), VERSIONS, ("", ".gz")):
        if (path := folder / f"{split}{version}.json{packed}").is_file():
            return [str(path)]
    raise HeadscopeError(f"corpus '{source}': no split '{split}'; name the folder that has its {split}-v1.1.json")


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each question with its passage, which is a document; problems have the number of the passage for a line."""
    with opened(source) as file:
        content = file.read(LARGEST_FILE + 1)
    try:
        document: Any = parse(content.decode()) if len(content) <= LARGEST_FILE else None
    except ValueError as error:
        raise HeadscopeError(f"corpus '{source}' is not JSON ({error}); check the file") from error
    if not isinstance(document, dict):
        raise HeadscopeError(f"corpus '{source}' is no object with 'data', or too large; use the file of SQuAD")
    number = 0
    try:
        for article in Record(1, document).records("data"):
            for passage in article.records("paragraphs"):
                number += 1
                yield from _questions(Record(number, passage.fields), f"{Path(source).name}:{number}")
    except Bad as bad:
        yield bad


def _questions(passage: Record, document: str) -> Iterator[Example | Bad | Skipped]:
    text = passage.get("context", str)
    for number, asked in enumerate(passage.records("qas"), 1):
        spans = dict[str, None]()
        for answer in asked.records("answers"):
            start, answered = answer.get("answer_start", int), answer.get("text", str)
            if not answered or start < 0 or text[start : start + len(answered)] != answered:
                yield Bad(passage.line, f"answer '{answered[:40]}' does not stand at character {start}")
                return
            spans[f"{start}:{start + len(answered)}"] = None
        if not spans:
            yield Skipped("questions without an answer")
            continue
        question = Sentence(asked.get("question", str), document=document)
        yield Example(f"{document}-{number}", (question,), (Sentence(text),), " ".join(spans))
