"""Numbers compared and added in a gap (after Wallace et al. 2019), generated: the same items in every run.

Each pair of numbers is compared in both orders, so that a model that always writes one word is right in half of the
items. The wrong sums are those nearest to the right one. `largest` asks for the largest number of a list, which stands
at all positions equally often: a rule of position is right in one of five.
"""

from collections.abc import Iterator
from random import Random

from headscope.corpora.suites.item import GAP, ClozeItem, gap

SUITES = {"numeracy": (), "largest": ()}
# Ten digits have 45 pairs of different ones.
COMPARED, ADDED = 45, 100
DIGITS = {"1 digit": (0, 9), "2 digits": (10, 99), "3 digits": (100, 999)}
# Lists of so many numbers for each kind of number.
LISTED, LISTS = 5, 100
LARGEST = {
    "1 digit": (0, 9),
    "2 digits": (10, 99),
    "3 digits": (100, 999),
    "4 digits": (1000, 9999),
    "decimals": (1, 9999),
    "negative": (-99, -1),
    "words": (0, 20),
}
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


def largest() -> Iterator[ClozeItem]:
    """The largest of five numbers beats the other four, in lists of integers, decimals, negatives and words."""
    rounds = zip(*(list(_lists(name)) for name in LARGEST), strict=True)
    yield from (item for one_round in rounds for item in one_round)


def _lists(condition: str) -> Iterator[ClozeItem]:
    """Lists of one kind of number; the largest is at all positions in turns."""
    low, high = LARGEST[condition]
    random = Random(f"largest {condition}")
    for number in range(LISTS):
        *others, top = sorted(random.sample(range(low, high + 1), LISTED))
        random.shuffle(others)
        others.insert(number % LISTED, top)
        *first, last = (_written(value, condition) for value in others)
        answers = tuple(_written(value, condition) for value in (top, *(value for value in others if value != top)))
        text = f"The largest of {', '.join(first)} and {last} is {GAP}."
        yield gap(f"largest-{condition}-{number}", "largest number", text, answers, answers[0], condition)


def _comparisons(condition: str) -> Iterator[ClozeItem]:
    for number, (low, high) in enumerate(_pairs(condition, distinct=True)):
        for first, second, answers in ((low, high, ("smaller", "larger")), (high, low, ("larger", "smaller"))):
            text = " is ".join((_written(first, condition), f"{GAP} than {_written(second, condition)}."))
            lemma = f"{_written(low, condition)} {_written(high, condition)}"
            yield gap(
                f"compare-{condition}-{number}-{answers[0]}", "comparing numbers", text, answers, lemma, condition
            )


def _sums(condition: str) -> Iterator[ClozeItem]:
    for number, (first, second) in enumerate(_pairs("1 digit" if condition == "words" else condition, distinct=False)):
        total = first + second
        wrong = [total + step for step in (-2, -1, 1, 2) if total + step >= 0]
        answers = tuple(_written(number, condition) for number in (total, *wrong))
        text = f"{_written(first, condition)} plus {_written(second, condition)} is {GAP}."
        yield gap(f"add-{condition}-{number}", "adding numbers", text, answers, answers[0], condition)


def _pairs(condition: str, *, distinct: bool) -> list[tuple[int, int]]:
    """Random pairs of numbers, each once; of decimals, in hundredths."""
    low, high = DIGITS.get(condition, (1, 999))
    random, pairs = Random(f"{condition} {distinct}"), dict[tuple[int, int], None]()
    while len(pairs) < (COMPARED if distinct else ADDED):
        first, second = random.randint(low, high), random.randint(low, high)
        if not distinct or first != second:
            pairs[(min(first, second), max(first, second)) if distinct else (first, second)] = None
    return list(pairs)


def _written(number: int, condition: str) -> str:
    if condition == "words":
        return WORDS[number]
    return f"{number / 100:.2f}" if condition == "decimals" else str(number)
