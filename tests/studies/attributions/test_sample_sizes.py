"""How many inputs are scored and altered by default, beside a loop that adds one after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headscope.studies.words.attributions.sample_sizes import (
    HEAD_PASSES,
    LEAST,
    SETS,
    SETS_OF_TOKEN,
    TOKENS_OF_TWO_MINUTES,
    fitting,
)


def tokens_of_passes(lengths: list[int], scored: int, altered: int, by_head: int) -> int:
    """The tokens of all passes over the first inputs, one input after the other."""
    total = 0
    for number, length in enumerate(lengths):
        total += (number < scored) * length * min(SETS_OF_TOKEN * length, SETS)
        total += (length <= 128) * length * (200 * (number < altered) + HEAD_PASSES * (number < by_head))
    return total


@given(st.lists(st.integers(1, 300), min_size=1, max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_samples_take_no_more_than_two_minutes_and_no_input_more_fits(
    lengths: list[int], scored: int, altered: int
) -> None:
    asked = [min(len(lengths), number) for number in (scored, altered)]
    sizes = fitting(np.array(lengths), *asked)
    taken = (sizes.scored, sizes.altered, sizes.by_head)
    for number, most in zip(taken, (*asked, sizes.altered), strict=True):
        assert 0 <= number <= most
    assert sizes.scored >= min(asked[0], LEAST) and sizes.altered >= min(asked[1], LEAST)
    if sizes.scored > LEAST and sizes.altered > LEAST:
        assert tokens_of_passes(lengths, *taken) <= TOKENS_OF_TWO_MINUTES
    if sizes.altered < asked[1]:
        more = tokens_of_passes(lengths, sizes.scored, sizes.altered + 1, 0)
        assert more > TOKENS_OF_TWO_MINUTES or sizes.by_head == 0


def test_what_one_sample_does_not_need_goes_to_the_others() -> None:
    lengths = np.full(50, 20)
    both, alone = fitting(lengths, 50, 50), fitting(lengths, 50, 0)
    assert alone.scored > both.scored and fitting(lengths, 0, 50).altered > both.altered
    assert both.by_head == 0 and fitting(lengths, 10, 10).by_head == 8
    # Sets of 400 and 350 more for integrated gradients, with what is left by altered inputs.
    assert fitting(lengths, 50, 0, integrated=350).scored == TOKENS_OF_TWO_MINUTES // (20 * 750)


class Begun(Exception):
    """The samples are drawn, and the pass has not begun."""
