"""The best head of one half of the rows, scored on the other half."""

from dataclasses import dataclass

import numpy as np

from headscope.statistics.bootstrap import tally_by_input
from headscope.statistics.columns import Columns
from headscope.statistics.split_half import BestHead, Selection, best_head, column, held_out_scores

DRAWS = np.ones((3, 4))
FIRST = np.array([True, True, False, False])


@dataclass(frozen=True)
class Words(Columns):
    """Whether each of two heads is right about a word."""

    input: np.ndarray
    right: np.ndarray


# Head 1 is the better one in the first half, head 0 in the second.
WORDS = Words(np.arange(4), np.array([[0, 1], [0, 1], [1, 0], [1, 1]]))


def best(words: Words, in_selection_half: np.ndarray | None) -> BestHead | None:
    return best_head(
        words,
        in_selection_half,
        lambda words: Selection(int(words.right.sum(0).argmax())),
        lambda words, selected: tally_by_input(words.right[:, [selected.head]], words.input, DRAWS),
    )


def test_a_head_is_selected_on_one_half_and_scored_on_the_other() -> None:
    first, second = best(WORDS, FIRST), best(WORDS, ~FIRST)
    assert first is not None and first.selected.head == 1 and first.held_out.mean.tolist() == [0.5]
    assert second is not None and second.selected.head == 0 and second.held_out.mean.tolist() == [0]


def test_without_halves_a_head_is_selected_and_scored_on_all_rows() -> None:
    chosen = best(WORDS, None)
    assert chosen is not None and chosen.selected.head == 1 and chosen.held_out.mean.tolist() == [0.75]


def test_a_half_without_rows_has_no_best_head() -> None:
    assert best(WORDS, np.ones(4, bool)) is None and best(WORDS, np.zeros(4, bool)) is None


def test_columns_of_best_heads_have_missing_values_where_there_is_none() -> None:
    heads = [best(WORDS, FIRST), None]
    assert column(heads, lambda head: head.selected.head, -1) == [1, -1]
    means, intervals = held_out_scores(heads, 0)
    np.testing.assert_array_equal(means, [0.5, np.nan])
    np.testing.assert_array_equal(intervals, [[0.5, 0.5], [np.nan, np.nan]])
    means, intervals = held_out_scores(heads, [0])
    assert means.shape == (2, 1) and intervals.shape == (2, 1, 2)
