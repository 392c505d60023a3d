"""A vector for each word of a treebank: from a file of static vectors, or the model's own input embeddings.

Files have the format of GloVe or word2vec, plain or gzipped; only the vectors of given words are kept. GloVe: a line
for each word, the word and its numbers between blanks. word2vec: the same after a line that says how many words and how
many numbers there are; or binary, 4 bytes for each number. A tab may stand after the word.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.capture.spread import stored
from headscope.corpora.parsing.lines import opened
from headscope.encoding.parsed_sentences import Parsed
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.storage.limits import LONGEST_WORD, MOST_NUMBERS

HEADER = re.compile(rb"(\d{1,12}) (\d{1,9})\s*\n")
NUMBERS = re.compile(rb"[\d.eE+\-\s]+|[\d.eE+\-\s]*nan[\d.eE+\-\s]*", re.IGNORECASE)
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
Entry = tuple[int, bytes, bytes]
# The first vector is 0: that of words without a vector, and of padding.
NONE = 0


@dataclass(frozen=True)
class Vectors:
    """The vectors of words.

    * `row_of`: the row of each word that the file has.
    * `table`: a row for each of them.
    """

    row_of: dict[str, int]
    table: Float[np.ndarray, "word number"]


def read_vectors(source: str, words: Collection[str]) -> Vectors:
    """The vectors that a file has for these words; of a word that it has twice, the first.

    The whole file is checked, and only the vectors of these words are kept: memory grows with them alone.

    Raises `HeadscopeError` naming the line (of a binary file, the word) where a vector has another size than the first,
    a value is not a number, or the file ends too early.
    """
    wanted = {word.encode(errors="replace"): word for word in words}
    row_of: dict[str, int] = {}
    rows: list[np.ndarray] = []
    with opened(source, "vectors") as file:
        size, is_binary, entries = _entries(file, source)
        for number, word, values in entries:
            if word in wanted and wanted[word] not in row_of:
                row_of[wanted[word]] = len(rows)
                where = f"vectors '{source}', {'word' if is_binary else 'line'} {number}"
                rows.append(_vector(values, is_binary, size, where))
    return Vectors(row_of, np.array(rows, dtype=np.float32).reshape(len(rows), size))  # [row, dimension]


def _entries(file: BinaryIO, source: str) -> tuple[int, bool, Iterator[Entry]]:
    """Read the start of a file.

    Returns: the size of a vector, whether numbers are binary, and number, word and numbers of each entry.
    """
    first = file.readline(1 << 20)
    if header := HEADER.fullmatch(first):
        count, size = map(int, header.groups())
        if not 0 < size <= MOST_NUMBERS:
            raise HeadscopeError(f"vectors '{source}', line 1: {size} numbers a word; expected 1 to {MOST_NUMBERS}")
        start = file.read(LONGEST_WORD)
        if _is_binary(start):
            return size, True, _binary(_Buffered(file, start), source, count, size)
        lines = chain((start + file.readline()).splitlines(keepends=True), file)
        return size, False, _text(lines, source, size, first_line=2, count=count)
    size = len(_split(first)[1].split())
    if not 0 < size <= MOST_NUMBERS or not NUMBERS.fullmatch(_split(first)[1]):
        raise HeadscopeError(
            f"vectors '{source}', line 1: no word with its numbers; name a file in the format of GloVe or word2vec"
        )
    return size, False, _text(chain([first], file), source, size)


def _is_binary(start: bytes) -> bool:
    """True if the bytes after the first word are no text of numbers."""
    line = start.partition(b"\n")[0]
    return not NUMBERS.fullmatch(_split(line)[1] or b"x") and not NUMBERS.fullmatch(line.rpartition(b" ")[2] or b"x")


def _split(line: bytes) -> tuple[bytes, bytes]:
    """The word of a line and the rest: to the first tab, else to the first blank."""
    word, _, rest = line.partition(b"\t" if b"\t" in line else b" ")
    return word, rest


def _text(
    lines: Iterator[bytes], source: str, size: int, first_line: int = 1, count: int | None = None
) -> Iterator[Entry]:
    number = first_line - 1
    for number, line in enumerate(lines, first_line):
        line = line.rstrip()
        fields = line.replace(b"\t", b" ").rsplit(b" ", size)
        # A word may have blanks in it (". . ."), but where a number follows one there are too many numbers.
        if len(fields) != size + 1 or NUMBER.fullmatch(fields[0].partition(b" ")[2].rpartition(b" ")[2]):
            size_here = len(line.replace(b"\t", b" ").split(b" ")) - 1
            raise HeadscopeError(
                f"vectors '{source}', line {number}: {size_here} numbers, expected {size}; the file is damaged"
            )
        yield number, fields[0], b" ".join(fields[1:])
    if count is not None and number - first_line + 1 != count:
        raise HeadscopeError(
            f"vectors '{source}': {number - first_line + 1} words, its first line says {count}; get the file again"
        )


def _binary(file: "_Buffered", source: str, count: int, size: int) -> Iterator[Entry]:
    for number in range(1, count + 1):
        word, values = file.until_blank(), file.take(4 * size)
        if word is None or len(values) < 4 * size:
            raise HeadscopeError(
                f"vectors '{source}', word {number}: the file ends there, its first line says {count} words; "
                "get the file again"
            )
        yield number, word.lstrip(b"\n"), values


class _Buffered:
    """Reads words and vectors of a binary file off a buffer."""

    def __init__(self, file: BinaryIO, start: bytes):
        self.file, self.buffer, self.at = file, start, 0

    def until_blank(self) -> bytes | None:
        """The bytes before the next blank; None if none follows soon."""
        end = self._fill(LONGEST_WORD).find(b" ", self.at)
        if end < 0:
            return None
        word, self.at = self.buffer[self.at : end], end + 1
        return word

    def take(self, number: int) -> bytes:
        """This many bytes; fewer at the end of the file."""
        part = self._fill(number)[self.at : self.at + number]
        self.at += number
        return part

    def _fill(self, number: int) -> bytes:
        if len(self.buffer) - self.at < number:
            self.buffer, self.at = self.buffer[self.at :] + self.file.read(1 << 20), 0
        return self.buffer


def _vector(values: bytes, is_binary: bool, size: int, where: str) -> Float[np.ndarray, " number"]:
    try:
        vector = np.frombuffer(values, dtype="<f4") if is_binary else np.array(values.split(b" "), dtype=np.float64)
    except ValueError as error:
        raise HeadscopeError(f"{where}: a value is not a number; the file is damaged") from error
    if not (np.abs(vector) <= np.finfo(np.float32).max).all():
        raise HeadscopeError(f"{where}: a number is not finite; the file is damaged")
    return vector.astype(np.float32)


@dataclass(frozen=True)
class Lexicon:
    """Vectors of words, divided by their root mean square, so that a learning rate means the same for all of them.

    * `rows`: of the words of a sentence in the table.
    * `coverage`: the share of words that have a vector.
    """

    table: Float[Tensor, "row number"]
    rows: Callable[[Parsed], Int[np.ndarray, " word"]]
    coverage: float


def from_file(source: str, sentences: Sequence[Parsed]) -> Lexicon:
    """The vectors of a file, of a word as it is written, else in lower case; see `word_vectors.read_vectors`.

    Raises `HeadscopeError` if it has none of the words.
    """
    forms = {form for sentence in sentences for form in sentence.forms}
    vectors = read_vectors(source, forms | {form.lower() for form in forms})
    if not vectors.row_of:
        raise HeadscopeError(f"vectors '{source}' has none of the words of the treebanks; name one of their language")
    numbers = {form: vectors.row_of.get(form, vectors.row_of.get(form.lower(), NONE - 1)) + 1 for form in forms}
    return _lexicon(vectors.table, numbers, lambda sentence: sentence.forms, sentences)


def from_model(model: Model, sentences: Sequence[Parsed]) -> Lexicon:
    """The model's input embeddings, averaged over the tokens of a word."""
    embeddings: Any = model.network.get_input_embeddings()
    weight = stored(embeddings, "weight", embeddings.weight).detach().float().cpu()
    words = list(dict.fromkeys(pieces for sentence in sentences for pieces in sentence.pieces))
    table = torch.stack([weight[list(pieces)].mean(0) for pieces in words]).numpy()
    numbers = {pieces: number for number, pieces in enumerate(words, 1)}
    return _lexicon(table, numbers, lambda sentence: sentence.pieces, sentences)


def _lexicon(
    vectors: Float[np.ndarray, "word number"],
    numbers: Mapping[Any, int],
    keys: Callable[[Parsed], Sequence[Any]],
    sentences: Sequence[Parsed],
) -> Lexicon:
    table = np.concatenate([np.zeros((1, vectors.shape[1]), np.float32), vectors])
    scale = np.float32(np.sqrt(np.square(vectors, dtype=np.float64).mean())) or np.float32(1)
    numbered = [numbers[key] != NONE for sentence in sentences for key in keys(sentence)]
    return Lexicon(
        torch.from_numpy(table / scale),
        lambda sentence: np.array([numbers[key] for key in keys(sentence)]),
        float(np.mean(numbered)),
    )
