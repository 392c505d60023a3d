"""An item of a suite: a good text beside worse ones; samples of items."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TypeVar

import numpy as np

from headscope.corpora import drawing

Name = TypeVar("Name")
# The gap of a sentence in a file, for every model.
GAP = "[MASK]"
# The marks at the end of a sentence, and the end of the name of a phenomenon whose critical word is in the gap.
ENDS, IN_GAP = ".?!", ", word in the gap"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text and its characters [start, end) whose pieces are scored.

    * `is_answer`: the characters are the answer in a gap, scored as one unit; else each word is a unit.

    >>> Candidate("It rained.", 3, 9, True).scored
    'rained'
    """

    text: str
    start: int
    end: int
    is_answer: bool = False

    @property
    def scored(self) -> str:
        """The scored part of the text."""
        return self.text[self.start : self.end]

    @property
    def context(self) -> str:
        """The text with a gap instead of the scored part."""
        return f"{self.text[: self.start]}{GAP}{self.text[self.end :]}"


@dataclass(frozen=True, slots=True)
class ClozeItem:
    """A good text and the texts that are worse; without these, all other pieces of the vocabulary are worse answers.

    * `phenomenon`: the class of the item; `condition`: a finer class within it.
    * `lemma`: items that share it are resampled together.
    * `subject`: the name that a fact is about; `other_answers`: further right answers, which are not ranked.
    * `fact`: the same in all wordings of one fact; `template`: the wording.
    * `document`: the text, or the sequence of letters, that it is a gap of; all intervals resample its items together.
    * `human`: the share of people who give the answer in the good text, minus that in the worse one; NaN if unknown.
    """

    id: str
    phenomenon: str
    good: Candidate
    bad: tuple[Candidate, ...]
    lemma: str
    condition: str = ""
    subject: str = ""
    other_answers: tuple[str, ...] = ()
    fact: str = ""
    template: str = ""
    document: str = ""
    human: float = nan

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The good text, then the others."""
        return (self.good, *self.bad)

    def with_candidates(self, candidates: tuple[Candidate, ...]) -> "ClozeItem":
        """The same item with other texts, the good one first."""
        return replace(self, good=candidates[0], bad=candidates[1:])


def sentence(text: str) -> Candidate:
    """A whole sentence.

    >>> sentence("It rained.").scored
    'It rained.'
    """
    return Candidate(text, 0, len(text))


def filled(context: str, answer: str) -> Candidate:
    """A sentence whose gap is filled.

    >>> filled("It [MASK].", "rained")
    Candidate(text='It rained.', start=3, end=9, is_answer=True)
    """
    before, _, after = context.partition(GAP)
    return Candidate(f"{before}{answer}{after}", len(before), len(before) + len(answer), True)


def pair(id: str, phenomenon: str, good: str, bad: tuple[str, ...], lemma: str = "", condition: str = "") -> ClozeItem:
    """A good sentence and worse ones; without a `lemma`, the words in which the first two differ stand for it.

    >>> pair("1", "number", "The cat sleeps.", ("The cat sleep.",)).lemma
    'sleep sleeps'
    """
    return ClozeItem(
        id, phenomenon, sentence(good), tuple(map(sentence, bad)), lemma or differing(good, bad[0]), condition
    )


def gap(
    id: str, phenomenon: str, context: str, answers: tuple[str, ...], lemma: str = "", condition: str = ""
) -> ClozeItem:
    """A sentence with a gap, its answer and worse ones; a missing `lemma` is the answers in alphabetical order."""
    good, *bad = (filled(context, answer) for answer in answers)
    return ClozeItem(id, phenomenon, good, tuple(bad), lemma or " ".join(sorted(answers)), condition)


def in_gap(item: ClozeItem) -> ClozeItem | None:
    """The item with the one word in which its sentences differ in the gap; None if they differ in another way.

    >>> in_gap(pair("1", "npi", "Only Ann ever slept.", ("Even Ann ever slept.",))).good.context
    '[MASK] Ann ever slept.'
    """
    good, bad = item.good.text.split(), item.bad[0].text.split()
    positions = [at for at, (first, second) in enumerate(zip(good, bad, strict=False)) if first != second]
    if len(item.bad) > 1 or len(good) != len(bad) or len(positions) != 1:
        return None
    at = positions[0]
    answers = tuple(words[at].rstrip(ENDS) for words in (good, bad))
    ends = {words[at][len(answer) :] for words, answer in zip((good, bad), answers, strict=True)}
    if len(ends) > 1 or not all(answers):
        return None
    context = " ".join([*good[:at], GAP + ends.pop(), *good[at + 1 :]])
    return gap(item.id, f"{item.phenomenon}{IN_GAP}", context, answers, condition=item.condition)


def differing(good: str, bad: str) -> str:
    """The words in which two sentences differ, in alphabetical order; of sentences with the same words, the first ones.

    >>> differing("Who slept?", "Who sleeps?"), differing("the cat saw", "saw the cat")
    ('sleeps slept', 'saw the')
    """
    one, other = good.lower().rstrip(".?!").split(), bad.lower().rstrip(".?!").split()
    words = set(one) ^ set(other)
    if not words:
        words = next(({first, second} for first, second in zip(one, other, strict=False) if first != second), {good})
    return " ".join(sorted(words))


def spread(items: Sequence[ClozeItem], per_condition: int) -> list[ClozeItem]:
    """At most this many items of each condition of each phenomenon, at equal distances in the file, in its order.

    All wordings of a fact count as one item, and are all kept.
    """
    facts: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for item in items:
        facts[item.phenomenon, item.condition][item.fact or item.id] = None
    kept = {condition: set(at_equal_distances(list(names), per_condition)) for condition, names in facts.items()}
    return [item for item in items if (item.fact or item.id) in kept[item.phenomenon, item.condition]]


def drawn(items: Sequence[ClozeItem], most: int) -> Sequence[ClozeItem]:
    """At most this many items, drawn evenly over the conditions of phenomena by a fixed seed, in the order of the file.

    All wordings of a fact are taken together.

    >>> items = [pair(str(n), name, "It rained.", ("It rain.",)) for name in ("tense", "number") for n in range(9)]
    >>> [item.phenomenon for item in drawn(items, 2)]
    ['tense', 'number']
    """
    if len(items) <= most:
        return items
    conditions = {item.fact or item.id: f"{item.phenomenon}\n{item.condition}" for item in items}
    groups = np.unique([*conditions.values()], return_inverse=True)[1]
    indices = drawing.evenly(groups, max(len(conditions) * most // len(items), 1), rounded=True)
    names = [*conditions]
    chosen = {names[index] for index in indices}
    return [item for item in items if (item.fact or item.id) in chosen][:most]


def at_equal_distances(names: Sequence[Name], most: int) -> Sequence[Name]:
    """At most this many names at equal distances, the first among them.

    >>> at_equal_distances("abcdefg", 3), at_equal_distances("ab", 3)
    (['a', 'c', 'e'], 'ab')
    """
    return names if len(names) <= most else [names[index * len(names) // most] for index in range(most)]
