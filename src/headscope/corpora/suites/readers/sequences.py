"""Each letter of a sequence as a gap: FASTA, one sequence a line (fasta:FILE), or words with classes (classes:FILE).

The answer is ranked among all pieces of the vocabulary.
"""

from collections.abc import Iterator
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.readers import classes, fasta
from headscope.corpora.suites.item import Candidate, ClozeItem
from headscope.linguistics.sentence import Example

SUITES = {"sequences": ()}
KINDS = {"fasta": fasta, "classes": classes}
NO_CLASS = "no class"


def sequences(file: str, kind: str = "fasta") -> Iterator[ClozeItem | Bad | Skipped]:
    """A gap for each word of each sequence; the phenomenon is its class, without classes the name of the file.

    Items of a sequence are resampled together.
    """
    stem = Path(file.removesuffix(".gz")).stem
    for example in KINDS[kind].examples(file, Options()):
        yield from _gaps(example, stem) if isinstance(example, Example) else [example]


def _gaps(example: Example, stem: str) -> Iterator[ClozeItem]:
    (sequence,) = example.first
    names = [name or NO_CLASS for name in sequence.classes] or [stem] * len(sequence.words)
    for number, (name, (start, end)) in enumerate(zip(names, sequence.words, strict=True), 1):
        gap = Candidate(sequence.text, start, end, True)
        yield ClozeItem(f"{example.id}:{number}", name, gap, (), sequence.document, document=sequence.document)
