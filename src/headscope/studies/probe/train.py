"""Training of a parser on gold heads, with early stopping on held-out sentences."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from headscope.encoding.parsed_sentences import UNKNOWN
from headscope.errors import HeadscopeError
from headscope.studies.probe.batches import Padded, Treebank, padded
from headscope.studies.probe.lexicon import Lexicon

Done = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class ParserRecipe:
    """Settings of a parser's training.

    * `learning_rate`: of Adam; `batch`: most sentences of a step; `epochs`: most passes over the sentences.
    * `held_out`: share of the training sentences that decide when to stop; `patience`: after how many epochs in which
      their loss does not fall.

    Raises `HeadscopeError` for a value outside of its range.
    """

    learning_rate: float
    batch: int = 32
    epochs: int = 20
    held_out: float = 0.1
    patience: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.learning_rate < 10:
            raise HeadscopeError(f"learning rate {self.learning_rate} is not between 0 and 10; use 0.01")
        for name in ("batch", "epochs", "patience"):
            if getattr(self, name) < 1:
                raise HeadscopeError(f"{name} {getattr(self, name)} is too small; use at least 1")
        if not 0 < self.held_out < 1:
            raise HeadscopeError(f"held-out share {self.held_out} is not between 0 and 1; use 0.1")

    def as_settings(self) -> dict[str, int | float]:
        """The recipe as it is stored with a result."""
        return asdict(self)


@dataclass(frozen=True)
class Fitted:
    """A trained parser, and the held-out loss of each epoch (nats a word)."""

    parser: nn.Module
    losses: list[float]


def fit(
    kind: type[nn.Module], treebank: Treebank, lexicon: Lexicon, recipe: ParserRecipe, seed: int,
    device: torch.device, done: Done = lambda sentences: None,
) -> Fitted:  # fmt: skip
    """The parser of the epoch with the smallest held-out loss; the seed decides weights, order and what is held out.

    `done` receives the number of sentences of each step, and of those that early stopping spared.

    Raises `HeadscopeError` if there are too few sentences, or the loss is no finite number.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(treebank))
    apart = round(len(order) * recipe.held_out)
    if not 0 < apart < len(order):
        raise HeadscopeError(f"{len(order)} training sentences are too few to hold some out; name a larger treebank")
    held_out, training = treebank.groups(recipe.batch, order[:apart]), order[apart:]
    table = lexicon.table.to(device)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        parser = kind(treebank.features, table.shape[1]).to(device)
    optimizer = torch.optim.Adam(parser.parameters(), lr=recipe.learning_rate)
    losses, best = [], parser
    for epoch in range(recipe.epochs):
        parts = treebank.groups(recipe.batch, random.permutation(training))
        random.shuffle(parts)
        for part in parts:
            batch = padded(treebank, lexicon, part, device)
            optimizer.zero_grad()
            loss(parser, batch, table).backward()
            optimizer.step()
            done(len(batch.numbers))
        losses.append(evaluated(parser, treebank, lexicon, held_out, device))
        if not np.isfinite(losses[-1]):
            raise HeadscopeError(f"the loss is {losses[-1]} in epoch {epoch + 1}; use a smaller --learning-rate")
        if losses[-1] == min(losses):
            best = deepcopy(parser)
        if epoch - int(np.argmin(losses)) >= recipe.patience:
            break
    done((recipe.epochs - len(losses)) * len(training))
    return Fitted(best, losses)


def scored(parser: nn.Module, batch: Padded, table: Tensor) -> Float[Tensor, "sentence word candidate"]:
    """The scores of a batch; minus infinity where there is no candidate."""
    return parser(batch.attention, table[batch.rows], batch.lengths).masked_fill(~batch.candidates, -torch.inf)


def loss(parser: nn.Module, batch: Padded, table: Tensor) -> Float[Tensor, ""]:
    """-log p of the syntactic head, summed over the words of a batch (as in the released code), in nats."""
    scores = scored(parser, batch, table)
    # [word of the batch, candidate] and [word of the batch]
    return cross_entropy(scores.flatten(0, 1), batch.heads.flatten(), ignore_index=UNKNOWN, reduction="sum")


def evaluated(
    parser: nn.Module, treebank: Treebank, lexicon: Lexicon, parts: list[list[int]], device: torch.device
) -> float:
    """The mean loss of the words of some sentences, in nats."""
    total, words, table = 0.0, 0, lexicon.table.to(device)
    with torch.inference_mode():
        for part in parts:
            batch = padded(treebank, lexicon, part, device)
            total += float(loss(parser, batch, table))
            words += int((batch.heads != UNKNOWN).sum())
    return total / max(1, words)
