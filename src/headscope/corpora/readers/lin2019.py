"""Verbs and reflexives with the nouns that may be theirs (Lin et al. 2019); CORPUS is the folder of its files.

`agr.tsv` has verbs and their subjects, `refl.tsv` reflexives and their antecedents. A line has the number of its
condition, the sentence, the number of the word that asks, the words of the right noun phrase and those of distractors,
separated by tabs; words stand between blanks and are numbered from 0.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from headscope.corpora.options import Options, in_folder
from headscope.corpora.parsing.lines import lines
from headscope.corpora.parsing.words import Span, between_blanks
from headscope.corpora.problems import Bad, Skipped, is_whole_number, parsed, refuse_long
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Question, Sentence

SUFFIXES: tuple[str, ...] = ()
TASKS = ("agr", "refl")
PHRASE, CLAUSE = "phrase between", "relative clause between"
# The conditions of the paper's Table 2 by their numbers in the files; others have no distractor.
CONDITIONS = {
    "agr": {
        **dict.fromkeys((4, 5, 10, 11), f"{PHRASE}, same number"),
        **dict.fromkeys((6, 7, 8, 9), f"{PHRASE}, other number"),
        **dict.fromkeys((12, 13, 18, 19), f"{CLAUSE}, same number"),
        **dict.fromkeys((14, 15, 16, 17), f"{CLAUSE}, other number"),
    },
    "refl": {
        1: "object, same gender",
        2: "object, other gender",
        3: f"{CLAUSE}, same gender",
        4: f"{CLAUSE}, other gender",
        5: "clause and object, both the same gender",
        6: "clause and object, the object the same gender",
        7: "clause and object, the clause the same gender",
        8: "clause and object, both another gender",
    },
}


def locate(source: str, options: Options) -> list[str]:
    """The files of a folder: of `options.task` (agr, refl; None: both). Raises `HeadscopeError` if there is none."""
    if options.task and options.task not in TASKS:
        raise HeadscopeError(f"corpus '{source}': no task '{options.task}' in it; there are: {', '.join(TASKS)}")
    if Path(source).is_file():
        return [source]
    files = [file for task in TASKS if options.task in (None, task) for file in in_folder(source, f"{task}.tsv*")]
    if not files:
        raise HeadscopeError(f"corpus '{source}': no file agr.tsv or refl.tsv in it; name the folder that has them")
    return files


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sentence with a distractor, with the question which noun is that of its verb or reflexive."""
    name = Path(source).name
    written = ((line, text) for line, text in lines(source, cursor=options.cursor) if text.strip())
    yield from parsed(written, partial(_example, name))


def _example(name: str, row: tuple[int, str]) -> Example | Skipped:
    line, text = row
    refuse_long(text, line)
    fields = text.rstrip("\r\n").split("\t")
    if len(fields) not in (4, 5):
        raise Bad(line, f"{len(fields)} columns, expected 5")
    condition, sentence, *numbers = (*fields, "")[:5]
    if not numbers[2].strip():
        return Skipped("sentences without a distractor")
    task = name.partition(".")[0]
    named = CONDITIONS.get(task, {}).get(_number(condition, line), f"condition {condition}")
    words = between_blanks(sentence)
    asks, right, distractors = (_spans(field, len(words), line) for field in numbers)
    if len(asks) != 1 or len(right) != 1:
        raise Bad(line, "one word asks, and the right noun phrase is one; the line has more, or none")
    question = Question(asks[0], (right[0], *distractors), 0, condition=named)
    return Example(f"{name}:{line}", (Sentence(sentence, words, question=question),))


def _spans(numbers: str, words: int, line: int) -> list[Span]:
    """Runs of words that follow each other, [start, end)."""
    spans: list[Span] = []
    for number in (_number(field, line) for field in numbers.split()):
        if number >= words:
            raise Bad(line, f"the sentence has no word {number}; it has {words}, numbered from 0")
        start = spans.pop()[0] if spans and spans[-1][1] == number else number
        spans.append((start, number + 1))
    return spans


def _number(text: str, line: int) -> int:
    if not is_whole_number(text.strip()):
        raise Bad(line, f"'{text}' is not a whole number")
    return int(text)
