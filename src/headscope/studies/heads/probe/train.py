"""Training of all parsers at once on gold heads: a batch is made once, for all of them and all seeds."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from headscope.encoding.parsed_sentences import UNKNOWN
from headscope.errors import HeadscopeError
from headscope.ranges import Range
from headscope.studies.heads.probe.observer import Padded, Treebank, padded
from headscope.studies.heads.probe.word_vectors import Lexicon

Done = Callable[[int], None]
# Where passes are not named: more of them changed no score by more than its interval (EWT, 2,500 and 12,500 sentences).
SEEN, LEAST_PASSES, MOST_PASSES = 15_000, 3, 10


@dataclass(frozen=True, kw_only=True)
class ParserRecipe:
    """Settings of a parser's training.

    * `epochs`: Largest number of passes over the training sentences; 0: 3 to 10, fewer over more sentences.
    * `batch`: Sentences of a step.
    * `learning_rate`: Learning rate of parsers that see words at the start; it falls to 0.
    * `attention_rate`: Learning rate of parsers that see attention only at the start; it falls to 0.
    * `held_out`: Share of the training sentences that each seed leaves out for early stopping.
    * `patience`: Stop after this number of epochs without a smaller held-out loss.

    Learning rates are those of Adam, and fall by a half cosine.

    Raises `HeadscopeError` for a value outside of its range.
    """

    epochs: Annotated[int, Range(0, 1000)] = 0
    batch: Annotated[int, Range(1, 1024)] = 32
    learning_rate: Annotated[float, Range(0, 10)] = 0.003
    attention_rate: Annotated[float, Range(0, 10)] = 0.15
    held_out: Annotated[float, Range(0, 1)] = 0.1
    patience: Annotated[int, Range(1, 1000)] = 2

    def __post_init__(self) -> None:
        for rate in (self.learning_rate, self.attention_rate):
            if not 0 < rate < 10:
                raise HeadscopeError(f"learning rate {rate} is not between 0 and 10; use 0.01")
        for name in ("batch", "patience"):
            if getattr(self, name) < 1:
                raise HeadscopeError(f"{name} {getattr(self, name)} is too small; use at least 1")
        if not 0 < self.held_out < 1:
            raise HeadscopeError(f"held-out share {self.held_out} is not between 0 and 1; use 0.1")

    def passes(self, sentences: int) -> int:
        """The most passes over this many sentences; by default so many that about `SEEN` sentences are seen."""
        return self.epochs or min(MOST_PASSES, max(LEAST_PASSES, round(SEEN / sentences)))

    def rate(self, name: str) -> float:
        """The learning rate of a kind of parser."""
        return self.learning_rate if "words" in name else self.attention_rate


@dataclass
class Fitted:
    """The parsers of one kind, with a row of each parameter for each seed.

    * `parser`: in training; `best`: each seed's of the epoch with the smallest held-out loss.
    * `losses`: held out, of each epoch and seed, in nats a word.
    """

    parser: nn.Module
    best: nn.Module
    optimizer: torch.optim.Optimizer
    schedule: torch.optim.lr_scheduler.LRScheduler
    losses: list[Float[np.ndarray, " seed"]] = field(default_factory=list)

    def step(self, losses: Float[Tensor, " seed"]) -> None:
        """Change the parsers: the loss of a seed depends on its own rows alone."""
        self.optimizer.zero_grad()
        losses.sum().backward()
        self.optimizer.step()
        self.schedule.step()

    def end_epoch(self, losses: Float[np.ndarray, " seed"]) -> None:
        """Keep the parsers of the seeds whose loss is the smallest so far.

        Raises `HeadscopeError` if a loss is no finite number.
        """
        self.losses.append(losses)
        if not np.isfinite(losses).all():
            raise HeadscopeError(
                f"the loss is {losses.max()} in epoch {len(self.losses)}; use a smaller --learning-rate"
            )
        better = np.flatnonzero(losses == np.min(self.losses, axis=0))
        for kept, now in zip(self.best.parameters(), self.parser.parameters(), strict=True):
            kept.data[better] = now.data[better]

    def waits(self, patience: int) -> bool:
        """Whether the loss of a seed fell in one of the last epochs, this many."""
        latest = np.argmin(self.losses, axis=0).max() if self.losses else 0
        return len(self.losses) - latest <= patience


def fit(
    kinds: Mapping[str, type[nn.Module]], treebank: Treebank, lexicon: Lexicon, recipe: ParserRecipe,
    seeds: Sequence[int], device: torch.device, done: Done = lambda sentences: None,
) -> dict[str, Fitted]:  # fmt: skip
    """Train the parsers of all kinds and seeds on the same batches.

    A seed decides on its first weights and on the sentences that it holds out; the first one decides on the order. A
    kind stops where the held-out loss of none of its seeds has fallen for `recipe.patience` epochs.

    `done` receives the number of sentences of each step, and at the end of those that were not needed.

    Raises `HeadscopeError` if there are too few sentences, or the loss is no finite number.
    """
    random, table = np.random.default_rng(seeds[0]), lexicon.table.to(device)
    held_out = hold_out(len(treebank), recipe.held_out, seeds)
    training, chosen_on = np.flatnonzero(~held_out.all(0)), np.flatnonzero(held_out.any(0))
    epochs = recipe.passes(len(treebank))
    steps = epochs * len(treebank.groups(recipe.batch, training))
    fitted = {
        name: _start(kind, (treebank.features, table.shape[1]), seeds, recipe.rate(name), steps, device)
        for name, kind in kinds.items()
    }
    for epoch in range(epochs):
        if not (going := [kind for kind in fitted.values() if kind.waits(recipe.patience)]):
            done((epochs - epoch) * len(training))
            break
        parts = treebank.groups(recipe.batch, random.permutation(training))
        random.shuffle(parts)
        for part in parts:
            batch, mask = padded(treebank, lexicon, part, device), torch.from_numpy(~held_out[:, part]).to(device)
            for kind in going:
                kind.step(loss(kind.parser, batch, table, mask))
            done(len(part))
        parts = treebank.groups(recipe.batch, chosen_on)
        for kind, losses in zip(going, evaluated(going, treebank, lexicon, parts, held_out, device), strict=True):
            kind.end_epoch(losses)
    return fitted


def hold_out(sentences: int, share: float, seeds: Sequence[int]) -> Bool[np.ndarray, "seed sentence"]:
    """Mask of the sentences that each seed holds out.

    Raises `HeadscopeError` if there are too few.
    """
    apart = round(sentences * share)
    if not 0 < apart < sentences:
        raise HeadscopeError(f"{sentences} training sentences are too few to hold some out; name a larger treebank")
    orders = [np.random.default_rng(seed).permutation(sentences) for seed in seeds]
    return np.stack([np.isin(np.arange(sentences), order[:apart]) for order in orders])


def _start(
    kind: type[nn.Module], sizes: tuple[int, int], seeds: Sequence[int], rate: float, steps: int, device: torch.device
) -> Fitted:
    """Untrained parsers; the first weights of a seed do not depend on the other seeds."""
    parser = kind(*sizes, len(seeds))
    with torch.random.fork_rng():
        for row, seed in enumerate(seeds):
            torch.manual_seed(seed)
            for parameter, single in zip(parser.parameters(), kind(*sizes, 1).parameters(), strict=True):
                parameter.data[row] = single.data[0]
    parser.to(device)
    optimizer = torch.optim.Adam(parser.parameters(), lr=rate)
    return Fitted(parser, deepcopy(parser), optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps))


def scored(parser: nn.Module, batch: Padded, table: Tensor) -> Float[Tensor, "seed sentence word candidate"]:
    """The scores of a batch; minus infinity where there is no candidate."""
    return parser(batch.attention, table[batch.rows], batch.lengths).masked_fill(~batch.candidates, -torch.inf)


def loss(
    parser: nn.Module, batch: Padded, table: Tensor, among: Bool[Tensor, "seed sentence"]
) -> Float[Tensor, " seed"]:
    """-log p of the syntactic head, summed over the words of some sentences of a batch (as in the released code)."""
    scores = scored(parser, batch, table)
    heads = torch.where(among[..., None], batch.heads, UNKNOWN)  # [seed, sentence, word]
    # [seed and word of the batch, candidate] and [seed and word of the batch]
    nats = cross_entropy(scores.flatten(0, 2), heads.flatten(), ignore_index=UNKNOWN, reduction="none")
    return nats.unflatten(0, heads.shape).sum((1, 2))


def evaluated(
    fitted: Sequence[Fitted], treebank: Treebank, lexicon: Lexicon, parts: list[list[int]],
    among: Bool[np.ndarray, "seed sentence"], device: torch.device,
) -> Float[np.ndarray, "kind seed"]:  # fmt: skip
    """The mean loss of the words of the sentences that each seed holds out, in nats."""
    total, words, table = np.zeros((len(fitted), len(among))), np.zeros(len(among)), lexicon.table.to(device)
    with torch.inference_mode():
        for part in parts:
            batch, mask = padded(treebank, lexicon, part, device), torch.from_numpy(among[:, part]).to(device)
            total += np.stack([loss(kind.parser, batch, table, mask).double().cpu().numpy() for kind in fitted])
            words += (mask[..., None] & (batch.heads != UNKNOWN)).sum((1, 2)).cpu().numpy()
    return total / np.maximum(1, words)
