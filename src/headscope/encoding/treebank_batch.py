"""The parsed sentences of a batch."""

from collections import Counter
from collections.abc import Iterator

from headscope.encoding.batch import Batch
from headscope.linguistics.parsed_sentences import Parsed, parsed


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
    return [tuple(each) for each in ids_of]
