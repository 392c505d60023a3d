"""Suites as tables whose columns are named in the first line."""

import csv
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from headscope.corpora.parsing.lines import lines
from headscope.corpora.problems import Bad, Skipped, is_whole_number, parsed
from headscope.corpora.suites.item import GAP, ClozeItem, gap, in_gap, pair
from headscope.corpora.suites.readers.treebanks import counted
from headscope.errors import HeadscopeError

SUITES = {
    "agreement": ("gulordava_generated.tab",),
    "marvin_linzen": ("marvin_linzen.tsv",),
    "marvin_linzen_verbs": ("marvin_linzen.tsv",),
}
AGREEMENT = ("pattern", "constr_id", "sent_id", "form", "class", "type", "n_attr", "len_prefix", "sent")
MARVIN_LINZEN = ("construction", "condition", "source_index", "good", "bad", "bad2")
PHENOMENA = {"generated": "agreement in nonsense", "original": "agreement in sentences"}


class SuiteRow(NamedTuple):
    """The wanted values of a line, without blanks around them."""

    line: int
    values: tuple[str, ...]


def rows(file: str, columns: Sequence[str], *, quoted: bool = False, delimiter: str = "\t") -> Iterator[SuiteRow | Bad]:
    """The wanted columns of each line that is not empty; `Bad` for a line with another number of columns.

    Raises `HeadscopeError` if a column is missing in the first line.
    """
    numbered = lines(file, "suite")
    header = _split(next(numbered, (0, ""))[1], quoted, delimiter)
    if missing := [name for name in columns if name not in header]:
        raise HeadscopeError(f"suite '{file}', line 1: no column '{missing[0]}'; its columns are {', '.join(columns)}")
    indices = [header.index(name) for name in columns]
    for number, line in numbered:
        if not line.strip():
            continue
        try:
            values = _split(line, quoted, delimiter)
        except csv.Error as error:
            yield Bad(number, f"not a table ({error})")
            continue
        if len(values) != len(header):
            yield Bad(number, f"{len(values)} columns, expected {len(header)}")
        else:
            yield SuiteRow(number, tuple(values[column].strip() for column in indices))


def _split(line: str, quoted: bool, delimiter: str) -> list[str]:
    """The values of a line; a quote mark that is never closed holds the rest of it."""
    if not quoted:
        return line.split(delimiter)
    return next(csv.reader([line], delimiter=delimiter), [])


def agreement(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """Subject-verb agreement in nonsense sentences (Gulordava et al. 2018), the verb in the gap as in Goldberg (2019).

    Two lines an item, the right and the wrong form of the verb. The phenomenon is whether a sentence is made of random
    words or the original one; the condition is the number of attractors, nouns of the other number between subject and
    verb.
    """
    numbered = rows(file, AGREEMENT, quoted=True)
    return parsed(zip_longest(numbered, numbered), _agreement)


def _agreement(both: tuple[SuiteRow | Bad, SuiteRow | Bad | None]) -> ClozeItem:
    right, wrong = both
    for row in (right, wrong):
        if isinstance(row, Bad):
            raise row
    assert isinstance(right, SuiteRow)
    if not isinstance(wrong, SuiteRow):
        raise Bad(right.line, "the last line has no line after it with the other form of the verb")
    pattern, constr, number, good, first, kind, attractors, prefix, text = right.values
    *_, bad, second, _, _, _, other = wrong.values
    if (first, second) != ("correct", "wrong") or text != other:
        raise Bad(right.line, "this line and the next are not the correct and the wrong form of one sentence")
    words = text.removesuffix("<eos>").split()
    if kind not in PHENOMENA or not is_whole_number(prefix) or int(prefix) >= len(words) or not (good and bad):
        raise Bad(right.line, f"type '{kind}', len_prefix '{prefix}' or a form is wrong")
    words[int(prefix)] = GAP
    if words.count(GAP) != 1:
        raise Bad(right.line, f"the sentence has a word {GAP}")
    id = f"{pattern}/{constr}-{number}-{kind}"
    return gap(id, PHENOMENA[kind], " ".join(words), (good, bad), condition=counted(int(attractors)))


def marvin_linzen(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """Marvin and Linzen (2018): sentences made from templates; the construction is the phenomenon.

    A sentence about negative polarity items may have two bad partners: the good one has to score higher than both.
    """
    return parsed(rows(file, MARVIN_LINZEN), _pair)


def marvin_linzen_verbs(file: str) -> Iterator[ClozeItem | Bad | Skipped]:
    """The critical word in the gap, as in Goldberg (2019).

    The answer is the one word in which a good and a bad sentence differ: a verb, or a reflexive. Sentences that differ
    in more words, or that have two bad partners, and those about negative polarity items are counted.
    """
    return parsed(marvin_linzen(file), _masked)


def _pair(row: SuiteRow) -> ClozeItem:
    construction, condition, index, good, *others = row.values
    bad = tuple(filter(None, others))
    if not (construction and good and bad):
        raise Bad(row.line, "the construction, the good or the bad sentence is empty")
    return pair(f"{construction}/{condition}-{index}", construction, good, bad, condition=condition)


def _masked(item: ClozeItem) -> ClozeItem | Skipped:
    masked = None if "npi" in item.phenomenon else in_gap(item)
    return masked or Skipped("pairs that do not differ in one verb or reflexive")
