"""Two-way analysis of variance: the textbook's formulas, planted effects, and intervals that cover."""

import numpy as np
import pytest
from scipy.stats import chi2, f

from headscope.statistics.runs import Component, two_way


def crossed(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The levels of all pairs."""
    first, second = np.divmod(np.arange(rows * columns), columns)
    return first, second


def components(values: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[Component, Component, Component]:
    """Those of runs that are enough to have a rest."""
    found = two_way(values, first, second)
    assert found
    return found


def test_with_all_pairs_it_is_that_of_the_textbook() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(4, 3)) + rng.normal(size=(4, 1)) + rng.normal(size=(1, 3))
    rows, columns, rest = components(table.ravel(), *crossed(4, 3))
    mean, of_rows, of_columns = table.mean(), table.mean(1), table.mean(0)
    squares = (3 * ((of_rows - mean) ** 2).sum(), 4 * ((of_columns - mean) ** 2).sum())
    left = ((table - of_rows[:, None] - of_columns + mean) ** 2).sum()
    assert (rows.squares, columns.squares, rest.squares) == pytest.approx((*squares, left))
    assert (rows.free, columns.free, rest.free) == (3, 2, 6)
    assert rows.p == pytest.approx(f.sf(squares[0] / 3 / (left / 6), 3, 6))
    assert rows.deviation**2 == pytest.approx(max((squares[0] / 3 - left / 6) / 3, 0))
    assert columns.deviation**2 == pytest.approx(max((squares[1] / 2 - left / 6) / 4, 0))
    assert (rest.lower, rest.upper) == pytest.approx(np.sqrt(left / chi2.ppf([0.975, 0.025], 6)))


def test_a_factor_of_missing_pairs_is_what_it_explains_beyond_the_other() -> None:
    first, second = crossed(4, 4)
    kept = (first + second) % 4 < 3
    values = (np.array([0.0, 1, 2, 3])[first] + np.array([5.0, 0, 0, 1])[second])[kept]
    rows, columns, rest = components(values, first[kept], second[kept])
    assert rest.squares == 0 and rest.free == 12 - 7
    assert rows.p == columns.p == 0
    design = np.column_stack([first[kept][:, None] == np.arange(4), second[kept][:, None] == np.arange(1, 4)])
    without = (
        values
        - design[:, 4:] @ np.linalg.lstsq(np.column_stack([np.ones(12), design[:, 4:]]), values, rcond=None)[0][1:]
    )
    assert rows.squares < ((without - without.mean()) ** 2).sum() + 1e-9 and rows.squares > 0


@pytest.mark.parametrize(("effect", "least", "most"), [(0.0, 0.0, 0.1), (2.0, 0.8, 1.0)])
def test_a_planted_effect_is_found_and_none_where_there_is_none(effect: float, least: float, most: float) -> None:
    rng, found, covered = np.random.default_rng(1), [], []
    first, second = crossed(5, 5)
    for _ in range(60):
        values = effect * rng.normal(size=5)[first] + rng.normal(size=25)
        rows, *_ = components(values, first, second)
        found.append(rows.p < 0.05)
        covered.append(rows.lower <= effect <= rows.upper)
    assert least <= np.mean(found) <= most
    assert np.mean(covered) >= 0.85


def test_equal_scores_have_no_spread_and_few_runs_have_no_rest() -> None:
    rows, columns, rest = components(np.full(4, 0.7), *crossed(2, 2))
    assert (rows.deviation, columns.deviation, rest.deviation) == (0, 0, 0) and rows.p == 1
    assert two_way(np.array([0.1, 0.2]), *crossed(1, 2)) is None
