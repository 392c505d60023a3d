"""Treebanks in CoNLL-U (.conllu), with parts of speech, dependencies and, from `Entity=`, coreference."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from headscope.corpora.options import Options
from headscope.corpora.parsing import conllu_mentions, conllu_text, dependency_columns, sentence_pairs
from headscope.corpora.parsing.conllu_sentences import Block, blocks
from headscope.corpora.problems import Bad, Skipped
from headscope.types import Example, Mention, Sentence

SUFFIXES = (".conllu",)


class Document(NamedTuple):
    """Properties that a sentence inherits: its document, and the fields of `Entity=`: entity and kind (None: none)."""

    scope: str
    entity_field: int | None
    kind_field: int | None = None


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sentence; two that follow each other and share `# pair = X` are one example, labelled by `# pair_label`."""
    yield from sentence_pairs.join(_sentences(source))


def _sentences(source: str) -> Iterator[sentence_pairs.Named | Bad | Skipped]:
    document = Document(Path(source).name, None)
    for block in blocks(source):
        if isinstance(block, Bad):
            yield block
            continue
        try:
            document = _document(block, document, Path(source).name)
            mentions, skipped = _mentions(block, document)
            sentence = _sentence(block, mentions, document.scope)
        except Bad as bad:
            yield bad
            continue
        yield from skipped
        if block.comments.get("text", sentence.text) != sentence.text:
            yield Skipped("text that has other words")
        yield _named(block, sentence, Path(source).name)


def _document(block: Block, before: Document, name: str) -> Document:
    comments, (scope, field, kind) = block.comments, before
    if "newdoc id" in comments or "newdoc" in comments:
        scope = comments.get("newdoc id") or f"{name}:{block.line}"
    if "global.Entity" in comments:
        field = conllu_mentions.entity_field(comments["global.Entity"], block.line)
        kind = conllu_mentions.kind_field(comments["global.Entity"])
    return Document(scope, field, kind)


def _mentions(block: Block, document: Document) -> tuple[tuple[Mention, ...] | None, list[Skipped]]:
    if document.entity_field is None:
        return None, []
    mentions, counts = conllu_mentions.mentions(block, document.entity_field, document.kind_field)
    return mentions, [Skipped(reason, count) for reason, count in counts.items()]


def _sentence(block: Block, mentions: tuple[Mention, ...] | None, scope: str) -> Sentence:
    text, spans = conllu_text.text_and_spans(block)
    return Sentence(
        text,
        words=spans,
        upos=dependency_columns.column(block.words, "upos"),
        heads=dependency_columns.heads(block.words),
        deprel=dependency_columns.column(block.words, "deprel"),
        mentions=mentions,
        morphology=dependency_columns.morphology(block.words),
        entity_scope=scope,
    )


def _named(block: Block, sentence: Sentence, name: str) -> sentence_pairs.Named:
    id = block.comments.get("sent_id") or f"{name}:{block.line}"
    return sentence_pairs.Named(id, block.line, sentence, block.comments.get("pair"), block.comments.get("pair_label"))
