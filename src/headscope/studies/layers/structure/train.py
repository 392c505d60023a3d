"""Training of both probes in all spaces and with all ranks at once: a batch is read once, one product has all maps."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headscope.errors import HeadscopeError
from headscope.ranges import Range
from headscope.studies.layers.structure.treebank_states import StateBatch, TreebankStates, padded

Projected = Float[Tensor, "space sentence word rank"]
KINDS = ("distance", "depth")
# As in the released code: maps start within this. The columns of states are scaled to one standard deviation while
# probes are trained, so that words are this far from their mean: the first maps then give distances about as long as
# those of trees, whatever the model's states are, and no column hides the others.
WITHIN, LENGTH = 0.05, 5.0
Maps = Float[Tensor, "space width rank"]


def project(states: Float[Tensor, "space sentence word width"], maps: Float[Tensor, "space width rank"]) -> Projected:
    """The vectors Bh of all words."""
    # [space, sentence and word, width] @ [space, width, rank], then [space, sentence, word, rank]
    return torch.bmm(states.flatten(1, 2), maps).unflatten(1, states.shape[1:3])


def distances(projected: Projected) -> Float[Tensor, "space sentence word other"]:
    """Squared distances |B(h_i - h_j)|^2 between the words of each sentence.

    >>> distances(torch.tensor([[[[0.0, 1.0], [2.0, 1.0]]]]))[0, 0].tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """
    norms = depths(projected)
    return (norms[..., :, None] + norms[..., None, :] - 2 * projected @ projected.mT).clamp_min(0)


def depths(projected: Projected) -> Float[Tensor, "space sentence word"]:
    """Squared norms |Bh|^2 of the words."""
    return projected.square().sum(-1)


def distance_loss(
    projected: Projected, gold: Float[Tensor, "sentence word other"], real: Bool[Tensor, "sentence word"]
) -> Float[Tensor, "space sentence"]:
    """The sum over pairs of words of |gold - predicted|, over the square of the sentence's length (equation 2)."""
    pairs = real[:, :, None] & real[:, None, :]
    return ((distances(projected) - gold).abs() * pairs).sum((-1, -2)) / real.sum(-1).square()


def depth_loss(
    projected: Projected, gold: Float[Tensor, "sentence word"], real: Bool[Tensor, "sentence word"]
) -> Float[Tensor, "space sentence"]:
    """The mean over words of |gold - predicted| (section 2.3)."""
    return ((depths(projected) - gold).abs() * real).sum(-1) / real.sum(-1)


@dataclass(frozen=True, kw_only=True)
class ProbeRecipe:
    """Settings of a training.

    * `rank`: Rank of the probes; of several ("16,64,128"), the best on held-out sentences for each layer.
    * `epochs`: Number of passes over the training sentences.
    * `batch`: Sentences of a step.
    * `learning_rate`: Learning rate of Adam at the start; it falls to 0.
    * `held_out`: Share of the training sentences that choose rank and layer.
    """

    rank: str = "64"
    epochs: Annotated[int, Range(1, 1000)] = 6
    batch: Annotated[int, Range(1, 1024)] = 20
    learning_rate: Annotated[float, Range(0, 10)] = 0.003
    held_out: Annotated[float, Range(0, 1)] = 0.1

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """The ranks of a list such as "16,64".

        Raises `HeadscopeError` for a rank that is no number from 1 to 4,096.
        """
        try:
            ranks = tuple(dict.fromkeys(int(number) for number in self.rank.split(",")))
        except ValueError:
            ranks = ()
        if not ranks or not all(0 < rank <= 4096 for rank in ranks):
            raise HeadscopeError(f"rank '{self.rank[:40]}': use a number from 1 to 4096, or several such as 16,64,128")
        return ranks

    def as_settings(self) -> dict[str, Any]:
        """The settings as stored with a result."""
        numbers = {name: value for name, value in asdict(self).items() if name != "rank"}
        return {"ranks": self.ranks} | numbers


@dataclass(frozen=True)
class FittedProbes:
    """Trained probes of all spaces.

    * `maps`: by kind of probe, those with the chosen ranks; maps of smaller rank end with zeros.
    * `ranks`: chosen for each space, by kind.
    * `by_rank`: the maps of each rank, by kind; `losses`: those of the held-out sentences.
    * `held_out`: numbers of the held-out sentences.
    """

    maps: dict[str, Maps]
    ranks: dict[str, list[int]]
    by_rank: dict[int, dict[str, Maps]]
    losses: Float[np.ndarray, "rank kind space"]
    held_out: list[int]


def fit(
    treebank: TreebankStates,
    recipe: ProbeRecipe,
    seed: int,
    device: torch.device,
    done: Callable[[int], None] = lambda sentences: None,
    spaces: int | None = None,
) -> FittedProbes:
    """Train both probes in all spaces, with each rank; the seed decides maps, order and what is held out.

    `done` receives the number of sentences of each step. The first `spaces` alone have the same probes.

    Raises `HeadscopeError` if there are too few sentences, or a loss is no finite number.
    """
    order = np.random.default_rng(seed).permutation(len(treebank))
    apart = round(len(order) * recipe.held_out)
    if not 0 < apart < len(order):
        raise HeadscopeError(f"{len(order)} training sentences are too few to hold some out; name a larger treebank")
    held_out, training = order[:apart], order[apart:]
    maps = nn.Parameter(_first_maps(treebank, recipe.ranks, seed)[:spaces].contiguous().to(device))
    scales = _scales(treebank, training)[:spaces].to(device)
    _train(maps, scales, treebank, training, recipe, seed, done)
    fitted, parts = maps.detach() * scales, treebank.groups(recipe.batch, held_out)
    with torch.inference_mode():
        batches = (padded(treebank, part, device, len(maps)) for part in parts)
        losses = torch.cat([_losses(fitted, batch, recipe.ranks) for batch in batches], -1).mean(-1)
    if not losses.isfinite().all():
        raise HeadscopeError("the loss of a probe is no finite number; use a smaller --learning-rate")
    return _chosen(fitted, recipe.ranks, losses.cpu().numpy(), held_out.tolist())


def _first_maps(treebank: TreebankStates, ranks: Sequence[int], seed: int) -> Maps:
    """Initial matrices of all ranks and kinds, side by side; each rank restarts from the same seed."""
    spaces, _, width = treebank.arrays[0].shape
    matrices = []
    with torch.random.fork_rng():
        for rank in ranks:
            torch.manual_seed(seed)
            matrices += [torch.empty(spaces, width, rank).uniform_(-WITHIN, WITHIN) for _ in KINDS]
    return torch.cat(matrices, dim=-1)


def _scales(treebank: TreebankStates, training: np.ndarray) -> Float[Tensor, "space width 1"]:
    """What the columns of states are multiplied by; one that hardly varies counts as if it did a little."""
    numbers = training.tolist()
    words = sum(len(treebank.sentences[number]) for number in numbers)
    nothing = torch.zeros((), dtype=torch.float64)
    mean = sum((treebank.arrays[number].double().sum(1) for number in numbers), nothing) / words  # [space, width]
    squares = ((treebank.arrays[number].double() - mean[:, None]).square().sum(1) for number in numbers)
    spread = sum(squares, nothing) / words
    least = 1e-3 * (spread + mean.square()).mean(1, keepdim=True).sqrt().clamp_min(1e-12)
    return (LENGTH / (spread.sqrt().maximum(least) * mean.shape[1] ** 0.5)).float()[..., None]


def _train(
    maps: nn.Parameter, scales: Tensor, treebank: TreebankStates, training: np.ndarray, recipe: ProbeRecipe, seed: int,
    done: Callable[[int], None],
) -> None:  # fmt: skip
    """Change the maps by Adam, whose learning rate falls to 0; no map depends on another one."""
    random = np.random.default_rng(seed + 1)
    optimizer = torch.optim.Adam([maps], lr=recipe.learning_rate, fused=True)
    number = -(-len(training) // recipe.batch) * recipe.epochs
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, number)
    for _ in range(recipe.epochs):
        steps = treebank.groups(recipe.batch, random.permutation(training))
        random.shuffle(steps)
        for numbers in steps:
            batch = padded(treebank, numbers, maps.device, len(maps))
            _losses(maps * scales, batch, recipe.ranks).mean(-1).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            done(len(numbers))


def _losses(maps: Tensor, batch: StateBatch, ranks: Sequence[int]) -> Float[Tensor, "rank kind space sentence"]:
    """The losses of all maps on the sentences of a batch."""
    projected = _of_ranks(project(batch.states, maps), ranks)
    losses = [
        torch.stack(
            [
                distance_loss(probes["distance"], batch.distances, batch.real),
                depth_loss(probes["depth"], batch.depths, batch.real),
            ]
        )
        for probes in projected.values()
    ]
    return torch.stack(losses)


def _of_ranks(side_by_side: Tensor, ranks: Sequence[int]) -> dict[int, dict[str, Tensor]]:
    """Split matrices that stand side by side on the last axis, by rank and kind."""
    parts = iter(side_by_side.split([rank for rank in ranks for _ in KINDS], dim=-1))
    return {rank: {kind: next(parts) for kind in KINDS} for rank in ranks}


def _chosen(maps: Tensor, ranks: Sequence[int], losses: np.ndarray, held_out: list[int]) -> FittedProbes:
    """The rank of the smallest held-out loss, for each kind and space."""
    by_rank, best = _of_ranks(maps, ranks), losses.argmin(0)  # [kind, space]
    widest, chosen = max(ranks), {}
    for kind, indices in zip(KINDS, best, strict=True):
        matrices = [by_rank[ranks[index]][kind][space] for space, index in enumerate(indices)]
        chosen[kind] = torch.stack([nn.functional.pad(matrix, (0, widest - matrix.shape[1])) for matrix in matrices])
    numbers = {kind: [ranks[index] for index in indices] for kind, indices in zip(KINDS, best, strict=True)}
    return FittedProbes(chosen, numbers, by_rank, losses, held_out)
