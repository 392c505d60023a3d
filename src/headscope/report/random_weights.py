"""A finding on what training changed: the topic says no more than the numbers of trained and random weights."""

from collections.abc import Iterable

from headscope.report.claims import LEAST_SEEDS, above_random_weights
from headscope.report.parts import Finding
from headscope.report.wording import Estimate

TOPICS = {
    1: "Training made the difference",
    0: "Random weights may do as well",
    -1: "Random weights do better",
}


def beside_random_weights(trained: Estimate, random: Estimate, text: str, gain: Estimate | None = None) -> Finding:
    """A finding whose topic says which weights score higher, if that is sure.

    * `gain`: the paired difference of both, if there is one. Else intervals may not overlap; without intervals whole
      per cents differ.

    >>> beside_random_weights(Estimate(0.07), Estimate(0.08), "7% and 8%").topic
    'Random weights do better'
    """
    return Finding(TOPICS[higher(trained, random, gain)], text)


def higher(one: Estimate, other: Estimate, gain: Estimate | None = None) -> int:
    """1 if one estimate is higher than the other, -1 if it is lower, 0 if that is not sure.

    >>> higher(Estimate(0.5, 0.4, 0.6), Estimate(0.3, 0.2, 0.45)), higher(Estimate(0.5), Estimate(0.498))
    (0, 0)
    >>> higher(Estimate(0.5, 0.4, 0.6), Estimate(0.3, 0.2, 0.45), Estimate(0.2, 0.1, 0.3))
    1
    """
    if gain is not None and gain.tested:
        return int(gain.lower > 0) - int(gain.upper < 0)
    if one.tested and other.tested:
        return int(one.lower > other.upper) - int(one.upper < other.lower)
    first, second = (round(100 * each.value) if each.value == each.value else 0 for each in (one, other))
    return int(first > second) - int(first < second)


def beside_random_seeds(trained: Estimate, random: Iterable[float], n: int, text: str) -> Finding:
    """A finding whose topic says whether the model scores higher than random weights do, if that is sure.

    * `random`: one score for each seed of random weights; fewer than three are compared with nothing.
    * `n`: how many cases the score of the model rests on.

    >>> beside_random_seeds(Estimate(0.07, 0.06, 0.08), [0.3, 0.31, 0.32], 800, "7% and 31%.").topic
    'Training is not seen: random weights do as well'
    """
    scores = list(random)
    few = f" Random weights of {LEAST_SEEDS} seeds are wanted for a comparison; there are {len(scores)}."
    return Finding.judged(
        above_random_weights(trained, scores, n),
        text + (few if len(scores) < LEAST_SEEDS else ""),
        holds="Training made the difference",
        fails="Training is not seen: random weights do as well",
        undecided="Trained and random weights could not be told apart",
    )
