"""Sentence ends, words, parts of speech and dependencies, by an installed spaCy pipeline.

Only what the pipeline sets is used. Relations of another scheme than that of Universal Dependencies are translated
(`linguistics.relation_schemes`) and counted; the scheme is told by the labels of the pipeline, or where it has no list
of them by those of a text.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Any

from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.linguistics.relation_schemes import is_universal, scheme_of
from headscope.linguistics.sentence import Example, Sentence

Span = Any  # spaCy is an optional extra, without which its types are unknown


def annotator(pipeline: str, counts: Counter[str]) -> Callable[[Example], Example]:
    """A function that annotates an example: its sentences without words are split into sentences.

    * `counts`: is told how many relations were translated from which scheme, and how many are of none.
    """
    nlp = load(pipeline)

    def segment(sentences: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
        return tuple(new for old in sentences for new in ([old] if old.words else annotated(old)))

    def annotated(old: Sentence) -> list[Sentence]:
        return [replace(new, document=old.document) for new in _sentences(nlp(old.text), nlp.relations, counts)]

    return lambda example: replace(example, first=segment(example.first), second=segment(example.second))


@dataclass(frozen=True)
class Pipeline:
    """A spaCy pipeline; `relations`: those that its parsers may find, none where they have no list of them."""

    name: str
    run: Callable[[str], Any]
    relations: frozenset[str]

    def __call__(self, text: str) -> Any:
        """The annotated text."""
        with _errors_of(self.name):
            return self.run(text)


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
        parsers = [part for name, part in nlp.pipeline if "token.dep" in nlp.get_pipe_meta(name).assigns]
        labels = [label for parser in parsers for label in getattr(parser, "labels", ())]
    # a label of a lifted arc has that of its head after it: "advmod||xcomp"
    return Pipeline(pipeline, nlp, frozenset(str(label).partition("||")[0] for label in labels))


@contextmanager
def _errors_of(pipeline: str) -> Iterator[None]:
    """Within this context any error of a pipeline, which may be of any kind, becomes a `HeadscopeError`."""
    try:
        yield
    except Exception as error:
        reason = shorten(str(error) or type(error).__name__, 240, placeholder=" ...")
        remedy = "save it again with to_disk, or name another"
        raise HeadscopeError(f"annotate: spaCy pipeline '{pipeline}' cannot be used ({reason}); {remedy}") from error


def _sentences(doc: Any, names: Collection[str], counts: Counter[str]) -> list[Sentence]:
    spans = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    relations = _relations(doc, names, counts) if doc.has_annotation("DEP") and doc.has_annotation("HEAD") else []
    return [_sentence(span, doc, relations) for span in spans if span.text.strip()]


def _relations(doc: Any, names: Collection[str], counts: Counter[str]) -> list[str]:
    """The universal relation of each token, by the labels of the pipeline; `counts` is told of those that were not."""
    scheme = scheme_of(names or {token.dep_ for token in doc})
    relations = [scheme.translated(token.dep_, token.pos_) if scheme else token.dep_ for token in doc]
    words = [(token.dep_, new) for token, new in zip(doc, relations, strict=True) if not token.is_space]
    counts[f"relations of {scheme and scheme.name}, read as universal ones"] += sum(old != new for old, new in words)
    counts["relations that Universal Dependencies do not have"] += sum(not is_universal(new) for _, new in words)
    return relations


def _sentence(span: Span, doc: Any, relations: list[str]) -> Sentence:
    tokens = [token for token in span if not token.is_space]
    start, end = tokens[0].idx, tokens[-1].idx + len(tokens[-1])
    position = {token.i: number for number, token in enumerate(tokens, 1)}
    tree = [(_head(token, position), relations[token.i]) for token in tokens] if relations else []
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
