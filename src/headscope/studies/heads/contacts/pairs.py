"""Which pairs of words are contacts: by a file of pairs, by matrices in a folder, or by the corpus itself."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from headscope.corpora.parsing.lines import lines
from headscope.corpora.problems import is_whole_number
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example

Pairs = Int[np.ndarray, "pair 2"]
NONE = np.zeros((0, 2), np.int64)
COLUMNS = "the name of a sequence and the numbers of two of its residues, from 1"
MATRIX = "a square of 0 and 1, with a row for each letter"
SEPARATORS = {".tsv": "\t", ".csv": ","}


@dataclass(frozen=True)
class Contacts:
    """The contacts of sequences by name, numbered from 0; of None those of the corpus: its links, or its trees.

    * `source`: a file of pairs (.tsv, .csv), or a folder with a matrix NAME.npy, NAME.tsv or NAME.csv for a sequence.
    """

    source: Path | None
    by_name: dict[str, Pairs]

    def of(self, example: Example) -> Pairs:
        """The pairs of an example, each with the smaller number first.

        Raises `HeadscopeError` for a number beyond its words.
        """
        if self.source is None:
            pairs = np.array([*_annotated(example)], np.int64).reshape(-1, 2)
        else:
            pairs = self.by_name.get(example.document, NONE)
        if pairs.max(initial=-1) >= example.n_words:
            number, words = int(pairs.max()) + 1, example.n_words
            raise HeadscopeError(
                f"contacts '{self.source}': sequence '{example.document[:40]}' has a residue {number}, but {words} "
                "letters; count residues from 1, in the sequence as it is in the corpus"
            )
        return np.unique(np.sort(pairs, axis=1), axis=0)


def read_contacts(source: Path | None, corpus: Iterable[Example]) -> Contacts:
    """Contacts of a file of pairs, of a folder with the matrices of the examples of a corpus, or of None.

    Raises `HeadscopeError` for a file that cannot be read, naming the line, for a matrix of another size, and for two
    sequences of one name.
    """
    if source is None:
        return Contacts(None, {})
    _refuse_equal_names(source, corpus)
    if source.is_dir():
        return Contacts(source, {example.document: _matrix(source, example) for example in corpus})
    if (separator := SEPARATORS.get(source.suffix.lower())) is None:
        named = f"a .tsv or .csv of pairs ({COLUMNS}), or a folder of matrices (NAME.npy)"
        raise HeadscopeError(f"contacts '{source}' end in '{source.suffix}'; name {named}")
    by_name: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, line in lines(source, "contacts"):
        columns = [column.strip() for column in line.split(separator)]
        is_pair = len(columns) == 3 and all(is_whole_number(column) and int(column) for column in columns[1:])
        if is_pair:
            by_name[columns[0]].append((int(columns[1]) - 1, int(columns[2]) - 1))
        elif any(columns) and number > 1:  # the first line may be a header
            raise HeadscopeError(f"contacts '{source}', line {number}: '{line[:40]}' is not {COLUMNS}; correct it")
    if not by_name:
        raise HeadscopeError(f"contacts '{source}' have no pair: no line has {COLUMNS}")
    return Contacts(source, {name: np.array(pairs, np.int64) for name, pairs in by_name.items()})


def _refuse_equal_names(source: Path, corpus: Iterable[Example]) -> None:
    """Raise `HeadscopeError` where a name does not tell the sequence."""
    name, times = max(Counter(example.document for example in corpus).items(), key=lambda pair: pair[1])
    if times > 1:
        raise HeadscopeError(
            f"contacts '{source}': {times} sequences are named '{name[:40]}'; give each a name of its own (after '>')"
        )


def _annotated(example: Example) -> Iterator[tuple[int, int]]:
    """The linked words of an example; where there are no links, each word with its syntactic head."""
    before = 0
    for sentence in example.sentences:
        for link in sentence.links:
            yield from ((before + first, before + second) for first, second in product(link.source, link.target))
        if not sentence.links:
            yield from ((before + word, before + head - 1) for word, head in enumerate(sentence.heads) if head)
        before += len(sentence.words)


def _matrix(folder: Path, example: Example) -> Pairs:
    """The pairs that are 1 in the matrix of a sequence; none where there is no such file."""
    name = example.document
    path = next((path for end in (".npy", *SEPARATORS) if (path := folder / f"{name}{end}").is_file()), None)
    if path is None or Path(name).name != name:
        return NONE
    matrix = _numbers(path)
    if matrix.shape != (example.n_words, example.n_words) or not np.isin(matrix, (0, 1)).all():
        sizes = " x ".join(map(str, matrix.shape))
        raise HeadscopeError(
            f"contacts '{path}' ({sizes}) are not {MATRIX} of the {example.n_words}; of distances save distances < 8"
        )
    return np.argwhere(matrix)


def _numbers(path: Path) -> np.ndarray[Any, Any]:
    try:
        if path.suffix == ".npy":
            return np.load(path, mmap_mode="r", allow_pickle=False)
        rows = [line.split(SEPARATORS[path.suffix]) for _, line in lines(path, "contacts") if line.strip()]
        return np.array(rows, dtype=float)
    except (ValueError, OSError, EOFError) as error:
        raise HeadscopeError(f"contacts '{path}' cannot be read: {error}; save {MATRIX}") from error
