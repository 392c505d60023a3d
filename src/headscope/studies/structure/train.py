"""Training of both probes in all spaces at once, each with a learning rate and an end of its own.

The states of a batch are read once for all probes; those of all spaces are one batched matrix product.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.errors import HeadscopeError
from headscope.studies.structure.batches import StateBatch, groups, padded
from headscope.studies.structure.probes import depth_loss, distance_loss, project
from headscope.studies.structure.treebank_states import TreebankStates

KINDS = ("distance", "depth")
# As in the released code: maps start within this; an epoch without a smaller held-out loss divides the learning rate
# by ten and starts Adam anew, and the fifth in a row is the last.
WITHIN, SLOWER, LEAST_GAIN, PATIENCE = 0.05, 0.1, 1e-4, 5
Maps = Float[Tensor, "space width rank"]


@dataclass(frozen=True, kw_only=True)
class ProbeRecipe:
    """Settings of a training.

    * `ranks`: of the maps; of several, each space takes that of the smallest held-out loss.
    * `learning_rate`: of Adam; `batch`: sentences of a step; `epochs`: most passes over the sentences.
    * `held_out`: share of the training sentences that decide when to stop, and the rank.
    """

    ranks: tuple[int, ...]
    learning_rate: float
    batch: int
    epochs: int
    held_out: float

    def as_settings(self) -> dict[str, object]:
        """The recipe as it is stored with a result."""
        return asdict(self)


@dataclass(frozen=True)
class FittedProbes:
    """Trained probes of all spaces.

    * `maps`: by kind of probe; those of smaller rank end with zeros.
    * `ranks`, `losses`, `epochs`: of each space, by kind; losses are those of the held-out sentences.
    * `held_out`: numbers of the held-out sentences.
    """

    maps: dict[str, Maps]
    ranks: dict[str, list[int]]
    losses: dict[str, list[float]]
    epochs: dict[str, list[int]]
    held_out: list[int]


class SpaceMaps:
    """The maps of one kind of probe while they are trained."""

    def __init__(self, kind: str, spaces: int, width: int, rank: int, recipe: ProbeRecipe, device: torch.device):
        self.kind, self.rank = kind, rank
        first = torch.empty(spaces, width, rank).uniform_(-WITHIN, WITHIN).to(device)
        self.maps, self.best = [nn.Parameter(each.clone()) for each in first], first
        self.rates = [recipe.learning_rate] * spaces
        self.optimizers = [torch.optim.Adam([each], lr=recipe.learning_rate, fused=True) for each in self.maps]
        self.losses: list[list[float]] = [[] for _ in range(spaces)]
        self.active = list(range(spaces))

    def loss(self, batch: StateBatch, spaces: Sequence[int]) -> Float[Tensor, "space sentence"]:
        """The losses of the active spaces; `spaces` are those of the batch."""
        places = [spaces.index(each) for each in self.active]
        states = batch.states if len(places) == len(spaces) else batch.states[places]
        projected = project(states, torch.stack([self.maps[each] for each in self.active]))
        if self.kind == "distance":
            return distance_loss(projected, batch.distances, batch.real)
        return depth_loss(projected, batch.depths, batch.real)

    def step(self, batch: StateBatch, spaces: Sequence[int]) -> None:
        """One step of each active space on the mean loss of its sentences."""
        if not self.active:
            return
        self.loss(batch, spaces).mean(1).sum().backward()
        for each in self.active:
            self.optimizers[each].step()
            self.optimizers[each].zero_grad()

    def end_epoch(self, losses: Sequence[float]) -> None:
        """Keep maps that are better than before, slow others down, and end those that no longer improve."""
        for each, loss in zip(tuple(self.active), losses, strict=True):
            before = min(self.losses[each], default=np.inf)
            self.losses[each].append(loss)
            if not np.isfinite(loss):
                raise HeadscopeError(f"the loss of a probe is {loss}; use a smaller --learning-rate")
            if loss < before - LEAST_GAIN:
                self.best[each] = self.maps[each].detach()
            else:
                self.rates[each] *= SLOWER
                self.optimizers[each] = torch.optim.Adam([self.maps[each]], lr=self.rates[each], fused=True)
            if len(self.losses[each]) - 1 - int(np.argmin(self.losses[each])) >= PATIENCE:
                self.active.remove(each)


def fit(
    treebank: TreebankStates,
    recipe: ProbeRecipe,
    seed: int,
    device: torch.device,
    done: Callable[[int], None] = lambda sentences: None,
) -> FittedProbes:
    """Train both probes in all spaces, with each rank; the seed decides maps, order and what is held out.

    `done` receives the number of sentences of each step, and of those that early stopping spared.

    Raises `HeadscopeError` if there are too few sentences, or a loss is no finite number.
    """
    order = np.random.default_rng(seed).permutation(len(treebank))
    apart = round(len(order) * recipe.held_out)
    if not 0 < apart < len(order):
        raise HeadscopeError(f"{len(order)} training sentences are too few to hold some out; name a larger treebank")
    held_out, training = order[:apart], order[apart:]
    trained = [
        maps for rank in recipe.ranks for maps in _train(treebank, held_out, training, recipe, rank, seed, device, done)
    ]
    return _best(trained, max(recipe.ranks), held_out.tolist())


def _train(
    treebank: TreebankStates, held_out: np.ndarray, training: np.ndarray, recipe: ProbeRecipe,
    rank: int, seed: int, device: torch.device, done: Callable[[int], None],
) -> list[SpaceMaps]:  # fmt: skip
    """The maps of both kinds of probe, of one rank."""
    spaces, _, width = treebank.states[0].shape
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        kinds = [SpaceMaps(kind, spaces, width, rank, recipe, device) for kind in KINDS]
    random, parts = np.random.default_rng(seed + 1), groups(treebank, recipe.batch, held_out)
    for epoch in range(recipe.epochs):
        steps = groups(treebank, recipe.batch, random.permutation(training))
        random.shuffle(steps)
        active = sorted({space for kind in kinds for space in kind.active})
        for numbers in steps:
            batch = padded(treebank, numbers, active, device)
            for kind in kinds:
                kind.step(batch, active)
            done(len(numbers))
        _evaluate(kinds, [padded(treebank, numbers, active, device) for numbers in parts], active)
        if not any(kind.active for kind in kinds):
            done((recipe.epochs - epoch - 1) * len(training))
            break
    return kinds


def _evaluate(kinds: Sequence[SpaceMaps], batches: Sequence[StateBatch], spaces: Sequence[int]) -> None:
    """End an epoch with the mean losses of the held-out sentences."""
    with torch.inference_mode():
        for kind in kinds:
            if kind.active:
                kind.end_epoch(torch.cat([kind.loss(batch, spaces) for batch in batches], dim=1).mean(1).tolist())


def _best(trained: Sequence[SpaceMaps], widest: int, held_out: list[int]) -> FittedProbes:
    """Of several ranks, for each kind and space that of the smallest held-out loss."""
    fitted = FittedProbes({}, {}, {}, {}, held_out)
    for kind in KINDS:
        every = [each for each in trained if each.kind == kind]
        losses = np.array([[min(of_space) for of_space in each.losses] for each in every])  # [rank, space]
        best = [every[rank] for rank in losses.argmin(0)]
        whole = [nn.functional.pad(each.best[space], (0, widest - each.rank)) for space, each in enumerate(best)]
        fitted.maps[kind] = torch.stack(whole)
        fitted.ranks[kind] = [each.rank for each in best]
        fitted.losses[kind] = losses.min(0).tolist()
        fitted.epochs[kind] = [len(each.losses[space]) for space, each in enumerate(best)]
    return fitted
