"""The search for the weights of many logistic regressions at once: limited-memory BFGS with one step for each.

Limited-memory BFGS (Nocedal and Wright 2006, chapter 7) in which each problem (a task in one space) has a step and a
history of its own, but all are evaluated by the same matrix products. The first guess of the inverse Hessian is its
diagonal on the longest principal axes of the vectors, which all problems of a space share.
"""

from collections import Counter

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.studies.layers.layers.features import ClassifiedCases, PrincipalAxes, Weights

HISTORY, ARMIJO, HALVINGS = 5, 1e-4, 20
# Predictions of a class spread at least by this share of what its frequency gives, where the Hessian is guessed.
LEAST_SPREAD = 0.1
Scores = Float[Tensor, "space column case"]
OfProblem = Float[Tensor, "space task"]


class LogisticSearch:
    """The search for the minimum of the tasks that have not ended, in the order of their numbers of classes."""

    def __init__(self, cases: ClassifiedCases, axes: PrincipalAxes, penalty: float, weights: Weights, tolerance: float):
        self.vectors, self.axes, self.tolerance = cases.vectors, axes, tolerance
        self.classes, self.columns, self.present, self.sums = cases.classes, cases.columns, cases.present, cases.sums
        self.ended, self.weights = weights.clone(), weights[:, self.columns]
        self.number = self.present.sum(1).clamp_min(1)  # [task]
        # Two classes have one weight vector and its negative, with half of the penalty each: doubled, as scikit-learn.
        penalties = [penalty * (2 if number == 2 else 1) for number in self.classes for _ in range(number)]
        self.penalty = weights.new_tensor(penalties)[:, None]
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
        scores, shares, loss = self.scores, self.shares, self.loss
        for tries in range(HALVINGS + 1):
            scores = torch.addcmul(self.scores, self._spread(size), along)
            loss, shares = self._evaluate(self.weights + ahead * self._spread(size), scores)
            good = loss <= self.loss + ARMIJO * size * descent + 1e-6 * self.loss.abs()
            if good.all():
                break
            self.stuck |= ~good & (tries == HALVINGS - 1)
            size = torch.where(good, size, torch.where(self.stuck, 0.0, 0.5 * size))
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
        by_task = torch.zeros_like(self.loss).scatter_reduce(1, self.owner.expand_as(largest), largest, "amax")
        return (by_task <= self.tolerance) | self.stuck

    def _select(self, keep: Int[Tensor, " task"]) -> None:
        """Go on with some of the tasks."""
        columns = torch.isin(self.owner, keep).nonzero()[:, 0]
        self.classes = [self.classes[index] for index in keep.tolist()]
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

    def _dot(self, first: Weights, second: Weights) -> OfProblem:
        return self._sum(torch.linalg.vecdot(first, second))

    def _sum(self, columns: Float[Tensor, "space column"]) -> OfProblem:
        return columns.new_zeros(len(columns), len(self.classes)).index_add_(1, self.owner, columns)

    def _spread(self, values: OfProblem) -> Float[Tensor, "space column 1"]:
        return values[:, self.owner, None]
