"""Sentence ends, words, parts of speech and dependencies, by an installed spaCy pipeline.

Only what the pipeline sets is used; relation labels are the pipeline's own, but for the root, which is "root".
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from textwrap import shorten
from typing import Any

from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence

# spaCy is an optional extra, without which its types are unknown
Span = Any
Pipeline = Callable[[str], Any]


def annotator(pipeline: str) -> Callable[[Example], Example]:
    """A function that annotates an example: its sentences without words are split into sentences.

    * `pipeline`: the name of an installed spaCy pipeline, or the folder of one.

    Raises `HeadscopeError` if spaCy or the pipeline is not installed, or the pipeline is damaged.
    """
    nlp = load(pipeline)
    return lambda example: replace(example, first=_segment(example.first, nlp), second=_segment(example.second, nlp))


def load(pipeline: str) -> Pipeline:
    """An installed spaCy pipeline.

    Raises `HeadscopeError` if spaCy or the pipeline is not installed, or the pipeline is damaged.
    """
    spacy = require("spacy")
    if not (spacy.util.is_package(pipeline) or os.path.isdir(pipeline)):
        remedy = f"python -m spacy download {pipeline}, or name a folder"
        raise HeadscopeError(f"annotate: spaCy pipeline '{pipeline}' is not installed; {remedy}")
    with _errors_of(pipeline):
        nlp = spacy.load(pipeline)

    def run(text: str) -> Any:
        with _errors_of(pipeline):
            return nlp(text)

    return run


@contextmanager
def _errors_of(pipeline: str) -> Iterator[None]:
    """Within this context any error of a pipeline, which may be of any kind, becomes a `HeadscopeError`."""
    try:
        yield
    except Exception as error:
        reason = shorten(str(error) or type(error).__name__, 240, placeholder=" ...")
        remedy = "save it again with to_disk, or name another"
        raise HeadscopeError(f"annotate: spaCy pipeline '{pipeline}' cannot be used ({reason}); {remedy}") from error


def _segment(sentences: tuple[Sentence, ...], nlp: Pipeline) -> tuple[Sentence, ...]:
    return tuple(new for old in sentences for new in ([old] if old.words else _sentences(nlp(old.text), old.document)))


def _sentences(doc: Any, document: str) -> list[Sentence]:
    spans = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    return [replace(_sentence(span, doc), document=document) for span in spans if span.text.strip()]


def _sentence(span: Span, doc: Any) -> Sentence:
    tokens = [token for token in span if not token.is_space]
    start, end = tokens[0].idx, tokens[-1].idx + len(tokens[-1])
    position = {token.i: number for number, token in enumerate(tokens, 1)}
    parsed = doc.has_annotation("DEP") and doc.has_annotation("HEAD")
    tree = [(_head(token, position), token.dep_) for token in tokens] if parsed else []
    return Sentence(
        doc.text[start:end],
        words=tuple((token.idx - start, token.idx + len(token) - start) for token in tokens),
        upos=tuple(token.pos_ for token in tokens) if doc.has_annotation("POS") else (),
        heads=tuple(head for head, _ in tree),
        deprel=tuple(relation if head else "root" for head, relation in tree),
    )


def _head(token: Any, position: dict[int, int]) -> int:
    head = token.head
    # spaCy hangs blanks into the tree as tokens; a word under one goes to the first word above it
    while head.i not in position and head.head.i != head.i:
        head = head.head
    return 0 if head.i == token.i else position.get(head.i, 0)
