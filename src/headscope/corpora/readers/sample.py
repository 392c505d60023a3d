"""The bundled corpus: our own sentences and pairs, annotated in CoNLL-U."""

from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.readers import conllu

SUFFIXES: tuple[str, ...] = ()
FOLDER = Path(__file__).parent / "sample"

examples = conllu.examples


def locate(source: str, options: Options) -> list[str]:
    """All files of the bundled corpus, in alphabetical order."""
    return [str(path) for path in sorted(FOLDER.glob("*.conllu"))]
