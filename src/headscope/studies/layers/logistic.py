"""Multinomial logistic regression of many tasks in many spaces at once, on the same vectors."""

from collections.abc import Mapping, Sequence

from jaxtyping import Int
from torch import Tensor

from headscope.studies.layers.features import ClassifiedCases, Vectors, Weights
from headscope.studies.layers.logistic_search import LogisticSearch
from headscope.studies.layers.principal_axes import PrincipalAxes, principal_axes


def fit_logistic(
    vectors: Vectors,
    answers: Int[Tensor, "task case"],
    classes: Sequence[int],
    penalties: Sequence[float],
    starts: Mapping[float, Weights] | None = None,
    *,
    axes: PrincipalAxes | None = None,
    tolerance: float = 2e-4,
    most_steps: int = 100,
) -> dict[float, Weights]:
    """Fit all tasks with each penalty; return weights by penalty: a column for each class, the intercept last.

    * `vectors`: standardised; `answers`: the class of each case for each task, `ABSENT` where it has none.
    * `classes`: the number of classes of each task.
    * `penalties`: the sum of squares of weights costs half of one, as 1 / C of scikit-learn.
    * `starts`: weights to start from; by default those of the next larger penalty, and of the largest penalty
      intercepts that give each class its share.
    * `axes`: principal axes of the vectors, or of others like them; by default they are searched.
    * `tolerance`: a task ends when no class has larger derivatives of the mean loss (root mean square); all end
      after `most_steps`.
    """
    cases = ClassifiedCases(vectors, answers, classes)
    axes = axes or principal_axes(vectors)
    weights, every = cases.shares(), {}
    for penalty in sorted(penalties, reverse=True):
        search = LogisticSearch(cases, axes, penalty, starts[penalty] if starts else weights, tolerance)
        for _ in range(most_steps):
            if not search.step():
                break
        weights = every[penalty] = search.finish()
    return {penalty: every[penalty] for penalty in penalties}
