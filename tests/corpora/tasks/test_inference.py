"""Chains of inference: answers follow from texts, in as many steps as they say, and no place of a name tells them."""

import re
from collections import Counter

import pytest

from headscope import HeadscopeError
from headscope.corpora.tasks import chance, read
from headscope.linguistics.sentence import Example, segment_text

TASK = read("inference", limit=20)


def compared(example: Example) -> tuple[list[tuple[str, str]], tuple[str, str]]:
    """The comparisons of the text, and the one that is asked for."""
    pairs = [re.findall(r"(\w+) is \w+ than (\w+)\.", segment_text(segment)) for segment in example.segments]
    return pairs[0], pairs[1][0]


def steps(pairs: list[tuple[str, str]], first: str, last: str) -> int:
    """The comparisons from one person to another, by a naive walk; 0 where none leads there."""
    number, after = 0, dict(pairs)
    while first != last and first in after:
        first, number = after[first], number + 1
    return number if first == last else 0


def test_answers_follow_from_the_text_in_as_many_steps_as_they_say() -> None:
    for example, depth in zip(TASK.dev, TASK.depths, strict=True):
        pairs, (first, last) = compared(example)
        walked = steps(pairs, first, last) if example.label == "yes" else steps(pairs, last, first)
        assert walked == depth and len(pairs) == 6, example
    of_train = {steps(pairs, *asked) or steps(pairs, *asked[::-1]) for pairs, asked in map(compared, TASK.training())}
    assert of_train == {1, 2} and TASK.trained_depth == 2 and set(TASK.depths) == {1, 2, 3, 4}


def test_no_place_of_a_name_tells_the_answer() -> None:
    for example in (*TASK.dev, *TASK.training()):
        pairs, asked = compared(example)
        places = Counter((name, number) for pair in pairs for number, name in enumerate(pair))
        assert all(places[name, number] == 1 for name in asked for number in (0, 1)), example


def test_labels_are_balanced_texts_stay_whole_and_no_text_is_in_both_splits() -> None:
    assert chance(TASK, TASK.targets(TASK.dev))[0] == 0.5
    assert TASK.dev.by_document and len(set(TASK.dev.units)) == len(TASK.dev) / 2
    dev, train = ({segment_text(example.first) for example in corpus} for corpus in (TASK.dev, TASK.training()))
    assert not dev & train
    assert [example.id for example in read("inference", limit=3).dev][:2] == ["dev-1-0-yes", "dev-1-0-no"]


def test_it_cannot_be_annotated() -> None:
    with pytest.raises(HeadscopeError, match="leave out --annotate"):
        read("inference", annotate=True)
