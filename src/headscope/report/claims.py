"""Claims of a page: a number beside what it is compared with, and whether the difference is sure.

Each function here is a test that a sentence may rest on. `Finding.judged` gives a claim its words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, isnan, nan, sqrt
from typing import Literal

import numpy as np
import xarray as xr
from scipy.stats import norm, t

from headscope.report.wording import Estimate, n_examples, of_array
from headscope.statistics.runs import over_seeds
from headscope.statistics.significance import RATE, WIDTH, benjamini_hochberg, q_above

Verdict = Literal["holds", "fails", "undecided"]
# A difference of shares that is worth a sentence, and the examples and seeds without which nothing is said.
POINT = 0.01
LEAST_EXAMPLES, LEAST_SEEDS = 10, 3
MOST_NAMED = 1_000_000  # beyond this many cases that would decide no number is named
# The errors within which five samples of six stay, and nineteen of twenty, on one side.
SURE, LIKELY = float(norm.ppf(5 / 6)), float(norm.ppf(0.95))
# From the least that is shown to the most.
STRENGTH: tuple[Verdict, ...] = ("fails", "undecided", "holds")
# The standard deviation of normal numbers by their median distance from the median.
SIGMAS_OF_MAD = 1.4826


@dataclass(frozen=True, slots=True)
class Claim:
    """A number, what it is compared with, and their difference with its 95% interval.

    * `n`: how many cases the interval rests on; `q`: the false discovery rate, if the claim is one of many tests.
    * `least`: the smallest difference that the sentence speaks of.
    * `fixed`: the part of half of the interval that more cases do not narrow, such as that of seeds.
    """

    value: float
    baseline: float
    difference: Estimate
    n: int
    q: float = nan
    least: float = 0.0
    fixed: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The verdict on a difference: above 0 and large enough, shown to be smaller, or neither.

        An interval that ends at exactly 0 is of few answers, of which none was won: it does not say that none can be.

        >>> Claim(0.09, 0.33, Estimate(-0.24, -0.26, -0.22), 900).verdict
        'fails'
        >>> Claim(0.5, 0.4, Estimate(0.1, -0.1, 0.3), 12).verdict, Claim(0.5, 0.4, Estimate(0.1), 1).verdict
        ('undecided', 'undecided')
        >>> Claim(0.5, 0.6, Estimate(-0.1, -0.2, 0.0), 30, least=0.01).verdict
        'undecided'
        """
        if not self.difference.tested or self.n < LEAST_EXAMPLES:
            return "undecided"
        if self.difference.lower > 0 and self.difference.value >= self.least and not self.q >= RATE:
            return "holds"
        return "fails" if self.difference.upper < self.least and self.difference.upper != 0 else "undecided"

    @property
    def effect(self) -> float:
        """The size of the difference beside the larger of both numbers, by which claims are put in order."""
        size = max(abs(self.value), abs(self.baseline))
        return abs(self.difference.value) / size if size else 0.0


def paired(value: Estimate, baseline: Estimate, gain: Estimate, n: int, least: float = POINT) -> Claim:
    """A score above a baseline on the same cases: `gain` is their paired difference."""
    return Claim(value.value, baseline.value, gain, n, least=least)


def above(value: Estimate, limit: float, n: int, q: float = nan, least: float = 0.0) -> Claim:
    """A number above a limit that has no error of its own, such as chance.

    >>> above(Estimate(0.6, 0.55, 0.65), 0.5, 400).verdict
    'holds'
    """
    return Claim(value.value, limit, _less(value, limit), n, q, least)


def below(value: Estimate, limit: float, n: int) -> Claim:
    """A number below a limit that has no error of its own; the difference is the limit minus the number.

    >>> below(Estimate(0.02, 0.01, 0.04), 0.1, 400).verdict
    'holds'
    """
    return Claim(value.value, limit, _less(-value, -limit), n)


def over_heads(correlation: Estimate, n_heads: int) -> Claim:
    """A correlation over heads that is not 0: with its error over examples, and over heads (Fisher's z).

    The level is half of the usual one, since the heads of a layer are not independent of each other.

    >>> over_heads(Estimate(-0.11, -0.18, -0.04), 72).verdict, over_heads(Estimate(-0.5, -0.6, -0.4), 72).verdict
    ('undecided', 'holds')
    """
    size = min(abs(correlation.value), 0.999)
    of_examples = (correlation.upper - correlation.lower) / 2
    half = hypot(float(norm.ppf(1 - RATE / 4)) / sqrt(max(n_heads - 3, 1)), of_examples)
    difference = Estimate(size, float(np.tanh(np.arctanh(size) - half)), float(np.tanh(np.arctanh(size) + half)))
    return Claim(correlation.value, 0.0, difference, n_heads)


def apart(first: Estimate, second: Estimate, n: int, least: float = POINT) -> Claim:
    """A number above another that was measured on other cases, or not paired with it.

    The error of the difference is that of independent numbers: too large where both rise and fall together.

    >>> claim = apart(Estimate(0.5, 0.4, 0.6), Estimate(0.2, 0.1, 0.3), 100)
    >>> claim.verdict, round(claim.difference.lower, 3)
    ('holds', 0.159)
    """
    difference = first.value - second.value
    lower = difference - hypot(first.value - first.lower, second.upper - second.value)
    upper = difference + hypot(first.upper - first.value, second.value - second.lower)
    return Claim(first.value, second.value, Estimate(difference, lower, upper), n, least=least)


def head_above(array: xr.DataArray, limit: float) -> Claim:
    """The claim that some head of an array [layer, head] is above a limit, corrected for all heads.

    It is judged by the highest of the heads that surely are; without one, by the head that may be highest.

    >>> bounds = {"lower": ("head", [0.58, 0.3]), "upper": ("head", [0.62, 0.8]), "n_examples": 90}
    >>> head_above(xr.DataArray([0.6, 0.55], bounds, ["head"]), 0.5).value
    0.6
    >>> head_above(xr.DataArray([0.6, 0.55], bounds, ["head"]), 0.65).verdict
    'undecided'
    """
    q, bound = q_above(array, limit), array
    if q is not None:
        sure = (q < RATE) & (array > limit)
        bound = array.where(sure) if bool(sure.any()) else array["upper"].where(array.notnull())
    position = bound.fillna(-np.inf).argmax(array.dims)
    head = array.isel(position)
    return above(of_array(head), limit, (n_examples(head) or (0, 0))[0], nan if q is None else float(q.isel(position)))


def together(claims: Sequence[Claim]) -> list[Claim]:
    """Claims that are tested together: q corrects for their number (Benjamini-Hochberg), two-sided as intervals are.

    >>> pair = [above(Estimate(0.65, 0.56, 0.74), 0.5, 90), above(Estimate(0.5, 0.4, 0.6), 0.5, 90)]
    >>> [one.verdict for one in pair], [one.verdict for one in together(pair)]
    (['holds', 'undecided'], ['holds', 'undecided'])
    """
    values = np.array([claim.difference.value for claim in claims])
    errors = np.array([(claim.difference.upper - claim.difference.lower) / WIDTH for claim in claims])
    with np.errstate(divide="ignore", invalid="ignore"):
        q = benjamini_hochberg(np.where(values == 0, 1.0, np.minimum(2 * norm.sf(values / errors), 1.0)))
    return [replace(claim, q=rate) for claim, rate in zip(claims, q.tolist(), strict=True)]


def witness(claims: Sequence[Claim]) -> int:
    """The index of the claim that decides whether any of several holds; none holds if all fail.

    Of those with the same verdict it is that of the largest difference.

    >>> sure, open_one, none = (Claim(0.5, 0.0, Estimate(0.5, at, 0.6), 90) for at in (0.4, -0.1, -0.2))
    >>> witness([open_one, sure]), witness([Claim(0, 1, Estimate(-1, -2, -0.5), 90), none])
    (1, 1)
    """

    def shown(number: int) -> tuple[int, float]:
        difference = claims[number].difference.value
        return STRENGTH.index(claims[number].verdict), -np.inf if isnan(difference) else difference

    return max(range(len(claims)), key=shown)


def weakest(claims: Iterable[Claim]) -> Claim:
    """The claim that decides whether all of several hold: one that fails, else one undecided, else the least certain.

    >>> weakest([Claim(0.5, 0.0, Estimate(0.5, 0.4, 0.6), 90), Claim(0.5, 0.0, Estimate(0.5), 90)]).verdict
    'undecided'
    """
    return min(claims, key=lambda claim: (STRENGTH.index(claim.verdict), claim.difference.lower))


def most_of_many(array: xr.DataArray, n: int | None = None, arrays: int = 1) -> Claim:
    """The highest head of an array [layer, head] above what the highest would be if no head stood apart.

    The heads in the middle show how far heads differ; on their scale (of logarithms, where all values are positive)
    the most of m normal numbers is exceeded in one of forty cases (Bonferroni).

    * `n`: how many examples; by default those of the array. `arrays`: among how many such arrays this one is chosen.

    >>> bounds = {"lower": ("head", [0.18, 0.19, 0.19, 0.7]), "upper": ("head", [0.2, 0.21, 0.21, 0.8])}
    >>> claim = most_of_many(xr.DataArray([0.19, 0.2, 0.2, 0.75], bounds, ["head"]), 100)
    >>> claim.verdict, claim.baseline < 0.7
    ('holds', True)
    """
    flat = array.stack(place=array.dims).dropna("place")
    values = flat.values.astype(float)
    logs = bool((values > 0).all())
    scale = np.log(values) if logs else values
    middle = np.median(scale)
    spread = SIGMAS_OF_MAD * np.median(abs(scale - middle))
    limit = middle + spread * t.ppf(1 - RATE / 2 / len(values) / arrays, max(len(values) - 1, 1))
    most = float(np.exp(min(limit, 700.0)) if logs else limit)
    top = of_array(flat.isel(place=int(values.argmax())))
    if n is None:
        n = (n_examples(array) or (0, 0))[0]
    return above(top, most, n)


def above_random_weights(trained: Estimate, random: Iterable[float], n: int, least: float = POINT) -> Claim:
    """A score of the model above that of models with random weights, one score a seed.

    The interval is that of the model's score and of one more draw of random weights (t distribution).

    >>> above_random_weights(Estimate(0.5, 0.48, 0.52), [0.2, 0.21, 0.19], 400).verdict
    'holds'
    >>> above_random_weights(Estimate(0.07, 0.05, 0.09), [0.08], 400).verdict
    'undecided'
    """
    scores = np.array([score for score in random if not isnan(score)])
    mean = float(scores.mean()) if len(scores) else nan
    difference = trained.value - mean
    if len(scores) < LEAST_SEEDS or not trained.tested:
        return Claim(trained.value, mean, Estimate(difference), n, least=least)
    spread = float(scores.std(ddof=1)) * sqrt(1 + 1 / len(scores)) * float(t.ppf(0.975, len(scores) - 1))
    lower = difference - hypot(spread, trained.value - trained.lower)
    upper = difference + hypot(spread, trained.upper - trained.value)
    return Claim(trained.value, mean, Estimate(difference, lower, upper), n, least=least, fixed=spread)


def seeds_apart(first: Iterable[float], second: Iterable[float], n: int, tests: int = 1, least: float = POINT) -> Claim:
    """A number above another, seed by seed: trainings with a seed begin with the same weights, in the same order.

    The interval is over seeds (t distribution); q corrects for the number of such `tests` (Bonferroni).

    >>> seeds_apart([1.3, 1.5, 1.4], [1.0, 1.1, 1.05], 100).verdict, seeds_apart([1.3], [1.0], 100).verdict
    ('holds', 'undecided')
    """
    first, second = np.array([*first]), np.array([*second])
    differences = first - second
    mean, seeds = float(differences.mean()), len(differences)
    lower, upper = over_seeds(differences, least=2).tolist()
    error = (upper - mean) / float(t.ppf(0.975, seeds - 1)) if seeds > 1 else nan
    q = min(1.0, tests * 2 * float(t.sf(abs(mean) / error, seeds - 1))) if error > 0 else nan
    return Claim(float(first.mean()), float(second.mean()), Estimate(mean, lower, upper), n, q, least)


def no_worse(change: Estimate, tolerance: float, n: int) -> Claim:
    """A change for which a loss of more than the tolerance is ruled out (a test of non-inferiority).

    >>> unsure, sure = Estimate(-0.007, -0.03, 0.01), Estimate(0.0, -0.01, 0.01)
    >>> no_worse(unsure, 0.02, 300).verdict, no_worse(sure, 0.02, 900).verdict
    ('undecided', 'holds')
    """
    return Claim(change.value, -tolerance, _less(change, -tolerance), n)


def examples_wanted(claim: Claim) -> int | None:
    """How many cases would decide an undecided claim in five samples of six; None if that cannot be told.

    What is undecided is often smaller than it looks. So the plan is for the smallest likely difference, the end of the
    one-sided 95% interval, and there is none where that is no difference. Where a corrected rate is too large, it
    is for one that would be small enough. A bound at exactly 0 is of answers that have not occurred: their rate is not
    known.

    >>> examples_wanted(no_worse(Estimate(-0.001, -0.021, 0.019), 0.02, 300))
    54540
    >>> examples_wanted(Claim(0.5, 0.4, Estimate(0.1, 0.03, 0.17), 100, q=0.2))
    1315
    >>> examples_wanted(Claim(0.5, 0.4, Estimate(0.1, -0.05, 0.25), 100)) is None
    True
    """
    difference, upwards = claim.difference, claim.difference.value >= claim.least
    if not difference.tested or 0 in (difference.lower, difference.upper) or claim.q >= 1:
        return None
    half, room = difference.value - difference.lower, difference.value
    if not upwards:
        half, room = difference.upper - difference.value, claim.least - difference.value
    error = sqrt(max(half**2 - claim.fixed**2, 0.0)) / float(norm.isf(RATE / 2))
    room -= LIKELY * error
    least = claim.least if upwards else 0.0  # which the next value must reach, too
    if error == 0 or room <= max(claim.fixed, least):
        return None
    level = RATE / 2
    if upwards and claim.q >= RATE:
        level *= 2 * norm.sf(difference.value / error) / claim.q
    needed = ((float(norm.isf(level)) + SURE) * error) ** 2 / (room**2 - claim.fixed**2)
    needed = max(needed, (SURE * error / (room - least)) ** 2)
    return max(ceil(round(claim.n * needed, 6)), claim.n + 1)


def wanted_in_words(claim: Claim, unit: str) -> str:
    """How many cases would decide an undecided claim, as far as these can show.

    >>> wanted_in_words(above(Estimate(0.5, 0.398, 0.602), 0.4, 100), "words")
    ' About 12,000 words would settle this, in five samples of six.'
    >>> wanted_in_words(above(Estimate(0.5, 0.25, 0.75), 0.4, 100), "words")
    ' These are too few to say how many words would settle this.'
    >>> wanted_in_words(above(Estimate(0.5), 0.4, 1), "words"), wanted_in_words(above(Estimate(0.5), 0.4, 90), "words")
    (' Needs at least 10 words.', '')
    """
    if claim.n < LEAST_EXAMPLES:
        return f" Needs at least {LEAST_EXAMPLES} {unit}."
    if not claim.difference.tested:
        return ""
    wanted = examples_wanted(claim)
    if wanted is None:
        return f" These are too few to say how many {unit} would settle this."
    if wanted > MOST_NAMED:
        return f" More than {MOST_NAMED:,} {unit} would be needed."
    return f" About {two_digits(wanted):,} {unit} would settle this, in five samples of six."


def two_digits(number: int) -> int:
    """A number rounded up to two digits.

    >>> two_digits(1234), two_digits(7)
    (1300, 7)
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return ceil(number / unit) * unit


def tied(means: dict[int, Estimate]) -> list[int]:
    """The layers not clearly below the highest, in order; the highest alone if all others are clearly lower.

    >>> tied({1: Estimate(0.2, 0.1, 0.3), 2: Estimate(0.5, 0.4, 0.6), 3: Estimate(0.45, 0.35, 0.55)})
    [2, 3]
    """
    best = max(means, key=lambda layer: means[layer].value)
    return [
        layer
        for layer in sorted(means)
        if layer == best or apart(means[best], means[layer], LEAST_EXAMPLES, least=0).verdict != "holds"
    ]


def _less(value: Estimate, limit: float) -> Estimate:
    return Estimate(value.value - limit, value.lower - limit, value.upper - limit)
