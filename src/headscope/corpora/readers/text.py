"""Plain text: one sentence or paragraph a line (.txt).

Documents begin with a title as WikiText has it (` = Title = `); in a text without titles, after blank lines.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.parsing.lines import Cursor, lines
from headscope.linguistics.sentence import Example, Sentence

SUFFIXES = (".txt",)
HEADING = re.compile(r"= .* =")


def examples(source: str, options: Options) -> Iterator[Example]:
    """Each line that is not blank, without the blanks around it."""
    name, cursor = Path(source).name, options.cursor or Cursor()
    for number, line in lines(source, cursor=cursor):
        text, (start, begun_by) = line.strip(), cursor.known or (f"{name}:1", "blank")
        if is_title(text):
            cursor.known = (f"{name}:{number}", "title")
        elif not text and begun_by == "blank":
            cursor.known = (f"{name}:{number + 1}", "blank")
        if text:
            yield Example(f"{name}:{number}", (Sentence(text, document=(cursor.known or (start,))[0]),))


def is_title(line: str) -> bool:
    """Whether a line is a title of WikiText, and no heading of a section.

    >>> is_title("= Robert Boulter ="), is_title("= = Career = =")
    (True, False)
    """
    return bool(HEADING.fullmatch(line)) and not line.startswith("= =")
