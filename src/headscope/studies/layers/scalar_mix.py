"""Scalar mix of spaces, and the gain of each further layer (Tenney et al. 2019, section 3).

For each layer n, one classifier reads the sum of the spaces 0 to n with weights that are trained with it; all of these
and all tasks of a group train together. The last, of all spaces, gives the centre of gravity.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.special import rel_entr
from torch import Tensor, nn

from headscope.studies.layers.features import Vectors, standard, vectors
from headscope.studies.layers.groups import ABSENT, Answers, CaseGroup
from headscope.studies.layers.train import GPU_MEMORY

EPOCHS, LEAST_STEPS, BATCH, RATE, MOST_CASES = 20, 200, 256, 0.03, 5000
DAMPING = 1e-3


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


class _Mixes(nn.Module):
    """Classifiers up to each space, with the weights of the spaces for each task; labels of one task share them."""

    def __init__(self, spaces: int, dims: int, classes: Sequence[int], tasks: Sequence[int]):
        super().__init__()
        owner = torch.repeat_interleave(torch.arange(len(classes)), torch.tensor(classes))
        self.owner: Tensor
        self.register_buffer("owner", owner)
        self.task: Tensor
        self.register_buffer("task", torch.tensor(tasks))
        self.weights = nn.Parameter(torch.zeros(spaces, dims + 1, len(owner)))
        self.mix = nn.Parameter(torch.zeros(spaces, max(tasks) + 1, spaces))

    def shares(self, last: int) -> Float[Tensor, "task space"]:
        """The weights of the spaces up to the last."""
        return self.mix[last, :, : last + 1].softmax(-1)

    def forward(self, given: Vectors) -> Float[Tensor, "space case column"]:
        mixes = []
        for last in range(len(self.weights)):
            of_spaces = given[: last + 1] @ self.weights[last, :-1]  # [space, case, column]
            share = self.shares(last).T[:, self.task[self.owner]]  # [space, column]
            mixes.append((of_spaces * share[:, None]).sum(0) + self.weights[last, -1])
        return torch.stack(mixes)


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
    raw = vectors(tables, rows[:number], layers).to(device)
    scale = standard(raw)
    axes, spread = _whitening(scale(raw))
    train = scale(raw) @ axes * spread
    right = torch.from_numpy(np.stack([task.numbers["train"][:number] for task in answers])).to(device)
    model = _Mixes(
        len(tables), dims, [task.classes for task in answers], [names.index(task.name) for task in answers]
    ).to(device)
    _fit(model, train, right, (torch.tensor(penalties, device=device), spread), seed)
    with torch.inference_mode():
        predicted = []
        for first in range(0, len(group.units["report"]), 2048):
            some = vectors(tables, group.units["report"][first : first + 2048], layers).to(device)
            predicted.append(model(scale(some) @ axes * spread))
        scores = torch.cat(predicted, dim=1)  # [space, case, column]
        found: list[MixedTask | None] = [None] * len(group.answers)
        for number, (index, of_task) in enumerate(zip(mixed, answers, strict=True)):
            found[index] = _mixed(model, scores, number, of_task)
        return found


def _mixed(model: _Mixes, scores: Float[Tensor, "space case column"], task: int, of_task: Answers) -> MixedTask:
    guess = scores[..., model.owner == task].argmax(-1).cpu().numpy()  # [space, case]
    present = of_task.present("report")
    loss = (guess != of_task.numbers["report"]).T[present]
    weights = model.shares(len(scores) - 1)[model.task[task]].cpu().numpy()
    return MixedTask(weights, loss.astype(float), guess[:, present])


def _whitening(given: Vectors) -> tuple[Float[Tensor, "dim axis"], Float[Tensor, " axis"]]:
    """Axes shared by all spaces, and factors that give each about the variance 1."""
    gram = torch.stack([states.T @ states for states in given]).mean(0) / given.shape[1]
    energy, axes = torch.linalg.eigh(gram)
    return axes, (energy.clamp_min(0) + DAMPING * energy.amax()).rsqrt()


def _fit(
    model: _Mixes,
    train: Vectors,
    right: Int[Tensor, "task case"],
    costs: tuple[Float[Tensor, " task"], Float[Tensor, " axis"]],
    seed: int,
) -> None:
    """Adam with a learning rate that falls to 0, on the mean loss of each task and the cost of its weights."""
    penalties, spread = costs
    cases = right.shape[1]
    batches = -(-cases // BATCH)
    epochs = max(EPOCHS, -(-LEAST_STEPS // batches))
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * batches)
    random = np.random.default_rng(seed)
    cost = 0.5 * spread.square()[:, None] * penalties[model.owner] / cases  # [axis, column]
    for _ in range(epochs):
        order = torch.from_numpy(random.permutation(cases)).to(train.device)
        for rows in order.split(BATCH):
            scores = model(train[:, rows])
            loss = (model.weights[:, :-1].square() * cost).sum()
            for task, answers in enumerate(right[:, rows]):
                some = scores[..., model.owner == task]
                target = answers.expand(len(some), -1)
                part = nn.functional.cross_entropy(
                    some.flatten(0, 1), target.flatten(), ignore_index=ABSENT, reduction="sum"
                )
                loss = loss + part / (answers != ABSENT).sum().clamp_min(1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
