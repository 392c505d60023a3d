"""A finding on what training changed: the topic says no more than the numbers of trained and random weights."""

from collections.abc import Iterable

from headscope.report.claims import LEAST_SEEDS, above_random_weights
from headscope.report.parts import Finding
from headscope.report.wording import Estimate


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
