"""Thresholds of a special head."""

# A head is called special only where it beats its baseline by so much, in so many cases, at this rate of errors.
GAIN, LEAST_CASES, RATE = 0.1, 50, 0.05


def enough(cases: float) -> bool:
    """True if there are at least `LEAST_CASES` cases."""
    return cases >= LEAST_CASES


def is_special(gain: float, q: float, cases: float) -> bool:
    """True if a head beats its baseline by 10 points or more, not by chance, in enough cases.

    >>> is_special(0.2, 0.01, 400), is_special(0.2, 0.01, 12)
    (True, False)
    """
    return gain >= GAIN and q < RATE and enough(cases)
