"""Attention of mentions and of other words to special tokens, in closed form and by loops."""

import numpy as np
import pytest

from headscope.statistics.split_half import BestHead, Selection
from headscope.studies.heads.coreference.scores import no_op
from support.made_mentions import rows


def test_the_mean_is_over_inputs_that_did_not_choose_the_head() -> None:
    random = np.random.default_rng(0)
    count, heads, units = 40, 3, np.sort(random.integers(0, 8, 40))
    sink, others = random.random((2, count, heads))
    others[5] = np.nan
    cases = rows(units, np.zeros((count, heads)), sink=sink, sink_others=others, input=units * 2)
    half, draws = np.arange(8) % 2 == 0, np.ones((4, 8), np.uint8)
    best = BestHead(Selection(1), None)  # type: ignore[arg-type]
    found = no_op({"all": cases, "proper": cases}, {"all": best, "proper": None}, draws, half)
    assert set(found) == {"all"}
    expected = []
    for unit in range(1, 8, 2):
        kept = [case for case in range(count) if units[case] == unit and not np.isnan(others[case, 1])]
        if kept:
            applies, otherwise = (np.mean([values[case, 1] for case in kept]) for values in (sink, others))
            expected.append([applies, otherwise, otherwise - applies])
    assert found["all"].mean.tolist() == pytest.approx(np.mean(expected, axis=0).tolist())
