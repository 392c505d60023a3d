"""Plain text: one sentence or paragraph a line (.txt); blank lines separate."""

from collections.abc import Iterator
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.parsing.lines import lines
from headscope.linguistics.sentence import Example, Sentence

SUFFIXES = (".txt",)


def examples(source: str, options: Options) -> Iterator[Example]:
    """Each line that is not blank, without the blanks around it."""
    name = Path(source).name
    for number, line in lines(source, cursor=options.cursor):
        if text := line.strip():
            yield Example(f"{name}:{number}", (Sentence(text),))
