"""How many examples would decide a claim."""

from math import ceil

from headscope.report.claims import LEAST_EXAMPLES, Claim

# A difference that wants more than so many times the examples is too small to be told.
MOST_TIMES = 1000


def examples_to_decide(test: Claim) -> int | None:
    """How many examples would put the interval of a difference of this size on one side of 0; None where it is tiny.

    >>> from headscope.report.wording import Estimate
    >>> examples_to_decide(Claim(0.48, 0.5, Estimate(-0.02, -0.06, 0.02), 100))
    400
    """
    difference = test.difference
    if not difference.tested or difference.value == 0:
        return None
    half = difference.value - difference.lower if difference.value > 0 else difference.upper - difference.value
    wanted = max(test.n + 1, LEAST_EXAMPLES, ceil(round(test.n * (half / difference.value) ** 2, 6)))
    return wanted if wanted <= MOST_TIMES * test.n else None
