"""The bundled corpus: our own sentences and pairs, annotated in CoNLL-U."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from headscope.corpora.options import DEFAULTS, Options
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.readers import conllu
from headscope.linguistics.sentence import Example

SUFFIXES: tuple[str, ...] = ()
FOLDER = Path(__file__).parent / "sample"


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """The examples of a file of the bundled corpus, which is parsed once."""
    return iter(_parsed(source))


@cache
def _parsed(file: str) -> tuple[Example | Bad | Skipped, ...]:
    return tuple(conllu.examples(file, DEFAULTS))


def locate(source: str, options: Options) -> list[str]:
    """All files of the bundled corpus, in alphabetical order."""
    return [str(path) for path in sorted(FOLDER.glob("*.conllu"))]
