"""Scalar mix of spaces, and the gain of each further layer (Tenney et al. 2019, section 3).

For each layer n, one classifier reads the sum of the spaces 0 to n with weights that are trained with it; all of these
and all tasks of a group train together. The last, of all spaces, gives the centre of gravity.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.special import rel_entr
from torch import Tensor, nn

from headscope.studies.layers.layers.features import Vectors, standard, vectors
from headscope.studies.layers.layers.groups import ABSENT, Answers, CaseGroup
from headscope.studies.layers.layers.train import GPU_MEMORY

EPOCHS, LEAST_STEPS, BATCH, RATE, MOST_CASES = 20, 200, 256, 0.03, 5000
DAMPING = 1e-3
CaseVectors = Float[Tensor, "case space dim"]


@dataclass(frozen=True)
class MixedTask:
    """The outcome of the mixes of one task.

    * `weights`: of each space in the mix of all.
    * `loss`: of each case of the report, 1 where the class is wrong, for the mixes up to each space.
    * `guesses`: the class that each of these mixes says.
    """

    weights: Float[np.ndarray, " space"]
    loss: Float[np.ndarray, "case space"]
    guesses: Int[np.ndarray, "space case"]


def centre_of_gravity(weights: Float[np.ndarray, "*task space"]) -> Float[np.ndarray, "*task"]:
    """The mean number of the space by the weights of a mix (equation 2); 0 are the embeddings.

    >>> centre_of_gravity(np.array([0.25, 0.25, 0.5])).item()
    1.25
    """
    return weights @ np.arange(weights.shape[-1])


def concentration(weights: Float[np.ndarray, "*task space"]) -> Float[np.ndarray, "*task"]:
    """The divergence of the weights of a mix from equal ones, in nats: 0 if they are equal, log(n) for one space alone.

    That is K(s) of Tenney et al. 2019 (section 3).

    >>> concentration(np.array([[0.5, 0.5], [1.0, 0.0]])).round(3).tolist()
    [0.0, 0.693]
    """
    return rel_entr(weights, 1 / weights.shape[-1]).sum(-1)


def expected_layer(scores: Float[np.ndarray, "*task space"]) -> Float[np.ndarray, "*task"]:
    """The mean number of the layer that adds to the score of a mix, by what it adds (equation 4).

    Losses count as they are: where scores fall it may lie outside of the layers, and where all layers together add
    nothing there is none.

    >>> expected_layer(np.array([0.5, 0.6, 0.9])).round(2).item()
    1.75
    """
    gains = np.diff(scores, axis=-1)
    total = gains.sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total != 0, gains @ np.arange(1, scores.shape[-1]) / total, np.nan)


def gain_concentration(scores: Float[np.ndarray, "*task space"]) -> Float[np.ndarray, "*task"]:
    """The divergence of the layers' shares of all gains from equal ones, in nats; NaN where no layer gains.

    That is K of the gains (Tenney et al. 2019, section 3); a loss is no gain, and counts as 0.

    >>> gain_concentration(np.array([[0.5, 0.6, 0.7], [0.5, 0.5, 0.9], [0.5, 0.5, 0.4]])).round(3).tolist()
    [0.0, 0.693, nan]
    """
    gains = np.diff(scores, axis=-1).clip(0)
    with np.errstate(invalid="ignore"):
        return concentration(gains / gains.sum(-1, keepdims=True))


class _MixedScores(torch.autograd.Function):
    """The sum over spaces of vectors times weights times the share of the space, for the mixes up to each space.

    A product of matrices has the columns of all mixes that read a space, and its backward pass all of their gradients.
    """

    @staticmethod
    def forward(  # pyright: ignore[reportIncompatibleMethodOverride] (torch's has any arguments)
        ctx: Any,
        vectors: CaseVectors,
        weights: Float[Tensor, "dim last column"],
        share: Float[Tensor, "last space column"],
    ) -> Float[Tensor, "case last column"]:
        """The scores; spaces after the last one of a mix have no share."""
        products = [
            (vectors[:, space] @ weights[:, space:].flatten(1)).unflatten(1, (-1, weights.shape[-1]))
            for space in range(len(share))
        ]  # of each space, [case, last, column]
        scores = products[0] * share[:, 0]
        for space, product in enumerate(products[1:], 1):
            scores[:, space:].addcmul_(product, share[space:, space])
        ctx.save_for_backward(vectors, weights, share, *products)
        return scores

    @staticmethod
    def backward(ctx: Any, gradient: Float[Tensor, "case last column"]) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride] (torch's has any arguments)
        """The gradients of the weights and the shares."""
        vectors, weights, share, *products = ctx.saved_tensors
        at_weights, at_share = torch.zeros_like(weights), torch.zeros_like(share)
        for space, product in enumerate(products):
            at_product = (gradient[:, space:] * share[space:, space]).flatten(1)
            at_weights[:, space:] += (vectors[:, space].T @ at_product).unflatten(1, product.shape[1:])
            at_share[space:, space] = torch.linalg.vecdot(gradient[:, space:], product, dim=0)
        return None, at_weights, at_share


class _Mixes(nn.Module):
    """Classifiers up to each space, with the weights of the spaces for each task; labels of one task share them."""

    def __init__(self, spaces: int, dims: int, classes: Sequence[int], tasks: Sequence[int]):
        super().__init__()
        self.classes = list(classes)
        owner = torch.repeat_interleave(torch.arange(len(classes)), torch.tensor(classes))
        self.owner: Tensor
        self.register_buffer("owner", owner)
        self.task: Tensor
        self.register_buffer("task", torch.tensor(tasks))
        self.weights = nn.Parameter(torch.zeros(dims, spaces, len(owner)))
        self.intercepts = nn.Parameter(torch.zeros(spaces, len(owner)))
        self.mix = nn.Parameter(torch.zeros(spaces, max(tasks) + 1, spaces))
        self.hidden: Tensor  # spaces after the last one of each mix
        self.register_buffer("hidden", torch.ones(spaces, spaces, dtype=torch.bool).triu(1)[:, None])

    def shares(self) -> Float[Tensor, "last task space"]:
        """The weights of the spaces, 0 after the last of each mix."""
        return self.mix.masked_fill(self.hidden, -torch.inf).softmax(-1)

    def forward(self, vectors: CaseVectors) -> Float[Tensor, "case last column"]:
        """The scores of the classes of all tasks by the mix up to each space."""
        share = self.shares()[:, self.task[self.owner]].mT  # [last, space, column]
        return _MixedScores.apply(vectors, self.weights, share) + self.intercepts


def mixes(
    group: CaseGroup, tables: Sequence[np.ndarray], penalties: Sequence[float], seed: int, device: torch.device
) -> list[MixedTask | None]:
    """Train the mixes of the answers of a group that have classes; those of control tasks have none.

    * `penalties`: of all answers, as of their classifiers.
    """
    mixed = [index for index, answers in enumerate(group.answers) if answers.classes and not answers.control]
    answers, penalties = [group.answers[index] for index in mixed], [penalties[index] for index in mixed]
    names = list(dict.fromkeys(task.name for task in answers))
    rows = group.units["train"]
    dims = tables[0].shape[1] * (3 if rows.shape[1] == 2 else 1)
    number = min(len(rows), MOST_CASES, max(1, GPU_MEMORY // (4 * dims * len(tables))))
    layers = range(len(tables))
    cases = vectors(tables, rows[:number], layers).to(device)
    scale = standard(cases)
    cases = scale(cases)
    axes, spread = _whitening(cases)
    train = (cases @ axes).mul_(spread).transpose(0, 1).contiguous()  # [case, space, axis]
    del cases
    right = torch.from_numpy(np.stack([task.numbers["train"][:number] for task in answers])).to(device)
    model = _Mixes(
        len(tables), dims, [task.classes for task in answers], [names.index(task.name) for task in answers]
    ).to(device)
    _fit(model, train, right, (torch.tensor(penalties, device=device), spread), seed)
    with torch.inference_mode():
        # To turn the weights back takes less than to turn all cases.
        model.weights.data = (axes @ (spread[:, None] * model.weights.flatten(1))).unflatten(1, model.weights.shape[1:])
        predicted = []
        for first in range(0, len(group.units["report"]), 2048):
            some = vectors(tables, group.units["report"][first : first + 2048], layers).to(device)
            predicted.append(model(scale(some).transpose(0, 1)))
        scores = torch.cat(predicted).transpose(0, 1)  # [last, case, column]
        tasks: list[MixedTask | None] = [None] * len(group.answers)
        for number, (index, of_task) in enumerate(zip(mixed, answers, strict=True)):
            tasks[index] = _mixed(model, scores, number, of_task)
        return tasks


def _mixed(model: _Mixes, scores: Float[Tensor, "space case column"], task: int, of_task: Answers) -> MixedTask:
    guess = scores[..., model.owner == task].argmax(-1).cpu().numpy()  # [space, case]
    present = of_task.present("report")
    loss = (guess != of_task.numbers["report"]).T[present]
    weights = model.shares()[-1, model.task[task]].cpu().numpy()
    return MixedTask(weights, loss.astype(float), guess[:, present])


def _whitening(vectors: Vectors) -> tuple[Float[Tensor, "dim axis"], Float[Tensor, " axis"]]:
    """Axes shared by all spaces, and factors that give each about the variance 1."""
    joined = vectors.flatten(0, 1)
    gram = joined.T @ joined / len(joined)
    energy, axes = torch.linalg.eigh(gram)
    return axes, (energy.clamp_min(0) + DAMPING * energy.amax()).rsqrt()


def _fit(
    model: _Mixes,
    train: CaseVectors,
    right: Int[Tensor, "task case"],
    costs: tuple[Float[Tensor, " task"], Float[Tensor, " axis"]],
    seed: int,
) -> None:
    """Adam with a learning rate that falls to 0, on the mean loss of each task and the cost of its weights."""
    penalties, spread = costs
    cases = right.shape[1]
    batches = -(-cases // BATCH)
    epochs = max(EPOCHS, -(-LEAST_STEPS // batches))
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * batches)
    random = np.random.default_rng(seed)
    cost = (0.5 * spread.square()[:, None] * penalties[model.owner] / cases)[:, None]  # [axis, 1, column]
    for _ in range(epochs):
        order = torch.from_numpy(random.permutation(cases)).to(train.device)
        for rows in order.split(BATCH):
            loss = _loss(model(train[rows]), right[:, rows], model.classes) + (model.weights.square() * cost).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def _loss(
    scores: Float[Tensor, "case last column"], right: Int[Tensor, "task case"], classes: Sequence[int]
) -> Float[Tensor, ""]:
    """The mean loss of each task over its cases, summed over tasks and mixes."""
    loss = scores.new_zeros(())
    for task_scores, answers in zip(scores.split(list(classes), -1), right, strict=True):
        target = answers[:, None].expand(task_scores.shape[:2]).flatten()
        sums = nn.functional.cross_entropy(task_scores.flatten(0, 1), target, ignore_index=ABSENT, reduction="sum")
        loss = loss + sums / (answers != ABSENT).sum().clamp_min(1)
    return loss
