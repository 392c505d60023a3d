"""How surely heads are above a limit, after all were looked at; and that findings which call heads special say it."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

from headscope.statistics.significance import q_above, q_changed, q_no_worse, surely
from support.findings import texts_of
from support.patterns_result import patterns_result
from support.profile_result import profile_result
from support.tiers import paired

HEADS = "Benjamini-Hochberg over 12 heads"
TOLERANCE, RUNS = 0.02, 2000


def with_errors(means: list[float], errors: list[float]) -> xr.DataArray:
    """Means with the 95% intervals of these standard errors."""
    values, half = np.array(means), norm.ppf(0.975) * np.array(errors)
    bounds = {"lower": ("head", values - half), "upper": ("head", values + half)}
    return xr.DataArray(values, bounds, ["head"])


def by_hand(p: list[float]) -> list[float]:
    """Benjamini and Hochberg, step by step."""
    order, found, least = sorted(range(len(p)), key=lambda at: -p[at]), [0.0] * len(p), 1.0
    for rank, at in zip(range(len(p), 0, -1), order, strict=True):
        least = found[at] = min(least, p[at] * len(p) / rank)
    return found


def test_the_rate_is_that_of_a_normal_distribution_corrected_for_all() -> None:
    means, errors = [0.7, 0.55, 0.5, 0.3], [0.1, 0.02, 0.05, 0.1]
    p = [float(norm.sf((mean - 0.5) / error)) for mean, error in zip(means, errors, strict=True)]
    q = q_above(with_errors(means, errors), 0.5)
    assert q is not None and q.values.tolist() == pytest.approx(by_hand(p))
    p = [2 * float(norm.sf(abs(mean) / error)) for mean, error in zip(means, errors, strict=True)]
    q = q_changed(with_errors([-mean for mean in means], errors))
    assert q is not None and q.values.tolist() == pytest.approx(by_hand(p))


def test_what_does_not_vary_is_sure_unless_it_is_the_limit() -> None:
    q = q_above(with_errors([0.6, 0.5, 0.4], [0, 0, 0]), 0.5)
    assert q is not None and q.values.tolist() == pytest.approx([0, 0.75, 1])
    q = q_changed(with_errors([0.0], [0]))
    assert q is not None and q.item() == 1


def test_missing_values_are_not_tested_and_without_intervals_there_is_no_test() -> None:
    q = q_above(with_errors([0.9, np.nan], [0.1, np.nan]), 0.5)
    assert q is not None and np.isnan(q.values).tolist() == [False, True]
    assert surely(q, "heads").endswith("over 1 heads)")
    assert q_above(xr.DataArray([0.9], dims=["head"]), 0.5) is None and surely(None, "heads") == ""


def test_heads_above_a_limit_are_said_with_correction_and_the_median_head() -> None:
    result = profile_result()
    result["segment_end"] = result["attention_offset"].sel(offset=-1, drop=True)
    result["segment_end_ci"] = result["attention_offset_ci"].sel(offset=-1, drop=True)
    result["segment_end"].loc[{"layer": 1, "head": 1}] = 0.505
    result["segment_end_ci"].loc[{"layer": 1, "head": 1}] = [0.495, 0.515]
    median = float(result["segment_end"].median())
    text = texts_of(result)["End of a segment"]
    assert f"1 beyond chance (q < 0.05, {HEADS}); the median head gives {median:.2f}" in text


def test_patterns_of_heads_are_said_with_correction_cases_and_the_median_head() -> None:
    texts = texts_of(patterns_result())
    assert "1 beyond chance" in texts["Vertical"] and "over 20 heads and patterns" in texts["Vertical"]
    assert "in the median head 0.25 of the maps" in texts["Vertical"] and "n = 60" in texts["Vertical"]
    assert "beyond chance" not in texts["Near-even block"]
    assert "beyond chance" not in texts_of(patterns_result(("RTE", "MRPC")))["Vertical"]


def gains(losses: np.ndarray, won: float, n: int, random: np.random.Generator) -> xr.DataArray:
    """Gains of heads of these true losses, with their intervals by the normal distribution."""
    up, down = random.binomial(n, won, losses.shape), random.binomial(n, won + losses)
    gain, changed = (up - down) / n, (up + down) / n
    half = 1.96 * np.sqrt(np.maximum(changed - gain**2, 0) / n)
    return xr.DataArray(gain, {"lower": ("head", gain - half), "upper": ("head", gain + half)}, ["head"])


@pytest.mark.parametrize(("n", "won"), paired([100, 400, 2000], [0.0, 0.01, 0.05]))
def test_of_72_heads_that_lose_the_tolerance_one_is_called_free_in_at_most_5_percent_of_runs(n: int, won: float):
    random, wrong = np.random.default_rng(n), 0
    for _ in range(RUNS // 10):
        q = q_no_worse(gains(np.full(72, TOLERANCE), won, n, random), TOLERANCE, n, of_answers=True)
        assert q is not None
        wrong += bool((q < 0.05).any())
    assert wrong <= 0.075 * RUNS // 10  # 5%, and two standard errors of so many runs


def test_heads_that_lose_nothing_are_found_with_enough_examples():
    random = np.random.default_rng(0)
    losses = np.repeat([0.0, 0.04], 36)
    q = q_no_worse(gains(losses, 0.005, 3000, random), TOLERANCE, 3000, of_answers=True)
    assert q is not None and (q[:36] < 0.05).all() and not (q[36:] < 0.05).any()


def test_without_intervals_there_is_no_test():
    assert q_no_worse(xr.DataArray([0.0], dims=["head"]), 0.01, 100, of_answers=True) is None
