"""The pieces of a corpus, document by document, with what each belongs to."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

import numpy as np
from transformers import PreTrainedTokenizerBase

from headscope.corpora import Corpus
from headscope.corpora.tasks.labels import class_name
from headscope.linguistics.sentence import Sentence, number_of
from headscope.studies.training.pretrain.blocks import DocumentPieces, Part
from headscope.studies.training.pretrain.units import UNITS, joined_words

TOGETHER = 1000


def streams(
    tokenizer: PreTrainedTokenizerBase, corpus: Corpus, labels: Mapping[str, int] | None = None
) -> list[DocumentPieces]:
    """The pieces of each document of a corpus, all sentences in their order; without documents it is one.

    * `labels`: the number of each label; by default all texts have the same.
    """
    rows: dict[str, list[Part]] = {}
    ends: dict[str, list[np.ndarray]] = {}
    sentences = _sentences(corpus, labels or {})
    while group := list(islice(sentences, TOGETHER)):
        texts = [sentence.text for _, sentence, _ in group]
        encodings = tokenizer(texts, add_special_tokens=False, verbose=False).encodings
        for (document, sentence, label), encoding in zip(group, encodings or [], strict=True):
            pieces = np.array(encoding.ids, dtype=np.int64)
            if not len(pieces):
                continue
            words = np.array([-1 if word is None else word for word in encoding.word_ids])
            before = rows.setdefault(document, [])
            words = words - words[0] + (before[-1][-1, 1] + 1 if before else 0)
            starts = np.array(encoding.offsets)[:, 0]
            units = [joined_words(words, starts, sentence, spans) for spans in UNITS.values()]
            before.append(np.column_stack([pieces, words, *units, np.full(len(pieces), label)]))
            ends.setdefault(document, []).append(np.arange(len(pieces)) == len(pieces) - 1)
    return [
        DocumentPieces(np.concatenate(parts), np.concatenate(ends[name]), number_of(name) if name else 0)
        for name, parts in rows.items()
    ]


def _sentences(corpus: Corpus, labels: Mapping[str, int]) -> Iterator[tuple[str, Sentence, int]]:
    """Each sentence with the name of its document and the number of its label."""
    for example in corpus:
        label = labels.get(class_name(example.label), 0)
        for sentence in example.sentences:
            yield sentence.document or example.document, sentence, label


def shuffled(documents: list[DocumentPieces], seed: int) -> list[DocumentPieces]:
    """The same documents with their pieces in random order over all of them: nothing but frequencies can be learned."""
    pieces = np.random.default_rng(seed).permutation(np.concatenate([stream.rows[:, 0] for stream in documents]))
    stops = np.cumsum([len(stream.rows) for stream in documents])[:-1]
    return [
        replace(stream, rows=np.column_stack([part, stream.rows[:, 1:]]))
        for stream, part in zip(documents, np.split(pieces, stops), strict=True)
    ]
