"""False discovery rates by a naive loop, and whether those of a result are such rates of its tests."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import h5py
import numpy as np
from scipy.stats import false_discovery_control

RATE = "false discovery rate"
# Tests of one correction that are compared with the loop, and decimals by which rates are found again.
CHECKED, DECIMALS = 20, 9


def naive_rates(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg 1995: the least rate at which the step-up procedure rejects, test by test.

    >>> naive_rates([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    return [naive_rate(p, own) for own in p]


def naive_rate(p: Sequence[float], own: float) -> float:
    """That of one of these tests."""
    tests = np.asarray(p)
    return min([1.0, *(other * len(p) / int(np.count_nonzero(tests <= other)) for other in p if other >= own)])


@contextmanager
def rates_compared(out: Path | None) -> Iterator[None]:
    """Within this context a study runs; all false discovery rates that it makes are those of the loop.

    At its end those of its result are among them, as often as they are there: none was made in another way.
    """
    made, held = Counter[float](), Counter[float]()

    def compared(p: np.ndarray) -> np.ndarray:
        rates, tests = np.ravel(false_discovery_control(p)), np.ravel(p).tolist()
        for at in range(0, len(tests), 1 + len(tests) // CHECKED):
            np.testing.assert_allclose(rates[at], naive_rate(tests, tests[at]), rtol=1e-9)
        made.update(np.round(rates, DECIMALS).tolist())
        return rates.reshape(np.shape(p))

    with patch("headscope.statistics.significance.false_discovery_control", compared):
        yield
    if out and (out / "result.nc").is_file():
        with h5py.File(out / "result.nc") as file:
            rates = [item[...] for item in file.values() if str(item.attrs.get("long_name", "")).startswith(RATE)]
        for values in rates:
            held.update(np.round(values[~np.isnan(values)], DECIMALS).tolist())
        assert not held - made, "a false discovery rate of the result was made in another way"
