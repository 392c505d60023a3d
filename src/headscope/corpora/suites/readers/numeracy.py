"""Numbers compared and added in a gap (after Wallace et al. 2019), generated: the same items in every run.

Each pair of numbers is compared in both orders, so that a model that always writes one word is right in half of the
items. The wrong sums are those nearest to the right one.
"""

from collections.abc import Iterator
from random import Random

from headscope.corpora.suites.item import GAP, ClozeItem, gap

SUITES = {"numeracy": ()}
# Ten digits have 45 pairs of different ones.
COMPARED, ADDED = 45, 100
DIGITS = {"1 digit": (0, 9), "2 digits": (10, 99), "3 digits": (100, 999)}
WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()


def numeracy() -> Iterator[ClozeItem]:
    """Comparisons, then sums, conditions in turns."""
    rounds = zip(*(list(_comparisons(name)) for name in [*DIGITS, "decimals"]), strict=True)
    yield from (item for one_round in rounds for item in one_round)
    rounds = zip(*(list(_sums(name)) for name in ("1 digit", "2 digits", "words")), strict=True)
    yield from (item for one_round in rounds for item in one_round)


def _comparisons(condition: str) -> Iterator[ClozeItem]:
    for number, (low, high) in enumerate(_pairs(condition, distinct=True)):
        for one, other, answers in ((low, high, ("smaller", "larger")), (high, low, ("larger", "smaller"))):
            text = " is ".join((_written(one, condition), f"{GAP} than {_written(other, condition)}."))
            lemma = f"{_written(low, condition)} {_written(high, condition)}"
            yield gap(
                f"compare-{condition}-{number}-{answers[0]}", "comparing numbers", text, answers, lemma, condition
            )


def _sums(condition: str) -> Iterator[ClozeItem]:
    for number, (one, other) in enumerate(_pairs("1 digit" if condition == "words" else condition, distinct=False)):
        total = one + other
        wrong = [total + step for step in (-2, -1, 1, 2) if total + step >= 0]
        answers = tuple(_written(number, condition) for number in (total, *wrong))
        text = f"{_written(one, condition)} plus {_written(other, condition)} is {GAP}."
        yield gap(f"add-{condition}-{number}", "adding numbers", text, answers, answers[0], condition)


def _pairs(condition: str, *, distinct: bool) -> list[tuple[int, int]]:
    """Random pairs of numbers, each once; of decimals, in hundredths."""
    low, high = DIGITS.get(condition, (1, 999))
    random, pairs = Random(f"{condition} {distinct}"), dict[tuple[int, int], None]()
    while len(pairs) < (COMPARED if distinct else ADDED):
        one, other = random.randint(low, high), random.randint(low, high)
        if not distinct or one != other:
            pairs[(min(one, other), max(one, other)) if distinct else (one, other)] = None
    return list(pairs)


def _written(number: int, condition: str) -> str:
    if condition == "words":
        return WORDS[number]
    return f"{number / 100:.2f}" if condition == "decimals" else str(number)
