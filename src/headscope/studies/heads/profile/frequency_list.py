"""Frequencies of pieces from a list of words with their counts: two columns, a tab or a comma between them."""

import csv
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from headscope.corpora.parsing.lines import lines
from headscope.encoding.frequencies import Frequencies
from headscope.errors import HeadscopeError
from headscope.models import Model

WHAT, REMEDY = "frequency list", "a line has a word and its count with a tab or a comma between, such as 'the,22038'"
# Words that are tokenized together; "." and "," are in no class.
TOGETHER, PUNCTUATION = 10_000, {".", ","}


def word_counts(source: str | Path) -> dict[str, float]:
    """The count of each word of a list; a word that stands there several times has the sum. `.gz` is unpacked.

    A first line whose second column is no number is its header. Empty lines are passed over.

    Raises `HeadscopeError` for a file that cannot be read, naming the line, and for one without any word.
    """
    counts: dict[str, float] = {}
    for number, text in lines(source, WHAT):
        fields = [field.strip() for field in (text.split("\t") if "\t" in text else next(csv.reader([text]), []))]
        value = _number(fields[-1]) if len(fields) == 2 and fields[0] else None
        if value is not None:
            counts[fields[0]] = counts.get(fields[0], 0.0) + value
        elif text.strip() and not (number == 1 and len(fields) == 2 and all(fields)):
            raise HeadscopeError(f"{WHAT} '{source}', line {number}: {text[:60]!r} is no word with a count; {REMEDY}")
    if not any(counts.values()):
        raise HeadscopeError(f"{WHAT} '{source}' has no word with a count above 0; {REMEDY}")
    return counts


def _number(text: str) -> float | None:
    """A count, whole or not, such as one per million; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None


def piece_frequencies(counts: Mapping[str, float], model: Model, read: Frequencies) -> Frequencies:
    """The frequencies that a list gives the pieces of a model: each piece has the counts of its words.

    Words are tokenized as they stand within a text, behind a blank.

    * `read`: the counts of the corpus that is read.
    """
    by_piece = np.zeros(max(len(model.tokenizer), len(read.counts)))
    words = [word for word in counts if word not in PUNCTUATION]
    for first in range(0, len(words), TOGETHER):
        some = words[first : first + TOGETHER]
        encoded: Any = model.tokenizer([f"a {word}" for word in some], add_special_tokens=False, verbose=False)
        for word, encoding in zip(some, encoded.encodings, strict=True):
            pieces = [piece for piece, (_, end) in zip(encoding.ids, encoding.offsets, strict=True) if end > len("a ")]
            np.add.at(by_piece, pieces, counts[word])
    return Frequencies.of_list(by_piece, read.causal)
