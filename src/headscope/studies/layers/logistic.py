"""Multinomial logistic regression of many tasks in many spaces at once, on the same vectors.

Limited-memory BFGS (Nocedal and Wright 2006, chapter 7) in which each problem (a task in one space) has a step and a
history of its own, but all are evaluated by the same matrix products. The first guess of the inverse Hessian is its
diagonal on the longest principal axes of the vectors, which all problems of a space share.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.studies.layers.features import Vectors
from headscope.studies.layers.principal_axes import PrincipalAxes, principal_axes

HISTORY, ARMIJO, HALVINGS = 5, 1e-4, 20
# Predictions of a class spread at least by this share of what its frequency gives, where the Hessian is guessed.
LEAST_SPREAD = 0.1
ABSENT = -1
Weights = Float[Tensor, "space column dim1"]
Scores = Float[Tensor, "space column case"]
OfProblem = Float[Tensor, "space task"]


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
    cases = _Cases(vectors, answers, classes)
    axes = axes or principal_axes(vectors)
    weights, every = cases.shares(), {}
    for penalty in sorted(penalties, reverse=True):
        search = _Search(cases, axes, penalty, starts[penalty] if starts else weights, tolerance)
        for _ in range(most_steps):
            if not search.step():
                break
        weights = every[penalty] = search.finish()
    return {penalty: every[penalty] for penalty in penalties}


class _Cases:
    """Vectors with a dimension of ones at the end, and answers of tasks in the order of their numbers of classes."""

    def __init__(self, vectors: Vectors, answers: Int[Tensor, "task case"], classes: Sequence[int]):
        self.vectors = torch.cat([vectors, vectors.new_ones(*vectors.shape[:2], 1)], dim=-1)
        order = sorted(range(len(classes)), key=lambda task: classes[task])
        self.classes = [classes[task] for task in order]
        of_tasks = torch.arange(sum(classes), device=answers.device).split(list(classes))
        self.columns = torch.cat([of_tasks[task] for task in order])  # of the weights of all tasks
        self.present = (answers[order] != ABSENT).to(vectors)
        of_classes = [torch.arange(number, device=answers.device)[:, None] for number in self.classes]
        right = torch.cat([each == answers[task] for each, task in zip(of_classes, order, strict=True)]).to(vectors)
        self.sums = right @ self.vectors  # [space, column, dim1]
        self.counts = right.sum(1)

    def shares(self) -> Weights:
        """Intercepts that give each class its share of the cases, one added."""
        weights = torch.zeros_like(self.sums)
        logs = [each.log() - each.log().mean() for each in (self.counts + 1).split(self.classes)]
        weights[:, self.columns, -1] = torch.cat(logs)
        return weights


class _Search:
    """The search for the minimum of the tasks that have not ended, in the order of their numbers of classes."""

    def __init__(self, cases: _Cases, axes: PrincipalAxes, penalty: float, weights: Weights, tolerance: float):
        self.vectors, self.axes, self.tolerance = cases.vectors, axes, tolerance
        self.classes, self.columns, self.present, self.sums = cases.classes, cases.columns, cases.present, cases.sums
        self.ended, self.weights = weights.clone(), weights[:, self.columns]
        self.number = self.present.sum(1).clamp_min(1)  # [task]
        # Two classes have one weight vector and its negative, with half of the penalty each: doubled, as scikit-learn.
        each = [penalty * (2 if number == 2 else 1) for number in self.classes for _ in range(number)]
        self.penalty = weights.new_tensor(each)[:, None]
        self.costs = self.penalty.repeat(1, weights.shape[-1])
        self.costs[:, -1] = 0
        self._index()
        shares = (cases.counts + 1) / self.number[self.owner]
        self.least_spread = LEAST_SPREAD * (cases.counts + 1) * (1 - shares).clamp_min(LEAST_SPREAD)
        self.scores = self.weights @ self.vectors.mT  # [space, column, case]
        self.loss, self.shares = self._evaluate(self.weights, self.scores)
        self.slope = self._slope()
        self.past: list[tuple[Tensor, Tensor, OfProblem]] = []
        self.stuck = torch.zeros_like(self.loss, dtype=torch.bool)

    def finish(self) -> Weights:
        """The weights of all tasks."""
        self.ended[:, self.columns] = self.weights
        return self.ended

    def step(self) -> bool:
        """Move all problems to their next point; return False when all have ended."""
        ended = self._ended()
        if ended.all():
            return False
        if ended.all(0).any():
            self.finish()
            self._select((~ended.all(0)).nonzero()[:, 0])
            ended = self._ended()
        ahead = self._direction()
        along = ahead @ self.vectors.mT  # [space, column, case]
        size = self._search_line(ahead, along, ended)
        move, before = ahead * self._spread(size), self.slope
        self.weights = self.weights + move
        self.slope = self._slope()
        change = self.slope - before
        curvature = self._dot(move, change)
        useful = curvature > 1e-10 * self._dot(change, change).clamp_min(1e-30)
        inverse = torch.where(useful, 1 / curvature.clamp_min(1e-30), 0.0)
        self.past = [*self.past[-HISTORY + 1 :], (move, change, inverse)]
        return True

    def _search_line(self, ahead: Weights, along: Scores, ended: Bool[Tensor, "space task"]) -> OfProblem:
        """Find the step sizes, and go there with scores, probabilities and losses: without a product of matrices.

        The first is that of Newton's method on the line.
        """
        descent = self._dot(self.slope, ahead)
        curvature = self._curvature(along) + self._dot(ahead * self.costs, ahead)
        size = torch.where(ended, 0.0, -descent / curvature.clamp_min(1e-30))
        for _ in range(HALVINGS):
            scores = torch.addcmul(self.scores, self._spread(size), along)
            loss, shares = self._evaluate(self.weights + ahead * self._spread(size), scores)
            good = loss <= self.loss + ARMIJO * size * descent + 1e-6 * self.loss.abs()
            if good.all():
                break
            size = torch.where(good, size, 0.5 * size)
        else:
            self.stuck |= ~good
        self.scores, self.shares, self.loss = scores, shares, loss
        return size

    def _evaluate(self, weights: Weights, scores: Scores) -> tuple[OfProblem, Scores]:
        """The penalised sum of losses of each problem, and the probabilities of classes: 0 without an answer."""
        losses, shares = self._dot(0.5 * weights * self.costs - self.sums, weights), torch.empty_like(scores)
        for tasks, columns in self.blocks:
            block = scores[:, columns].unflatten(1, (tasks.stop - tasks.start, -1))  # [space, task, class, case]
            chances, present = block.softmax(2), self.present[tasks, None]
            # The logarithm of the sum of exponentials, from the largest.
            logs = block.amax(2) - chances.amax(2).log()
            losses[:, tasks] += (logs * present[:, 0]).sum(-1)
            torch.mul(chances, present, out=shares[:, columns].unflatten(1, chances.shape[1:3]))
        return losses, shares

    def _curvature(self, along: Scores) -> OfProblem:
        """The second derivative of the losses along a line: the variances of the changes of scores."""
        products = self.shares * along
        curvature = self._sum(torch.linalg.vecdot(products, along))
        for tasks, columns in self.blocks:
            means = products[:, columns].unflatten(1, (tasks.stop - tasks.start, -1)).sum(2)  # [space, task, case]
            curvature[:, tasks] -= torch.linalg.vecdot(means, means)
        return curvature

    def _slope(self) -> Weights:
        return torch.baddbmm(self.weights * self.costs - self.sums, self.shares, self.vectors)

    def _direction(self) -> Weights:
        """The direction of descent by the two loops of L-BFGS, from the diagonal of the Hessian."""
        ahead, steps = -self.slope, []
        for move, change, inverse in reversed(self.past):
            step = inverse * self._dot(move, ahead)
            ahead.addcmul_(self._spread(step), change, value=-1)
            steps.append(step)
        spread = self.shares.sum(-1) - torch.linalg.vecdot(self.shares, self.shares)
        spread = spread.maximum(self.least_spread)[..., None]
        ahead = torch.cat([self.axes.divide(ahead[..., :-1], spread, self.penalty), ahead[..., -1:] / spread], dim=-1)
        for (move, change, inverse), step in zip(self.past, reversed(steps), strict=True):
            ahead.addcmul_(self._spread(step - inverse * self._dot(change, ahead)), move)
        return ahead

    def _ended(self) -> Bool[Tensor, "space task"]:
        largest = self.slope.square().mean(-1).sqrt() / self.number[self.owner]  # [space, column]
        of_task = torch.zeros_like(self.loss).scatter_reduce(1, self.owner.expand_as(largest), largest, "amax")
        return (of_task <= self.tolerance) | self.stuck

    def _select(self, keep: Int[Tensor, " task"]) -> None:
        """Go on with some of the tasks."""
        columns = torch.isin(self.owner, keep).nonzero()[:, 0]
        self.classes = [self.classes[place] for place in keep.tolist()]
        for name in ("columns", "penalty", "costs", "least_spread"):
            setattr(self, name, getattr(self, name)[columns])
        for name in ("weights", "slope", "scores", "shares", "sums"):
            setattr(self, name, getattr(self, name)[:, columns])
        self.present, self.number = self.present[keep], self.number[keep]
        self.loss, self.stuck = self.loss[:, keep], self.stuck[:, keep]
        self.past = [(move[:, columns], change[:, columns], inverse[:, keep]) for move, change, inverse in self.past]
        self._index()

    def _index(self) -> None:
        """The task of each column, and the tasks and columns of each number of classes."""
        number = torch.tensor(self.classes, device=self.weights.device)
        self.owner = torch.repeat_interleave(torch.arange(len(number), device=number.device), number)
        self.blocks, task, column = [], 0, 0
        for classes, some in Counter(self.classes).items():
            self.blocks.append((slice(task, task + some), slice(column, column + some * classes)))
            task, column = task + some, column + some * classes

    def _dot(self, one: Weights, other: Weights) -> OfProblem:
        return self._sum(torch.linalg.vecdot(one, other))

    def _sum(self, of_columns: Float[Tensor, "space column"]) -> OfProblem:
        return of_columns.new_zeros(len(of_columns), len(self.classes)).index_add_(1, self.owner, of_columns)

    def _spread(self, of_problem: OfProblem) -> Float[Tensor, "space column 1"]:
        return of_problem[:, self.owner, None]
