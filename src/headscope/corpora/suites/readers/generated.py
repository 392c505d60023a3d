"""Generated suites, the same in every run: numbers (after Wallace et al. 2019), inference of one to four steps.

Each pair of numbers is compared in both orders, so that a model that always writes one word is right in half of the
items. The wrong sums are those nearest to the right one. `largest` asks for the largest number of a list, which stands
at all positions equally often: a rule of position is right in one of five.

Each item of inference has two chains of statements in random order; the wrong answer is the end of the other chain, or
the opposite comparison. Each chain is asked in both ways, so that a model that prefers one word or one position is
right in half of the items. The condition is the number of steps.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from headscope.corpora.suites.item import GAP, ClozeItem, gap

SUITES = {"numeracy": (), "largest": (), "inference": ()}
# Ten digits have 45 pairs of different ones.
COMPARED, ADDED = 45, 100
DIGITS = {"1 digit": (0, 9), "2 digits": (10, 99), "3 digits": (100, 999)}
# Lists of this many numbers for each kind of number.
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


STEPS = ("1 step", "2 steps", "3 steps", "4 steps")
# Pairs of items of each number of steps.
DRAWN = 50
PEOPLE = "Ann Tom Mary John Paul Lucy Jack Emma Kate Mark Anna Peter".split()
COMPARISONS = (("taller", "shorter"), ("older", "younger"), ("faster", "slower"), ("richer", "poorer"))
CONTAINERS = "box bag car house garden room ship cup basket truck".split()
THINGS = "ball key book coin ring pen".split()


def inference() -> Iterator[ClozeItem]:
    """Order of persons, then where things are, steps in turns."""
    for kind in (_orders, _places):
        rounds = zip(*(list(kind(steps)) for steps in range(1, len(STEPS) + 1)), strict=True)
        yield from (item for one_round in rounds for item in one_round)


def _orders(steps: int) -> Iterator[ClozeItem]:
    """Persons compared in a chain: the first and the last, in both orders."""
    random = Random(f"order {steps}")
    for number in range(DRAWN):
        words = COMPARISONS[number % len(COMPARISONS)]
        persons = random.sample(PEOPLE, steps + 1)
        premises = [f"{first} is {words[0]} than {second}." for first, second in pairwise(persons)]
        context = " ".join(random.sample(premises, steps))
        for first, last, answers in ((persons[0], persons[-1], words), (persons[-1], persons[0], words[::-1])):
            text = f"{context} So {first} is {GAP} than {last}."
            id = f"order-{steps}-{number}-{answers[0]}"
            yield gap(id, "inference: order", text, answers, "", STEPS[steps - 1])


def _places(steps: int) -> Iterator[ClozeItem]:
    """Two things, each in nested containers: the outermost one of either."""
    random = Random(f"places {steps}")
    for number in range(DRAWN):
        things, containers = random.sample(THINGS, 2), random.sample(CONTAINERS, 2 * steps)
        chains = [[thing, *containers[at * steps : (at + 1) * steps]] for at, thing in enumerate(things)]
        premises = [f"The {first} is in the {second}." for chain in chains for first, second in pairwise(chain)]
        context = " ".join(random.sample(premises, len(premises)))
        for chain, other in (chains, chains[::-1]):
            yield _location(f"place-{steps}-{number}-{chain[0]}", context, chain, other[-1], STEPS[steps - 1])


def _location(id: str, context: str, chain: Sequence[str], wrong: str, condition: str) -> ClozeItem:
    text = f"{context} So the {chain[0]} is in the {GAP}."
    return gap(id, "inference: place", text, (chain[-1], wrong), "", condition)
