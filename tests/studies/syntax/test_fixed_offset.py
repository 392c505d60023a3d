"""The best fixed offset, against trying each."""

import numpy as np
import pytest

from headscope.studies.syntax.fixed_offset import best_offset, hits
from support.made_answers import made, random_answers


def one(*words: tuple[int, int, int]) -> list[tuple[int, int, int, int, str]]:
    return [(0, place, head, length, "dep") for place, head, length in words]


def answers(*words: tuple[int, int, int]):
    return made(one(*words), np.zeros((len(words), 1, 2)))


def test_the_head_at_the_offset_is_hit_and_nothing_outside_of_the_sentence() -> None:
    words = answers((0, 1, 4), (1, -1, 4), (2, 1, 4), (3, 1, 4))
    assert hits(words, 1).tolist() == [True, False, False, False]
    assert hits(words, -1).tolist() == [False, False, True, False]
    assert hits(words, -2).tolist() == [False, False, False, True]
    assert not hits(words, 3).any()


def test_a_root_is_never_hit() -> None:
    words = answers((0, -1, 2), (1, 0, 2))
    assert hits(words, -1).tolist() == [False, True]
    assert hits(words, -1, as_coded=True).tolist() == [False, True]


def test_as_coded_an_offset_stops_at_the_ends_of_the_sentence() -> None:
    words = answers((1, 0, 3), (0, 2, 3))
    assert hits(words, -2).tolist() == [False, False]
    assert hits(words, -2, as_coded=True).tolist() == [True, False]
    assert hits(words, 5, as_coded=True).tolist() == [False, True]


def test_of_equals_the_nearest_offset_is_taken() -> None:
    assert best_offset(answers((0, 3, 5), (4, 3, 5))) == -1
    assert best_offset(answers((0, 1, 2), (1, 0, 2))) == -1
    assert best_offset(answers((0, -1, 1))) == 0


def test_as_coded_far_offsets_are_not_tried() -> None:
    far = answers((0, 5, 6), (1, 2, 6), (0, 5, 6))
    assert best_offset(far) == 5
    assert best_offset(far, as_coded=True) == 1


@pytest.mark.parametrize("seed", range(3))
def test_no_other_offset_is_better(seed: int) -> None:
    words, _ = random_answers(40, 1, seed)
    counted = {
        offset: sum(
            head >= 0 and head == place + offset
            for place, head in zip(words.place.tolist(), words.head.tolist(), strict=True)
        )
        for offset in range(-60, 61)
    }
    assert counted[best_offset(words)] == max(counted.values()) == hits(words, best_offset(words)).sum()
