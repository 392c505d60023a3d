"""Corpora written for a test."""

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

from headscope.corpora import Corpus, Options, read
from headscope.linguistics.sentence import Example

DEFAULTS = Options()


def corpus(name: str, content: str | bytes, options: Options = DEFAULTS) -> Corpus:
    """What is read from a file of that name; packed if the name ends in `.gz`."""
    raw = content.encode() if isinstance(content, str) else content
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return read(path, options)


def texts(examples: Corpus | list[Example]) -> list[list[str]]:
    """The text of each sentence of each example."""
    return [[sentence.text for segment in each.segments for sentence in segment] for each in examples]
