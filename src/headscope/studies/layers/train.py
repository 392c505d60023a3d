"""Training of the classifiers of a group of tasks, in all spaces and with all penalties at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.studies.layers.features import Vectors, outputs, rotated, standard, vectors
from headscope.studies.layers.groups import ABSENT, CaseGroup
from headscope.studies.layers.logistic import fit_logistic, problems_of
from headscope.studies.layers.ridge import ridge
from headscope.studies.layers.texts import PARTS

# Portions of the online code double from this share of the cases on (Voita and Titov 2020, section 2.2).
FIRST_SHARE = 2.0**-10
SMALLEST = 8
# Bytes of the vectors of a group that are trained on at once.
BLOCK = 1_000_000_000


@dataclass(frozen=True)
class ClassifierSettings:
    """Settings of classifiers.

    * `penalties`: half of each is the cost of a sum of squares of weights; of several, the best on cases for choices.
    * `tolerance`, `most_steps`: ends of the search for the weights, see `fit_logistic`.
    * `codes`: also measure the online code.
    """

    penalties: tuple[float, ...]
    tolerance: float = 3e-4
    most_steps: int = 100
    codes: bool = True


@dataclass(frozen=True)
class TrainedTask:
    """The outcome of one task in all spaces.

    * `loss`: of each case of the report, 1 where a class is wrong, the squared error of a value; `base` is that of
      knowing nothing: 1, or the squared distance from the mean of the training values.
    * `choice`: the score on the cases for choices; `penalty`: the chosen one.
    * `code`: length of the online code of the training answers in bits, NaN for values; `uniform`: without training.
    """

    loss: Float[np.ndarray, "case space"]
    base: Float[np.ndarray, " case"]
    choice: Float[np.ndarray, " space"]
    penalty: Float[np.ndarray, " space"]
    code: Float[np.ndarray, " space"]
    uniform: float


@dataclass(frozen=True)
class GroupVectors:
    """Standardised vectors of a group by part, in some spaces."""

    train: Vectors
    choose: Vectors
    report: Vectors


def train(
    group: CaseGroup,
    tables: Sequence[np.ndarray],
    settings: ClassifierSettings,
    device: torch.device,
    done: Callable[[int], None] = lambda spaces: None,
) -> list[TrainedTask]:
    """Train the classifiers of all tasks of a group in all spaces; `done` receives numbers of spaces."""
    rows = group.units["train"]
    dims = tables[0].shape[1] * (3 if rows.shape[1] == 2 else 1)
    most = max(1, BLOCK // max(1, 4 * dims * len(rows)))
    blocks = [range(first, min(first + most, len(tables))) for first in range(0, len(tables), most)]
    trained: list[list[TrainedTask]] = []
    for spaces in blocks:
        of_parts = {part: vectors(tables, group.units[part], spaces).to(device) for part in PARTS}
        scale = standard(of_parts["train"])
        given = GroupVectors(scale(of_parts.pop("train")), scale(of_parts["choose"]), scale(of_parts["report"]))
        is_value = group.answers[0].classes == 0
        trained.append(_values(group, given, settings) if is_value else _classes(group, given, settings))
        done(len(spaces))
    return [_joined(of_task) for of_task in zip(*trained, strict=True)]


def _joined(blocks: Sequence[TrainedTask]) -> TrainedTask:
    """One task of several blocks of spaces."""
    arrays = {
        name: np.concatenate([getattr(each, name) for each in blocks], axis=-1)
        for name in ("loss", "choice", "penalty", "code")
    }
    return TrainedTask(base=blocks[0].base, uniform=blocks[0].uniform, **arrays)


def _values(group: CaseGroup, given: GroupVectors, settings: ClassifierSettings) -> list[TrainedTask]:
    """Ridge regressions of values; a group of values has one task."""
    (answers,) = group.answers
    right = {part: torch.from_numpy(answers.numbers[part]).to(given.choose) for part in PARTS}
    centre = right["train"].mean()
    weights = ridge(rotated(given.train), right["train"] - centre, settings.penalties)  # [space, penalty, dim]
    errors = {
        part: (outputs(weights, each) + centre - right[part]).square()
        for part, each in (("choose", given.choose), ("report", given.report))
    }
    base = {part: (right[part] - centre).square() for part in PARTS}
    best = errors["choose"].mean(-1).argmin(1)  # [space]
    spaces = torch.arange(len(best), device=best.device)
    choice = 1 - errors["choose"][spaces, best].sum(-1) / base["choose"].sum()
    loss = errors["report"][spaces, best].T
    penalty = np.array(settings.penalties)[best.cpu().numpy()]
    nothing = np.full(len(best), np.nan)
    return [
        TrainedTask(
            loss.double().cpu().numpy(),
            base["report"].double().cpu().numpy(),
            choice.cpu().numpy(),
            penalty,
            nothing,
            np.nan,
        )
    ]


def _classes(group: CaseGroup, given: GroupVectors, settings: ClassifierSettings) -> list[TrainedTask]:
    """Logistic regressions of all tasks of a group; portions of the online code lead to the whole."""
    device = given.choose.device
    answers = {
        part: torch.from_numpy(np.stack([each.numbers[part] for each in group.answers])).to(device) for part in PARTS
    }
    classes = [each.classes for each in group.answers]
    problems = problems_of(classes, settings.penalties)
    cases = answers["train"].shape[1]
    ends = portions(cases) if settings.codes else [cases]
    present = answers["train"] != ABSENT
    uniform = torch.tensor(classes, device=device).log2().double()
    bits = (uniform * present[:, : ends[0]].sum(1))[:, None].repeat(1, len(given.choose))
    whole, weights, choose, best = rotated(given.train), None, [], []
    for end, following in zip(ends, [*ends[1:], cases], strict=True):
        some = whole.first(end) if end >= given.train.shape[-1] else rotated(given.train[:, :end])
        fitted = fit_logistic(
            some,
            answers["train"][:, :end],
            problems,
            weights,
            tolerance=settings.tolerance,
            most_steps=settings.most_steps,
        )
        weights = fitted
        choose = _scores(outputs(fitted, given.choose), answers["choose"], classes, len(settings.penalties))
        best = [each.loss.argmin(1) for each in choose]
        if following > end:
            part = slice(end, following)
            scores = outputs(fitted, given.train[:, part])
            coded = _scores(scores, answers["train"][:, part], classes, len(settings.penalties))
            bits += torch.stack([_at(each.loss, place) for each, place in zip(coded, best, strict=True)]) / np.log(2)
    assert weights is not None  # there is always a last portion
    report = _scores(outputs(weights, given.report), answers["report"], classes, len(settings.penalties))
    every = uniform * present.sum(1)
    return [
        TrainedTask(
            loss=(~_at(report[task].right, best[task])).T.cpu().numpy()[_present(group, task)].astype(float),
            base=np.ones(int(_present(group, task).sum())),
            choice=_at(choose[task].accuracy, best[task]).cpu().numpy(),
            penalty=np.array(settings.penalties)[best[task].cpu().numpy()],
            code=bits[task].cpu().numpy() if settings.codes else np.full(len(best[task]), np.nan),
            uniform=float(every[task]),
        )
        for task in range(len(classes))
    ]


def portions(cases: int) -> list[int]:
    """The ends of the portions of an online code; each doubles the cases before it.

    >>> portions(100)
    [12, 25, 50, 100]
    """
    ends = [round(cases * FIRST_SHARE * 2**power) for power in range(11)]
    return [end for end in ends if end >= min(SMALLEST, cases)]


def _present(group: CaseGroup, task: int) -> np.ndarray:
    return group.answers[task].present("report")


@dataclass(frozen=True)
class ClassScores:
    """The scores of a task on some cases: the sum of losses in nats, the share that is right, and which are."""

    loss: Float[Tensor, "space penalty"]
    accuracy: Float[Tensor, "space penalty"]
    right: Int[Tensor, "space penalty case"]


def _scores(
    scores: Float[Tensor, "space column case"],
    answers: Int[Tensor, "task case"],
    classes: Sequence[int],
    penalties: int,
) -> list[ClassScores]:
    """The scores of all tasks."""
    made, at = [], 0
    for task, number in enumerate(classes):
        # [space, penalty, class, case]
        block = scores[:, at : at + number * penalties].unflatten(1, (penalties, number))
        present = answers[task] != ABSENT
        index = answers[task].clamp_min(0).expand(len(block), penalties, 1, -1)
        loss = -(block - block.logsumexp(2, keepdim=True)).gather(2, index)[:, :, 0]
        right = (block.argmax(2) == answers[task]) & present
        accuracy = right.sum(-1) / present.sum().clamp_min(1)
        made.append(ClassScores((loss * present).double().sum(-1), accuracy, right))
        at += number * penalties
    return made


def _at(values: Tensor, place: Int[Tensor, " space"]) -> Tensor:
    """The values of the chosen penalty of each space."""
    return values[torch.arange(len(place), device=place.device), place]
