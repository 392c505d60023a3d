"""Treebanks in CoNLL-U (.conllu, .conllup, .cupt): parts of speech, dependencies and, from `Entity=`, coreference."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from headscope.corpora.options import Options
from headscope.corpora.parsing import conllu_text
from headscope.corpora.parsing.conllu_rows import Block, blocks, column, morphology, newdoc, tree_of
from headscope.corpora.parsing.lines import Cursor
from headscope.corpora.problems import Bad, Skipped
from headscope.linguistics.sentence import Example, Mention, Sentence

SUFFIXES = (".conllu", ".conllup", ".cupt")


class Document(NamedTuple):
    """Properties that a sentence inherits: its document, and the fields of `Entity=` ("": none are declared)."""

    scope: str
    fields: str = ""


class Named(NamedTuple):
    """A sentence with its id, the line it starts on, its label, and the pair of `# pair = X` that two of them share."""

    id: str
    line: int
    sentence: Sentence
    pair: str | None
    label: str | None


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sentence; two that follow each other and share `# pair = X` are one example, labelled by `# pair_label`."""
    yield from _paired(_sentences(source, options.cursor or Cursor()))


def _paired(items: Iterator[Named | Bad | Skipped]) -> Iterator[Example | Bad | Skipped]:
    """Examples of one sentence, and of two where they are a pair; a sentence that lacks its partner is bad."""
    waiting: Named | None = None
    for item in items:
        if not isinstance(item, Named):
            yield item
            continue
        if waiting and waiting.pair == item.pair:
            yield _pair(waiting, item)
            waiting = None
            continue
        if waiting:
            yield _alone(waiting)
        waiting = item if item.pair else None
        if not item.pair:
            yield Example(item.id, (item.sentence,), label=item.label)
    if waiting:
        yield _alone(waiting)


def _pair(first: Named, second: Named) -> Example | Bad:
    if first.label and second.label and first.label != second.label:
        return Bad(
            second.line, f"pair '{second.pair}' has the labels '{first.label}' and '{second.label}', expected one"
        )
    return Example(first.pair or "", (first.sentence,), (second.sentence,), first.label or second.label)


def _alone(item: Named) -> Bad:
    return Bad(item.line, f"pair '{item.pair}' has one sentence, expected two that follow each other")


def _sentences(source: str, cursor: Cursor) -> Iterator[Named | Bad | Skipped]:
    name = Path(source).name
    for block in blocks(source, cursor):
        if isinstance(block, Bad):
            yield block
            continue
        try:
            document = _document(block, Document(*cursor.known or (name,)), name)
            cursor.known = tuple(document)
            mentions, skipped = _mentions(block, document)
            sentence = _sentence(block, mentions, document.scope)
        except Bad as bad:
            yield bad
            continue
        yield from skipped
        if block.comments.get("text", sentence.text) != sentence.text:
            yield Skipped("text that has other words")
        yield _named(block, sentence, name)


def _document(block: Block, before: Document, name: str) -> Document:
    return Document(newdoc(block, name) or before.scope, block.comments.get("global.Entity", before.fields))


def _mentions(block: Block, document: Document) -> tuple[tuple[Mention, ...] | None, list[Skipped]]:
    if not document.fields:
        return None, []
    mentions, counts = conllu_text.mentions(block, document.fields)
    return mentions, [Skipped(reason, count) for reason, count in counts.items()]


def _sentence(block: Block, mentions: tuple[Mention, ...] | None, scope: str) -> Sentence:
    text, spans = conllu_text.text_and_spans(block)
    return Sentence(
        text,
        words=spans,
        upos=column(block.words, "upos"),
        heads=tree_of(block.words),
        deprel=column(block.words, "deprel"),
        mentions=mentions,
        morphology=morphology(block.words),
        document=scope,
    )


def _named(block: Block, sentence: Sentence, name: str) -> Named:
    id = block.comments.get("sent_id") or f"{name}:{block.line}"
    return Named(id, block.line, sentence, block.comments.get("pair"), block.comments.get("pair_label"))
