"""Sequences of letters, as of proteins: FASTA (.fasta, .fa, .faa, .fna), or one a line (kind "fasta").

The reader is headscope's own: it is short, and its errors name the line.
"""

from collections.abc import Iterator
from pathlib import Path

from headscope.corpora.options import Offsets, Options
from headscope.corpora.parsing.lines import Cursor, lines
from headscope.corpora.parsing.words import joined
from headscope.corpora.problems import Bad, Skipped, long_text
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.storage.limits import LONGEST_TEXT

SUFFIXES = (".fasta", ".fa", ".faa", ".fna")
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
LEFT_OUT = {"-": "gaps", ".": "gaps", "*": "stops (*)"}
# What the cursor knows of lines that are sequences without headers.
HEADLESS = ("", "")


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sequence; the first word of its header is its document.

    Letters are words of their own, with a blank between two of them where the tokenizer of the model needs it. Small
    letters (masked regions) are read as capitals, gaps and `*` are left out; these and rare letters are counted.

    Raises `HeadscopeError` for an alignment in Clustal's format.
    """
    name, cursor = Path(source).name, options.cursor or Cursor()
    blank, sequence = "" if reads_letters(options.offsets) else " ", ""
    for number, line in lines(source, cursor=cursor):
        line = line.strip()
        if line.startswith(">"):
            if cursor.known == HEADLESS:
                yield Bad(number, "a header after sequences without one; give each sequence a header, such as >name")
            header, cursor.known = cursor.known, (str(number), line[1:])
            yield from _record(name, header, sequence, blank)
            sequence = ""
        elif not cursor.known and line.startswith("CLUSTAL") and "alignment" in line:
            remedy = "write it as FASTA, with Biopython by AlignIO.convert(FILE, 'clustal', 'sequences.fasta', 'fasta')"
            raise HeadscopeError(f"corpus '{source}' is an alignment in Clustal's format, no FASTA; {remedy}")
        elif line and cursor.known in ((), HEADLESS):
            cursor.known = HEADLESS
            yield from _record(name, (str(number), ""), line, blank)
        elif len(sequence) <= LONGEST_TEXT:  # a longer one is refused, whatever follows
            sequence += line
    yield from _record(name, cursor.known, sequence, blank)


def reads_letters(offsets: Offsets | None) -> bool:
    """Whether a tokenizer makes a piece of each letter of a sequence without blanks; False where there is none.

    >>> reads_letters(lambda text: [(at, at + 1) for at in range(len(text))]), reads_letters(lambda text: [(0, 20)])
    (True, False)
    """
    return offsets is not None and offsets(AMINO_ACIDS) == [(at, at + 1) for at in range(len(AMINO_ACIDS))]


def _record(name: str, header: tuple[str, ...], sequence: str, blank: str) -> Iterator[Example | Bad | Skipped]:
    """The sequence after a header, the number of its line and its words; nothing where there is no header."""
    if header in ((), HEADLESS):
        return
    line, letters = int(header[0]), "".join(sequence.split())
    for reason in sorted({*LEFT_OUT.values()}):
        if count := sum(letters.count(sign) for sign, why in LEFT_OUT.items() if why == reason):
            yield Skipped(reason, count)
    letters = letters.translate(dict.fromkeys(map(ord, LEFT_OUT)))
    if small := sum(map(str.islower, letters)):
        yield Skipped("small letters, read as capitals", small)
    if rare := sum(letter not in AMINO_ACIDS for letter in letters.upper() if letter.isalpha()):
        yield Skipped("letters that are none of the 20 amino acids, read as they are", rare)
    if len(letters) > LONGEST_TEXT:
        yield Bad(line, long_text(letters))
    elif wrong := next((sign for sign in letters if not (sign.isascii() and sign.isalpha())), ""):
        yield Bad(line, f"'{wrong}' in its sequence is no letter")
    elif not letters:
        yield Skipped("headers without a sequence")
    else:
        text, words = joined(letters.upper(), blank)
        document = (header[1].split() or [f"{name}:{line}"])[0]
        yield Example(f"{name}:{line}", (Sentence(text, words, document=document),))
