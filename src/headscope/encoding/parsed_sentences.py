"""Sentences of a treebank, or of a batch, as parsers read them: words with tokens, and the syntactic head of each."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from headscope.encoding.batch import Batch
from headscope.linguistics.dependencies import dependencies_of
from headscope.linguistics.sentence import Example

ROOT, UNKNOWN = 0, -1
FIFTH = 5
# With fewer documents the tested part would have too few for an interval: then sentences are split.
LEAST_TO_SPLIT = 25


@dataclass(frozen=True)
class Parsed:
    """A sentence of a treebank, as far as its words have tokens.

    * `input`: the number of the input that it is in, `number`: its own number there; `unit`: of what is resampled with
      it, its document or the input itself.
    * `words`: the numbers of its words in their example, from 0; `forms`: as they are written.
    * `heads`: of each word, counted from 1 among these words; `ROOT`, or `UNKNOWN` where the head has no token.
    * `relations`: to the head, without subtypes; "root" for a root.
    * `pieces`: the vocabulary numbers of each word's tokens.
    """

    input: int
    number: int
    unit: int
    words: Int[np.ndarray, " word"]
    forms: tuple[str, ...]
    heads: Int[np.ndarray, " word"]
    relations: np.ndarray
    pieces: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def order(self) -> tuple[int, int]:
        """The position of the sentence in its corpus."""
        return self.input, self.number


def parsed(
    example: Example, input: int, unit: int, pieces: Sequence[tuple[int, ...]], counts: Counter[str] | None = None
) -> Iterator[Parsed]:
    """The sentences of an example that have a tree; `pieces` are the tokens of all of its words.

    `counts` counts sentences without a tree, and words whose head has no token.
    """
    words, before = list(dependencies_of(example)), 0
    counts = Counter() if counts is None else counts
    for number, sentence in enumerate(example.sentences):
        present = [word for word in words if before <= word.word < before + len(sentence.words) and pieces[word.word]]
        if not sentence.heads:
            counts["sentences without a tree"] += 1
        if present:
            index = {word.word: number for number, word in enumerate(present, 1)}
            heads = [ROOT if word.relation == "root" else index.get(word.head, UNKNOWN) for word in present]
            if lost := heads.count(UNKNOWN):
                counts["words whose head has no token"] += lost
            forms = sentence.forms
            yield Parsed(
                input,
                number,
                unit,
                np.array(list(index)),
                tuple(forms[word.position] for word in present),
                np.array(heads),
                np.array([word.relation for word in present]),
                tuple(pieces[word.word] for word in present),
            )
        before += len(sentence.words)


def every_fifth(units: Sequence[int], by_document: bool = False) -> tuple[list[int], list[int]]:
    """Split the sentences of the only treebank. Returns: numbers to train on, and every fifth to test.

    Every fifth document is tested where there are `LEAST_TO_SPLIT`, so that none has sentences in both parts; else
    every fifth sentence.

    * `units`: the number of the document of each sentence, if `by_document`.

    >>> every_fifth(range(6))
    ([0, 1, 2, 3, 5], [4])
    >>> every_fifth([document for document in range(25) for _ in range(3)], by_document=True)[1]
    [12, 13, 14, 27, 28, 29, 42, 43, 44, 57, 58, 59, 72, 73, 74]
    """
    numbers = list(range(len(units)))
    order = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    groups = [order[unit] for unit in units] if by_document and len(order) >= LEAST_TO_SPLIT else numbers
    tested = [number for number in numbers if groups[number] % FIFTH == FIFTH - 1]
    return [number for number in numbers if groups[number] % FIFTH != FIFTH - 1], tested


def sentences_of(batch: Batch, counts: Counter[str] | None = None) -> Iterator[tuple[int, Parsed]]:
    """The sentences of a batch that have a tree, each with the row of its example; `counts` as in `parsed`."""
    numbers = zip(batch.examples, batch.index.tolist(), batch.unit.tolist(), strict=True)
    for row, (example, input, unit) in enumerate(numbers):
        pieces = piece_ids(batch, row, example.n_words)
        yield from ((row, sentence) for sentence in parsed(example, input, unit, pieces, counts))


def piece_ids(batch: Batch, row: int, words: int) -> list[tuple[int, ...]]:
    """The vocabulary numbers of the tokens of each word of an example."""
    ids_of: list[list[int]] = [[] for _ in range(words)]
    if batch.pieces is not None:
        ids = batch.inputs["input_ids"][row].tolist()
        for word, token in batch.pieces[batch.pieces[:, 0] == row, 1:].tolist():
            ids_of[word].append(ids[token])
    return list(map(tuple, ids_of))
