"""Corpora written for a test."""

import gzip
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from headscope.corpora import Corpus, Options, read
from headscope.linguistics.sentence import Example, Question

DEFAULTS = Options()


def corpus(name: str, content: str | bytes, options: Options = DEFAULTS) -> Corpus:
    """What is read from a file of that name; packed if the name ends in `.gz`."""
    raw = content.encode() if isinstance(content, str) else content
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return read(path, options)


def parquet(**columns: Any) -> bytes:
    """A table as a Parquet file."""
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def question(example: Example) -> Question:
    """What is asked of the only sentence of an example."""
    found = example.first[0].question
    assert found is not None
    return found


def texts(examples: Corpus | list[Example]) -> list[list[str]]:
    """The text of each sentence of each example."""
    return [[sentence.text for segment in example.segments for sentence in segment] for example in examples]
