"""Tasks of numbers in generated sentences (after Wallace et al. 2019): values, sums, the largest, and beyond the range.

A number is in one part only, so that its value is interpolated, not remembered. Beyond the range, classifiers are
trained and chosen on the lower half of the numbers and tested on the upper half.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.layers.tasks import ProbeCase, ProbingTask, Rule
from headscope.studies.layers.layers.texts import PARTS, Part, Texts

# Integers from 0.
INTEGERS, PAIRED = 1000, 100
SHARES = {"train": 0.7, "choose": 0.1, "report": 0.2}
# Of the lower half of the numbers; all of the upper half are tested.
WITHIN = {"train": 0.875, "choose": 0.125, "report": 0.0}
ONE = ("The number is {}.", "They sold {} books.", "Page {} is missing.")
TWO = ("They sold {} books and {} pens.", "First came {}, then {}.", "It rose from {} to {}.")
FIVE = ("The numbers are {}, {}, {}, {} and {}.", "They sold {}, {}, {}, {} and {} books.")
# Sentences with each number in words, of which there are few, and lists for each number of a part.
SENTENCES, LISTS = 5, 2
SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def value(
    texts: Texts,
    part: Part,
    random: np.random.Generator,
    *,
    written: Callable[[int], str] = str,
    worth: Callable[[int], float] = float,
    numbers: int = INTEGERS,
    repeated: int = 1,
    beyond: bool = False,
) -> Iterator[ProbeCase]:
    """The value of a number in a short sentence.

    * `written`, `worth`: an integer below `numbers` as words or digits, and its value.
    * `repeated`: sentences of each number; `beyond`: tested on larger numbers than trained.
    """
    for integer in _integers(part, numbers, beyond) * repeated:
        text, spans = _sentence(ONE[random.integers(len(ONE))], (written(integer),))
        yield ProbeCase(texts.add(text), spans, worth(integer))


def total(texts: Texts, part: Part, random: np.random.Generator, *, beyond: bool = False) -> Iterator[ProbeCase]:
    """The sum of two integers below 100 in a short sentence."""
    integers = _integers(part, PAIRED if beyond else INTEGERS, beyond)
    integers = [integer for integer in integers if integer < PAIRED]
    for _ in range(10 * len(integers)):
        pair = (int(random.choice(integers)), int(random.choice(integers)))
        text, spans = _sentence(TWO[random.integers(len(TWO))], tuple(map(str, pair)))
        yield ProbeCase(texts.add(text), spans, float(sum(pair)))


def largest(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """Whether a number is the largest of the five of its list; of each list the largest and another one.

    A large number is more often the largest: the embeddings show how far its value alone leads.
    """
    integers = _integers(part, INTEGERS, False)
    for _ in range(LISTS * len(integers)):
        listed = random.choice(integers, len(FIVE[0].split("{}")) - 1, replace=False).tolist()
        text, spans = _sentence(FIVE[random.integers(len(FIVE))], tuple(map(str, listed)))
        number, top = texts.add(text), int(np.argmax(listed))
        other = int(random.choice([index for index in range(len(listed)) if index != top]))
        for index, answer in ((top, "largest"), (other, "another")):
            yield ProbeCase(number, (spans[index],), answer)


def in_words(number: int) -> str:
    """An integer below 100 in words.

    >>> in_words(7), in_words(40), in_words(42)
    ('seven', 'forty', 'forty-two')
    """
    if number < len(SMALL):
        return SMALL[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"-{SMALL[ones]}" if ones else "")


def _integers(part: Part, numbers: int, beyond: bool) -> list[int]:
    """The integers of a part; beyond the range, those from the middle on are tested."""
    if beyond and part == "report":
        return list(range(numbers // 2, numbers))
    shares, most = (WITHIN, numbers // 2) if beyond else (SHARES, numbers)
    order = np.random.default_rng(0).permutation(most)
    ends = np.cumsum([0, *shares.values()]) * most
    offset = PARTS.index(part)
    return sorted(order[round(ends[offset]) : round(ends[offset + 1])].tolist())


def _sentence(pattern: str, numbers: Sequence[str]) -> tuple[Sentence, tuple[tuple[int, int], ...]]:
    """A sentence whose only words are its numbers, with the spans of these."""
    text, words = "", []
    for before, number in zip(pattern.split("{}"), [*numbers, ""], strict=True):
        text += before
        words.append((len(text), len(text) + len(number)))
        text += number
    return Sentence(text, tuple(words[: len(numbers)])), tuple((index, index + 1) for index in range(len(numbers)))


def _task(name: str, words: str, cases: Rule, *, is_value: bool = True, is_asked: bool = True) -> ProbingTask:
    generated, wallace = "nothing: sentences are generated", "Wallace et al. 2019, section 3, with linear regression"
    return ProbingTask(name, words, generated, wallace, cases, is_value=is_value, is_asked=is_asked)


TASKS = (
    _task("number_value", "value of a number", value, is_asked=False),
    _task("number_sum", "sum of two numbers", total, is_asked=False),
    _task("number_beyond", "value beyond the range", partial(value, beyond=True)),
    _task("number_sum_beyond", "sum beyond the range", partial(total, beyond=True)),
    _task(
        "number_decimal",
        "value of a decimal",
        partial(value, written=lambda number: f"{number / 100:.2f}", worth=lambda number: number / 100),
    ),
    _task(
        "number_negative",
        "value of a negative number",
        partial(value, written=lambda number: str(-1 - number), worth=lambda number: float(-1 - number)),
    ),
    _task(
        "number_word",
        "value of a number in words",
        partial(value, written=in_words, numbers=PAIRED, repeated=SENTENCES),
    ),
    _task("number_largest", "largest of a list", largest, is_value=False),
)
