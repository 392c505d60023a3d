"""The best fixed word, against trying each."""

import numpy as np
import pytest

from headscope.linguistics.fixed_words import FixedWord
from headscope.studies.syntax.predictions import HeadPredictions, best_baseline
from headscope.studies.syntax.predictions import hits as hits_of
from support.made_answers import made, random_answers


def one(*words: tuple[int, int, int]) -> list[tuple[int, int, int, int, str]]:
    return [(0, place, head, length, "dep") for place, head, length in words]


def answers(*words: tuple[int, int, int]):
    return made(one(*words), np.zeros((len(words), 1, 2)))


def hits(words: HeadPredictions, offset: int, as_coded: bool = False) -> np.ndarray:
    return hits_of(words, FixedWord(offset), as_coded)


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


def test_of_equals_an_offset_is_taken_and_the_nearest() -> None:
    assert best_baseline(answers((0, 3, 5), (4, 3, 5))) == FixedWord(position=4)
    assert best_baseline(answers((0, 1, 2), (1, 0, 2))) == FixedWord(-1)
    assert best_baseline(answers((0, -1, 1))) == FixedWord(0)
    assert best_baseline(answers((1, 2, 3), (2, 4, 5))) == FixedWord(position=-1)


def test_as_coded_far_offsets_and_positions_are_not_tried() -> None:
    far = answers((0, 5, 6), (1, 2, 6), (0, 5, 6))
    assert best_baseline(far) == FixedWord(5)
    assert best_baseline(far, as_coded=True) == FixedWord(1)
    assert best_baseline(answers((4, 0, 6), (5, 0, 6)), as_coded=True) == FixedWord(0)


@pytest.mark.parametrize("seed", range(3))
def test_no_other_fixed_word_is_better(seed: int) -> None:
    words, _ = random_answers(40, 1, seed)
    rows = list(zip(words.place.tolist(), words.head.tolist(), words.length.tolist(), strict=True))
    counted = [sum(head >= 0 and head == place + offset for place, head, _ in rows) for offset in range(-60, 61)]
    counted += [sum(head == position for _, head, _ in rows) for position in range(60)]
    counted += [sum(head >= 0 and head == length - position for _, head, length in rows) for position in range(60)]
    assert max(counted) == hits_of(words, best_baseline(words)).sum()
