"""Links of your own between words (.jsonl): a sentence, and the pairs of its words that are linked.

Each line is an object:

    {"text": "She had grown restless.", "words": ["She", "had", "grown", "restless", "."],
     "links": [{"source": [0], "target": [3], "relation": "Experiencer"}]}

* `text`: the sentence. Without it, it is made of the words with blanks between them.
* `words`: its words, in order. Without them, they are what stands between blanks.
* `links`: each from the words of `source` to those of `target`, numbered from 0; a single number will do, and words
  need not be neighbours. `relation` names what links them; without it, it is "link".
* `id`: names the sentence in messages; it must be unique.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.parsing.json_lines import Record, records
from headscope.corpora.parsing.words import Span, between_blanks, located
from headscope.corpora.problems import Bad, Skipped, parsed, refuse_long
from headscope.linguistics.sentence import Example, Link, Sentence

SUFFIXES: tuple[str, ...] = ()


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each line with its links; one that links words that are not there, none at all, or a word to itself is `Bad`."""
    return parsed(records(source, cursor=options.cursor), partial(_example, name=Path(source).name))


def _example(record: Record, name: str) -> Example:
    record.only("text", "words", "links", "id")
    text, words = _text(record)
    links = tuple(_link(link, len(words)) for link in record.records("links"))
    return Example(record.get("id", str, f"{name}:{record.line}"), (Sentence(text, words, links=links),))


def _text(record: Record) -> tuple[str, tuple[Span, ...]]:
    if "words" not in record.fields:
        text = record.get("text", str)
        refuse_long(text, record.line)
        return text, between_blanks(text)
    words = record.get("words", list)
    if wrong := [word for word in words if not isinstance(word, str) or not word.strip()]:
        raise Bad(record.line, f"'words' has {wrong[0]!r}, expected a text that is not blank")
    text = record.get("text", str, " ".join(words))
    refuse_long(text, record.line)
    spans = located(text, words)
    if spans is None:
        raise Bad(record.line, f"the words are not those of the text '{text}'")
    return text, spans


def _link(record: Record, words: int) -> Link:
    record.only("source", "target", "relation")
    source, target = (_numbers(record, name, words) for name in ("source", "target"))
    if shared := sorted(set(source) & set(target)):
        raise Bad(record.line, f"word {shared[0]} is both source and target of a link")
    return Link(record.get("relation", str, "link"), source, target)


def _numbers(record: Record, name: str, words: int) -> tuple[int, ...]:
    value = record.fields.get(name)
    numbers = value if isinstance(value, list) else [value] if value is not None else []
    if not numbers:
        raise Bad(record.line, f"a link has no {name}; name at least one word")
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise Bad(record.line, f"the {name} of a link has {number!r}, expected the number of a word")
        if not 0 <= number < words:
            raise Bad(record.line, f"the {name} of a link has word {number}, but the words are 0 to {words - 1}")
    return tuple(sorted(set(numbers)))
