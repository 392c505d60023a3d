"""Whether a task is learned at all: of a model that always gives the same answer, no head says anything."""

from math import isnan

from headscope.report.claims import above, below
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, number


def not_learned(score: Estimate, chance: float, n: int, *, is_loss: bool = False) -> Finding | None:
    """The finding that a model scores no better than chance; None where it does, or chance is not known.

    >>> finding = not_learned(Estimate(0.51, 0.46, 0.56), 0.5, 400)
    >>> finding and finding.topic, not_learned(Estimate(0.8, 0.75, 0.85), 0.5, 400)
    ('The task is not learned, as far as these examples show', None)
    """
    if isnan(chance) or isnan(score.value):
        return None
    claim = (below if is_loss else above)(score, chance, n)
    text = f"The score is {score.text}, that of always the same answer {number(chance)}. Nothing is said of heads."
    finding = Finding.judged(
        claim,
        text,
        holds="The task is learned",
        fails="The task is not learned",
        undecided="The task is not learned, as far as these examples show",
    )
    return None if claim.verdict == "holds" else finding
