"""The best fixed word, against trying each; scores from answers, against loops over words.

Heads are chosen apart from what they are scored on.
"""

from math import comb

import numpy as np
import pytest
from scipy.stats import t

from headscope.linguistics.dependencies import FixedWord
from headscope.results.vocabulary import DIRECTIONS
from headscope.statistics import intervals
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.split_half import Selection, split_in_half
from headscope.studies.heads.syntax.scores import HeadPredictions, best, best_baseline, hits, score
from support.made_answers import made, random_answers

HEADS, SENTENCES = 3, 60


def one(*words: tuple[int, int, int]) -> list[tuple[int, int, int, int, str]]:
    return [(0, position, head, length, "dep") for position, head, length in words]


def answers(*words: tuple[int, int, int]):
    return made(one(*words), np.zeros((len(words), 1, 2)))


def hits_at(words: HeadPredictions, offset: int, as_coded: bool = False) -> np.ndarray:
    return hits(words, FixedWord(offset), as_coded)


def test_the_head_at_the_offset_is_hit_and_outside_of_the_sentence_the_nearest_other_word() -> None:
    words = answers((0, 1, 4), (1, -1, 4), (2, 1, 4), (3, 1, 4), (3, 2, 4))
    assert hits_at(words, 1).tolist() == [True, False, False, False, True]
    assert hits_at(words, -1).tolist() == [True, False, True, False, True]
    assert hits_at(words, -2).tolist() == [True, False, False, True, False]
    assert hits(words, FixedWord(position=1)).tolist() == [True, False, False, False, False]


def test_attention_to_any_other_word_is_no_better_than_a_fixed_word() -> None:
    """In sentences of four words whose heads are drawn at random, so that no parser is right for more than a third."""
    random = np.random.default_rng(0)
    words = [
        (position, (position + int(random.integers(1, 4))) % 4, 4) for position in np.tile(np.arange(4), 2000).tolist()
    ]
    for fixed in (FixedWord(1), FixedWord(-1), FixedWord(position=1), FixedWord(position=3), FixedWord(position=-1)):
        assert hits(answers(*words), fixed).mean() == pytest.approx(1 / 3, abs=0.02)


def test_a_root_is_never_hit() -> None:
    words = answers((0, -1, 2), (1, 0, 2))
    assert hits_at(words, -1).tolist() == [False, True]
    assert hits_at(words, -1, as_coded=True).tolist() == [False, True]


def test_as_coded_an_offset_stops_at_the_ends_of_the_sentence() -> None:
    words = answers((1, 0, 3), (0, 2, 3))
    assert hits_at(words, -2).tolist() == [True, False]
    assert hits_at(words, -2, as_coded=True).tolist() == [True, False]
    assert hits_at(words, 5, as_coded=True).tolist() == [False, True]


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
    rows = list(zip(words.position.tolist(), words.head.tolist(), words.length.tolist(), strict=True))
    counted = [sum(head >= 0 and head == position + offset for position, head, _ in rows) for offset in range(-60, 61)]
    counted += [sum(head == position for _, head, _ in rows) for position in range(60)]
    counted += [sum(head >= 0 and head == length - position for _, head, length in rows) for position in range(60)]
    found = best_baseline(words).places(words.position, words.length)
    assert max(counted) == ((found == words.head) & (words.head >= 0)).sum()


@pytest.fixture(scope="module")
def known() -> tuple[HeadPredictions, np.ndarray]:
    return random_answers(SENTENCES, HEADS)


@pytest.fixture(scope="module")
def draws() -> np.ndarray:
    return poisson_draws(range(SENTENCES), 0, 200).astype(np.uint8)


def test_a_prediction_that_words_share_counts_as_a_share_of_it() -> None:
    words = made([(0, 0, 1, 9, "obj")] * 4, np.array([0, 1, 2, 4])[:, None, None] * np.ones((1, 1, 2)))
    assert words.shares[:, 0, 0].tolist() == [0, 1, 0.5, 0.25]
    found = score(words, np.ones((1, 1), np.uint8), np.zeros(1, bool))
    assert found.accuracy.mean.tolist() == [[0.4375, 0.4375]]
    assert found.p.tolist() == [[1, 1]]  # of 1.75 words, one counts: the fixed word is right for all four


def test_relations_are_in_order_of_their_words_and_all_is_without_punctuation_and_roots(known) -> None:
    words, _ = known
    relations = words.by_relation()
    counts = {name: len(its) for name, its in relations.items()}
    names = words.relation.tolist()
    assert counts == {
        "all": sum(name not in ("punct", "root") for name in names),
        **{name: names.count(name) for name in ("det", "obj", "punct", "nsubj:pass")},
    }
    assert list(counts.values())[1:] == sorted(list(counts.values())[1:], reverse=True)
    assert len(words.by_relation(everything=True)["all"]) == len(words)


def test_subtypes_of_punctuation_are_punctuation() -> None:
    words = made([(0, 0, 1, 2, "punct:quote"), (0, 1, 0, 2, "punctual")], np.ones((2, 1, 2)))
    assert words.by_relation()["all"].relation.tolist() == ["punctual"]


def test_accuracy_is_over_words_and_resampled_by_input(known, draws: np.ndarray) -> None:
    words, right = known
    its = np.flatnonzero(words.relation == "obj")
    found = score(words[its], draws, split_in_half(draws.shape[1], 0))
    np.testing.assert_allclose(found.accuracy.mean, right[its].mean(0))
    assert (found.accuracy.count == len(its)).all()
    resampled = [
        sum(right[word] * int(row[words.input[word]]) for word in its)
        / sum(int(row[words.input[word]]) for word in its)
        for row in draws
    ]
    np.testing.assert_allclose(
        found.accuracy.interval, intervals.interval(np.array(resampled), found.accuracy.units), atol=1e-12
    )
    assert found.fixed == best_baseline(words[its])
    np.testing.assert_allclose(found.baseline.mean, [hits(words[its], found.fixed).mean()])


def test_p_is_the_larger_one_of_words_and_of_sentences(known, draws: np.ndarray) -> None:
    """Of so many words that one alone gets right; and of the mean gain, with the error of resampled sentences."""
    words, right = known
    its = np.flatnonzero(words.relation == "det")
    found = score(words[its], draws, split_in_half(draws.shape[1], 0))
    base, larger = hits(words[its], found.fixed), set()
    drawn = draws[:, words.input[its]].astype(float)  # [resample, word]
    units = drawn.sum(1).mean() ** 2 / drawn.sum(1).var()
    for head in range(HEADS):
        for direction in range(len(DIRECTIONS)):
            ours = right[its, head, direction]
            alone, other = int((ours & ~base).sum()), int((~ours & base).sum())
            tossed = alone + other
            p = sum(comb(tossed, number) for number in range(alone, tossed + 1)) / 2**tossed
            gains = (drawn @ (ours.astype(float) - base))[drawn.sum(1) > 0] / drawn.sum(1)[drawn.sum(1) > 0]
            error = gains.std() * (units / (units - 1)) ** 0.5
            of_units = max(t.sf((ours.mean() - base.mean()) / error, units - 1), 0.5 * (ours.mean() <= base.mean()))
            np.testing.assert_allclose(found.p[head, direction], max(p, of_units), rtol=1e-6)
            larger.add(p > of_units)
    assert larger == {True, False}


def test_halves_are_halves_and_depend_on_the_seed() -> None:
    assert split_in_half(101, 3).sum() == 51 and split_in_half(100, 3).sum() == 50
    assert (split_in_half(100, 3) == split_in_half(100, 3)).all() and (
        split_in_half(100, 3) != split_in_half(100, 4)
    ).any()


def two_faced(number: int = 40) -> tuple[HeadPredictions, np.ndarray]:
    """Head 2 is right in the first half of the inputs, head 1 in the other; the head is 1 to the left, then 2."""
    first = np.arange(number) < number // 2
    words = [(sentence, 4, 3 if first[sentence] else 2, 9, "dep") for sentence in range(number)]
    right = np.zeros((number, 3, 2))
    right[~first, 0, 0] = right[first, 1, 1] = 1
    return made(words, right), first


def test_what_is_chosen_on_one_half_is_scored_on_the_other() -> None:
    words, first = two_faced()
    found = best(words, poisson_draws(range(40), 0, 50).astype(np.uint8), first)
    assert found is not None
    assert found.selected == Selection(1, 1, FixedWord(-1))
    assert found.held_out.mean.tolist() == [0, 0, 0] and found.held_out.count == 20
    other = best(words, poisson_draws(range(40), 0, 50).astype(np.uint8), ~first)
    assert other is not None and other.selected == Selection(0, 0, FixedWord(-2))


def test_as_coded_a_head_is_chosen_on_what_it_is_scored_on() -> None:
    words, first = two_faced()
    found = best(words, poisson_draws(range(40), 0, 50).astype(np.uint8), first, as_coded=True)
    assert found is not None and found.held_out.count == 40
    assert found.held_out.mean.tolist() == [0.5, 0.5, 0]


def test_a_gain_is_resampled_in_pairs(known, draws: np.ndarray) -> None:
    """Where the head is right whenever the offset is, and once more in ten words, its gain is sure."""
    number = 50
    words = [(sentence, 1, 0 if sentence % 2 else 2, 3, "dep") for sentence in range(number)]
    right = np.zeros((number, 1, 2))
    right[1::2] = 1
    right[::10] = 1
    found = best(made(words, right), draws, np.zeros(SENTENCES, bool), as_coded=True)
    assert found is not None
    np.testing.assert_allclose(found.held_out.mean, [0.6, 0.5, 0.1])
    widths = np.diff(found.held_out.interval)[:, 0]
    assert found.held_out.interval[2, 0] > 0 and widths[2] < 0.8 * widths[:2].min()


def test_a_relation_that_one_half_lacks_is_not_chosen(draws: np.ndarray) -> None:
    words = made([(0, 0, 1, 2, "dep")], np.ones((1, 1, 2)))
    assert best(words, draws, np.ones(SENTENCES, bool)) is None
    assert best(words, draws, np.zeros(SENTENCES, bool)) is None
