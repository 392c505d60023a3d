"""Tasks of numbers in generated sentences: their value, and the sum of two."""

from collections.abc import Iterator

import numpy as np

from headscope.linguistics.sentence import Sentence
from headscope.studies.layers.tasks.task import ProbeCase, ProbingTask
from headscope.studies.layers.texts import PARTS, Part, Texts

# Integers from 0; each is in one part only, so that a value is interpolated, not remembered.
MOST = 1000
SHARES = {"train": 0.7, "choose": 0.1, "report": 0.2}
ONE = ("The number is {}.", "They sold {} books.", "Page {} is missing.")
TWO = ("They sold {} books and {} pens.", "First came {}, then {}.", "It rose from {} to {}.")


def value(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """The value of an integer from 0 to 999 that stands in a short sentence, one sentence for each integer."""
    for each in _integers(part):
        text, spans = _sentence(ONE[random.integers(len(ONE))], (each,))
        yield ProbeCase(texts.add(text), spans, float(each))


def total(texts: Texts, part: Part, random: np.random.Generator) -> Iterator[ProbeCase]:
    """The sum of two integers from 0 to 99 that stand in a short sentence."""
    integers = [each for each in _integers(part) if each < MOST // 10]
    for _ in range(10 * len(integers)):
        pair = (int(random.choice(integers)), int(random.choice(integers)))
        text, spans = _sentence(TWO[random.integers(len(TWO))], pair)
        yield ProbeCase(texts.add(text), spans, float(sum(pair)))


def _integers(part: Part) -> list[int]:
    """The integers of a part."""
    order = np.random.default_rng(0).permutation(MOST)
    ends = np.cumsum([0, *SHARES.values()]) * MOST
    place = PARTS.index(part)
    return sorted(order[round(ends[place]) : round(ends[place + 1])].tolist())


def _sentence(pattern: str, numbers: tuple[int, ...]) -> tuple[Sentence, tuple[tuple[int, int], ...]]:
    """A sentence whose only words are its numbers, with the spans of these."""
    text, words = "", []
    for before, each in zip(pattern.split("{}"), [*map(str, numbers), ""], strict=True):
        text += before
        words.append((len(text), len(text) + len(each)))
        text += each
    return Sentence(text, tuple(words[: len(numbers)])), tuple((place, place + 1) for place in range(len(numbers)))


GENERATED = "nothing: sentences are generated"
WALLACE = "Wallace et al. 2019, section 3, with linear regression"
TASKS = (
    ProbingTask("number_value", "value of a number", GENERATED, WALLACE, value, is_value=True),
    ProbingTask("number_sum", "sum of two numbers", GENERATED, WALLACE, total, is_value=True),
)
