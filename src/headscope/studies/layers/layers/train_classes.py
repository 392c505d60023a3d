"""Logistic regressions of the tasks of a group, in all spaces and with all penalties, and their online code."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.studies.layers.layers.features import (
    ClassifiedCases,
    ClassifierSettings,
    GroupVectors,
    PrincipalAxes,
    TrainedTask,
    Vectors,
    Weights,
    outputs,
    principal_axes,
)
from headscope.studies.layers.layers.groups import ABSENT, CaseGroup
from headscope.studies.layers.layers.logistic_search import LogisticSearch
from headscope.studies.layers.layers.texts import PARTS

# Portions of the online code double from this share of the cases on (Voita and Titov 2020, section 2.2).
FIRST_SHARE = 2.0**-10
SMALLEST = 8
# Searches of fewer cases end at smaller derivatives: there a score is changed by a single case, and steps cost little.
FEW_CASES = 2000
# Cases that are fewer than this share of the dimensions are fitted within the span of their vectors.
SPAN_SHARE = 0.5


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
    weights, by_penalty = cases.shares(), {}
    for penalty in sorted(penalties, reverse=True):
        search = LogisticSearch(cases, axes, penalty, starts[penalty] if starts else weights, tolerance)
        for _ in range(most_steps):
            if not search.step():
                break
        weights = by_penalty[penalty] = search.finish()
    return {penalty: by_penalty[penalty] for penalty in penalties}


def in_span(
    fitted: Callable[..., dict[float, Weights]],
    vectors: Vectors,
    answers: Int[Tensor, "task case"],
    starts: Mapping[float, Weights] | None,
    tolerance: float,
) -> dict[float, Weights]:
    """The same weights, searched for among the sums of the vectors of few cases: the minimum is one of them.

    * `fitted`: `fit_logistic` with all that is not named here; `starts`: sums of the vectors of some of the cases.
    * `tolerance`: as of `fit_logistic`, over the dimensions of the vectors.
    """
    basis = torch.linalg.qr(vectors.mT).Q  # [space, dim, case]
    reduced = vectors @ basis
    turned = {penalty: _turned(weights, basis) for penalty, weights in starts.items()} if starts else None
    # The root mean square of derivatives is over fewer dimensions; all others are 0.
    dims = (vectors.shape[-1] + 1) / (reduced.shape[-1] + 1)
    found = fitted(reduced, answers, starts=turned, axes=principal_axes(reduced), tolerance=tolerance * dims**0.5)
    return {penalty: _turned(weights, basis.mT) for penalty, weights in found.items()}


def _turned(weights: Weights, basis: Float[Tensor, "space dim other"]) -> Weights:
    """Weights in other coordinates; intercepts stay."""
    return torch.cat([weights[..., :-1] @ basis, weights[..., -1:]], dim=-1)


def train_classes(group: CaseGroup, vectors: GroupVectors, settings: ClassifierSettings) -> list[TrainedTask]:
    """Train on the classes of all tasks of a group; portions of the online code lead to the whole."""
    device = vectors.choose.device
    answers = {
        part: torch.from_numpy(np.stack([task.numbers[part] for task in group.answers])).to(device) for part in PARTS
    }
    classes = [task.classes for task in group.answers]
    cases = answers["train"].shape[1]
    ends = portions(cases) if settings.codes else [cases]
    uniform = torch.tensor(classes, device=device).log2().double()
    present = answers["train"] != ABSENT
    bits = (uniform * present[:, : ends[0]].sum(1))[:, None].repeat(1, len(vectors.choose))
    tolerance = settings.tolerance * min(1, cases / FEW_CASES)
    fitted = partial(fit_logistic, classes=classes, penalties=settings.penalties, most_steps=settings.most_steps)
    axes, weights, chosen = principal_axes(vectors.train), None, None
    for end, following in zip(ends, [*ends[1:], cases], strict=True):
        portion, of_portion = vectors.train[:, :end], answers["train"][:, :end]
        if end <= SPAN_SHARE * portion.shape[-1]:
            weights = in_span(fitted, portion, of_portion, weights, tolerance)
        else:
            weights = fitted(portion, of_portion, starts=weights, axes=axes, tolerance=tolerance)
        chosen = _chosen(weights, vectors.choose, answers["choose"], classes)
        if following > end:
            part = slice(end, following)
            bits += _scores(chosen.weights, vectors.train[:, part], answers["train"][:, part], classes).loss / np.log(2)
    assert chosen is not None  # there is always a last portion
    report = _scores(chosen.weights, vectors.report, answers["report"], classes)
    penalty = np.array(settings.penalties)[chosen.number.cpu().numpy()]
    trained = []
    for task, of_task in enumerate(group.answers):
        some = of_task.present("report")
        trained.append(
            TrainedTask(
                loss=(~report.right[task]).T.cpu().numpy()[some].astype(float),
                base=np.ones(int(some.sum())),
                choice=chosen.accuracy[task].cpu().numpy(),
                penalty=penalty[task],
                code=bits[task].cpu().numpy() if settings.codes else np.full(len(vectors.choose), np.nan),
                uniform=float(uniform[task] * present[task].sum()),
            )
        )
    return trained


def portions(cases: int) -> list[int]:
    """The ends of the portions of an online code; each doubles the cases before it.

    >>> portions(100)
    [12, 25, 50, 100]
    """
    ends = [round(cases * FIRST_SHARE * 2**power) for power in range(11)]
    return [end for end in ends if end >= min(SMALLEST, cases)]


@dataclass(frozen=True)
class _Scores:
    """The scores of all tasks on some cases: the sum of losses in nats, and which cases are right."""

    loss: Float[Tensor, "task space"]
    right: Bool[Tensor, "task space case"]


def _scores(weights: Weights, vectors: Vectors, answers: Int[Tensor, "task case"], classes: Sequence[int]) -> _Scores:
    losses, right = [], []
    for scores, of_task in zip(outputs(weights, vectors).split(list(classes), 1), answers, strict=True):
        present = of_task != ABSENT
        index = of_task.clamp_min(0).expand(len(scores), 1, -1)
        loss = scores.logsumexp(1) - scores.gather(1, index)[:, 0]  # [space, case]
        losses.append((loss * present).double().sum(-1))
        right.append((scores.argmax(1) == of_task) & present)
    return _Scores(torch.stack(losses), torch.stack(right))


@dataclass(frozen=True)
class _Chosen:
    """The weights with the best penalty for each task and space, its number among the penalties, and its accuracy."""

    weights: Weights
    number: Int[Tensor, "task space"]
    accuracy: Float[Tensor, "task space"]


def _chosen(
    weights: Mapping[float, Weights], vectors: Vectors, answers: Int[Tensor, "task case"], classes: Sequence[int]
) -> _Chosen:
    """Choose the penalty with the lowest loss."""
    scores = [_scores(fitted_weights, vectors, answers, classes) for fitted_weights in weights.values()]
    lowest = torch.stack([score.loss for score in scores]).argmin(0)
    right = torch.stack([score.right.sum(-1) for score in scores])  # [penalty, task, space]
    accuracy = right.gather(0, lowest[None])[0] / (answers != ABSENT).sum(1).clamp_min(1)[:, None]
    by_column = lowest.T.repeat_interleave(torch.tensor(classes, device=lowest.device), dim=1)  # [space, column]
    best = torch.stack(list(weights.values()))
    return _Chosen(best.gather(0, by_column[None, ..., None].expand_as(best[:1]))[0], lowest, accuracy)
