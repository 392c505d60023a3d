"""Frequencies of pieces: of a corpus, or from a list of words with their counts; and the classes that they make."""

import csv
from collections import Counter
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from headscope.corpora import Corpus
from headscope.corpora.parsing.lines import lines
from headscope.encoding.encoded import token_classes
from headscope.encoding.encoder import Words
from headscope.encoding.frequencies import Frequencies, counted
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes import Settings
from headscope.results.variables import Variables
from headscope.results.vocabulary import FREQUENCIES
from headscope.studies.heads.profile import STUDY

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


def frequency_variables(
    frequencies: Frequencies, kind: str = "frequency", read: Frequencies | None = None
) -> dict[str, xr.DataArray]:
    """The share of the tokens in each class, and the smallest count of its pieces; NaN for a class without any.

    * `kind`: "frequency" in the corpus, or "predicted"; `read`: of a list, the counts of the corpus that is read.
    """
    used = np.flatnonzero(frequencies.classes >= 0)
    number, tokens = frequencies.classes[used], frequencies.tokens[used]
    if read is not None:
        tokens = np.bincount(frequencies.counts[: len(read.counts)], read.counts, len(frequencies.classes))[used]
    counts = used.astype(float) if frequencies.listed is None else frequencies.listed[used]
    share = np.bincount(number, tokens, len(FREQUENCIES)) / max(1, tokens.sum())
    least = [counts[number == index].min(initial=np.inf) for index in range(len(FREQUENCIES))]
    variables = Variables({"frequency": FREQUENCIES}, STUDY.source, STUDY.labels)
    variables.add(f"{kind}_share", share)
    variables.add(f"{kind}_least", np.where(share > 0, least, np.nan))
    return variables.arrays


def frequencies_of(model: Model, corpus: Corpus, settings: Settings) -> Frequencies:
    """How often each piece stands in a corpus as a model reads it; Ctrl-C here leaves nothing to keep."""
    words, counts = Words(model.tokenizer, model.max_tokens, settings.long), Counter[int]()
    for example, encodings in words.tokenized(corpus):
        for encoding in encodings:
            known = counted(token_classes(example, encoding, model.tokenizer))
            counts.update(np.array(encoding.ids)[known].tolist())
    by_piece = np.zeros(max(counts, default=0) + 1, dtype=np.int64)
    by_piece[list(counts)] = list(counts.values())
    return Frequencies(by_piece, causal=not model.looks_ahead)
