"""Multinomial logistic regression of many tasks, penalties and spaces at once, on the same vectors.

Limited-memory BFGS (Nocedal and Wright 2006, chapter 7) in which each problem (a task with one penalty in one space)
has a step and a history of its own, but all are evaluated by the same matrix products. Vectors are rotated to
their principal axes, where the diagonal of the Hessian is a good first guess of its inverse.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.studies.layers.features import Rotated

HISTORY, ARMIJO, CHUNK = 6, 1e-4, 2048
LEAST_STEP = 2.0**-20
# Predictions of a class spread at least by this share of what its frequency gives, where the Hessian is guessed.
LEAST_SPREAD = 0.1
ABSENT = -1
Weights = Float[Tensor, "space column axis"]
OfProblem = Float[Tensor, "space problem"]


@dataclass(frozen=True)
class Problem:
    """A task with one penalty: its columns of the weights are the classes.

    * `task`: the number of its row of answers; `penalty`: the sum of squares of weights costs half of this, as
      1 / C of scikit-learn.
    """

    task: int
    classes: int
    penalty: float


def problems_of(classes: Sequence[int], penalties: Sequence[float]) -> list[Problem]:
    """Each task with each penalty, the penalties of a task side by side."""
    return [Problem(task, number, penalty) for task, number in enumerate(classes) for penalty in penalties]


def fit_logistic(
    vectors: Rotated,
    answers: Int[Tensor, "task case"],
    problems: Sequence[Problem],
    start: Weights | None = None,
    *,
    tolerance: float = 3e-4,
    most_steps: int = 100,
) -> Weights:
    """Fit all problems; return weights for vectors that are not rotated, the last of which is the intercept.

    * `answers`: the class of each case for each task, `ABSENT` where it has none.
    * `start`: weights to start from, as they are returned; by default intercepts that give each class its share.
    * `tolerance`: a problem ends when no class has larger derivatives of the mean loss (root mean square); all end
      after `most_steps`.
    """
    weights = _shares(vectors, answers, problems) if start is None else vectors.forth(start)
    search = _Search(vectors, answers, problems, weights, tolerance)
    for _ in range(most_steps):
        if not search.step():
            break
    return vectors.back(search.finish())


def _shares(vectors: Rotated, answers: Int[Tensor, "task case"], problems: Sequence[Problem]) -> Weights:
    """Intercepts that give each class its share of the cases, one added."""
    logs = []
    for problem in problems:
        counts = _counts(answers[problem.task], problem.classes)
        logs.append(counts.log() - counts.log().mean())
    weights = vectors.values.new_zeros(len(vectors.values), sum(map(len, logs)), vectors.values.shape[-1])
    weights[..., -1] = torch.cat(logs).to(weights)
    return weights


def _counts(answers: Int[Tensor, " case"], classes: int) -> Float[Tensor, " class"]:
    """The number of cases of each class, one added."""
    return torch.bincount(answers[answers != ABSENT], minlength=classes) + 1.0


class _Search:
    """The search for the minimum of the problems that have not ended; all weights are [space, column, axis]."""

    def __init__(
        self,
        vectors: Rotated,
        answers: Int[Tensor, "task case"],
        problems: Sequence[Problem],
        weights: Weights,
        tolerance: float,
    ):
        self.vectors, self.answers, self.problems = vectors, answers, list(problems)
        self.cases, self.spaces, self.tolerance = answers.shape[1], len(weights), tolerance
        self.columns = torch.arange(weights.shape[1], device=weights.device)  # of the weights of all problems
        self.ended, self.weights = weights.clone(), weights
        self._index()
        self.loss, self.slope = self.evaluate(self.weights)
        self.past: list[tuple[Tensor, Tensor, OfProblem]] = []
        self.step_size = torch.ones_like(self.loss)
        self.direction = self._direction()

    def finish(self) -> Weights:
        """The weights of all problems."""
        self.ended[:, self.columns] = self.weights
        return self.ended

    def step(self) -> bool:
        """Evaluate all problems at their next point; return False when all have ended."""
        if not self._drop_ended():
            return False
        move = self.direction * self._spread(self.step_size)
        loss, slope = self.evaluate(self.weights + move)
        before = self.loss
        descent = self._dot(self.slope, move)
        good = loss <= self.loss + ARMIJO * descent + 1e-6 * self.loss.abs()
        taken = self._spread(good.to(move.dtype))
        move, change = move * taken, (slope - self.slope) * taken
        curvature = self._dot(move, change)
        useful = good & (curvature > 1e-10 * self._dot(change, change).clamp_min(1e-30))
        inverse = torch.where(useful, 1 / curvature.clamp_min(1e-30), 0.0)
        self.past = [*self.past[-HISTORY + 1 :], (move, change, inverse)]
        self.weights, self.slope = self.weights + move, self.slope + change
        self.loss = torch.where(good, loss, self.loss)
        fresh = self._direction()
        self.direction = torch.where(taken > 0, fresh, self.direction)
        # The minimum of the parabola through both losses and the first derivative.
        shorter = (0.5 * descent / (descent - loss + before)).nan_to_num(0.05, 0.05, 0.05).clamp(0.05, 0.5)
        self.step_size = torch.where(good, 1.0, self.step_size * shorter)
        return True

    def evaluate(self, weights: Weights) -> tuple[OfProblem, Weights]:
        """The penalised sum of losses of each problem, and its derivatives; also the spread of the predictions."""
        penalised = weights * self.penalty
        penalised[..., -1] = 0
        loss = 0.5 * self._dot(penalised, weights)
        slope, spread = penalised, weights.new_zeros(weights.shape[:2])
        for first in range(0, self.cases, CHUNK):
            rows = slice(first, min(first + CHUNK, self.cases))
            given = self.vectors.values[:, rows]
            scores = weights @ given.mT  # [space, column, case]
            loss += self._residuals(scores, self.answers[:, rows], spread)
            slope.baddbmm_(scores, given)
        self.spread = spread
        return loss, slope

    def _residuals(self, scores: Tensor, answers: Int[Tensor, "task case"], spread: Tensor) -> OfProblem:
        """Turn scores into probabilities less the answers, in place; return the losses, and add up p(1 - p)."""
        losses = scores.new_zeros(self.spaces, len(self.problems))
        for task, classes, problems, columns in self.blocks:
            # [space, problem, class, case]
            block = scores[:, columns].unflatten(1, (-1, classes))
            right = answers[task].clamp_min(0).expand(self.spaces, block.shape[1], 1, -1)
            present = (answers[task] != ABSENT).to(scores.dtype)
            shares = block.softmax(2)
            logs = shares.gather(2, right)[:, :, 0].clamp_min(torch.finfo(shares.dtype).tiny).log()
            losses[:, problems] = -(logs * present).sum(-1)
            torch.mul(shares, present, out=block)
            spread[:, columns] += (block.sum(-1) - torch.linalg.vecdot(block, block)).flatten(1, 2)
            block.scatter_add_(2, right, -present.expand(right.shape))
        return losses

    def _direction(self) -> Weights:
        """The direction of descent by the two loops of L-BFGS, from the diagonal of the Hessian."""
        diagonal = self.spread.maximum(self.least_spread)[..., None] * (self.vectors.energy / self.cases)[:, None]
        penalty = self.penalty.expand_as(diagonal).clone()
        penalty[..., -1] = 0
        diagonal = (diagonal + penalty).clamp_min(1e-6)
        ahead, steps = -self.slope, []
        for move, change, inverse in reversed(self.past):
            step = inverse * self._dot(move, ahead)
            ahead.addcmul_(self._spread(step), change, value=-1)
            steps.append(step)
        ahead /= diagonal
        for (move, change, inverse), step in zip(self.past, reversed(steps), strict=True):
            ahead.addcmul_(self._spread(step - inverse * self._dot(change, ahead)), move)
        return ahead

    def _drop_ended(self) -> bool:
        """Write the weights of problems that have ended in all spaces, and go on without them."""
        # The root mean square is that of any axes; [space, column].
        largest = (self.slope.square().sum(-1) / self.vectors.axes.shape[1]).sqrt()
        largest = largest.new_zeros(self.loss.shape).scatter_reduce(1, self.owner.expand_as(largest), largest, "amax")
        ended = (largest <= self.tolerance * self.cases) | (self.step_size < LEAST_STEP)
        self.step_size = torch.where(ended, 0.0, self.step_size)
        keep = [place for place in range(len(self.problems)) if not bool(ended[:, place].all())]
        if not keep:
            return False
        if len(keep) < len(self.problems):
            self.finish()
            self._select(torch.tensor(keep, device=self.owner.device))
        return True

    def _select(self, keep: Int[Tensor, " problem"]) -> None:
        columns = torch.isin(self.owner, keep).nonzero()[:, 0]
        self.problems = [self.problems[place] for place in keep.tolist()]
        self.columns = self.columns[columns]
        self.weights, self.slope, self.direction = (
            each[:, columns] for each in (self.weights, self.slope, self.direction)
        )
        self.spread, self.loss, self.step_size = self.spread[:, columns], self.loss[:, keep], self.step_size[:, keep]
        self.past = [(move[:, columns], change[:, columns], inverse[:, keep]) for move, change, inverse in self.past]
        self._index()

    def _index(self) -> None:
        """The problem of each column, the penalty of each column, and the columns of the problems of each task."""
        classes = torch.tensor([problem.classes for problem in self.problems], device=self.weights.device)
        self.owner = torch.repeat_interleave(torch.arange(len(classes), device=classes.device), classes)
        # Two classes have one weight vector and its negative, with half of the penalty each: doubled, as scikit-learn.
        each = [problem.penalty * (2 if problem.classes == 2 else 1) for problem in self.problems]
        self.penalty = self.weights.new_tensor(each)[self.owner][:, None]
        counts = [_counts(self.answers[problem.task], problem.classes) for problem in self.problems]
        shares = torch.cat([number / number.sum() for number in counts])
        self.least_spread = (LEAST_SPREAD * self.cases * shares * (1 - shares)).to(self.weights)
        self.blocks, place, at = [], 0, 0
        while place < len(self.problems):
            task, number = self.problems[place].task, self.problems[place].classes
            some = sum(problem.task == task for problem in self.problems)
            self.blocks.append((task, number, slice(place, place + some), slice(at, at + some * number)))
            place, at = place + some, at + some * number

    def _dot(self, one: Weights, other: Weights) -> OfProblem:
        of_columns = torch.linalg.vecdot(one, other)  # [space, column]
        return of_columns.new_zeros(self.spaces, len(self.problems)).index_add_(1, self.owner, of_columns)

    def _spread(self, of_problem: OfProblem) -> Float[Tensor, "space column 1"]:
        return of_problem[:, self.owner, None]
