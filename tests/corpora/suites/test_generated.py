"""Generated suites: each answer is found anew by a naive solver, and no rule of position or of one word finds it."""

import re
from collections import Counter

import pytest

from headscope.corpora.suites import ClozeItem, read_suites
from headscope.corpora.suites.readers.generated import LARGEST, LISTED, LISTS, WORDS


def items(suite: str) -> tuple[ClozeItem, ...]:
    return read_suites([suite])[0].items


def value(number: str) -> float:
    return float(WORDS.index(number)) if number in WORDS else float(number)


def test_the_largest_number_of_a_list_is_the_answer_at_each_position_equally_often() -> None:
    positions = Counter[tuple[str, int]]()
    for item in items("largest"):
        listed = re.split(r", | and ", item.good.text.removeprefix("The largest of ").partition(" is ")[0])
        wrong = [text.scored for text in item.bad]
        assert sorted([item.good.scored, *wrong]) == sorted(set(listed)) and len(listed) == LISTED
        assert value(item.good.scored) == max(map(value, listed))
        positions[item.condition, listed.index(item.good.scored)] += 1
    assert positions == {(name, at): LISTS // LISTED for name in LARGEST for at in range(LISTED)}


@pytest.mark.parametrize("kind", ["order", "place"])
def test_inference_follows_from_its_premises_in_the_stated_number_of_steps(kind: str) -> None:
    given = [item for item in items("inference") if item.phenomenon == f"inference: {kind}"]
    for item in given:
        premises = item.good.text.partition(" So ")[0]
        pattern = r"(\w+) is \w+ than (\w+)\." if kind == "order" else r"The (\w+) is in the (\w+)\."
        after = dict(re.findall(pattern, premises))
        if kind == "order":
            first, _, last = re.findall(r"So (\w+) is (\w+) than (\w+)", item.good.text)[0]
            steps = {"one": chain(after, first, last), "other": chain(after, last, first)}
            word = re.findall(r"is (\w+) than", premises)[0]
            right = steps["one"] if item.good.scored == word else steps["other"]
        else:
            (thing,) = re.findall(r"So the (\w+) is", item.good.text)
            right = chain(after, thing, item.good.scored)
            assert item.good.scored not in after and not chain(after, thing, item.bad[0].scored)
        assert right == int(item.condition.split()[0])
    assert set(Counter(item.condition for item in given).values()) == {len(given) // 4}


def chain(after: dict[str, str], first: str, last: str) -> int:
    """The number of steps from the first to the last; 0 where there is no way."""
    steps = 0
    while first in after:
        first, steps = after[first], steps + 1
        if first == last:
            return steps
    return 0


def test_a_model_of_one_word_or_one_container_is_right_in_half_of_the_inferences() -> None:
    good, bad = (Counter[tuple[str, str]]() for _ in range(2))
    for item in items("inference"):
        context = item.good.text.partition(" So ")[0]
        good[context, item.good.scored] += 1
        bad[context, item.bad[0].scored] += 1
    assert good == bad
