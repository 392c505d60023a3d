"""The target of an input of which some tokens are blanked: one batch of variants after another.

Passes run as little of the network as is exact. Where the target reads one token, the last layer and the head run for
this token alone. Copies have most tokens in common, so that most queries, keys and values of the first layer are made
once.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.capture.attention_switch import first_exact, first_layer_once
from headscope.capture.last_layer_rows import last_layer_at
from headscope.capture.layer_stack import Stack
from headscope.capture.projections import Projections
from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.outputs.words.few_tokens import copies_together, head_at, last_pieces
from headscope.studies.words.attributions.targets import Target, Vectors

Places = Int[Tensor, " variant"]
# A context for inputs `ids` and the positions of their predicted words; yields the positions in the network's output.
Shortcut = Callable[[Int[Tensor, "variant token"], Places], AbstractContextManager[Places]]
Blank = Literal["mask", "unknown", "hidden"]


@contextmanager
def full_network(ids: Int[Tensor, "variant token"], positions: Places) -> Iterator[Places]:
    """Run all of the network."""
    yield positions


@dataclass(frozen=True)
class Parts:
    """The parts of a network that run.

    * `once`: equal queries, keys and values of the first layer are made once.
    * `last`: for the token that is read alone, run the "layer" and the head, or the "head"; "" for all tokens.
    """

    layers: Stack
    projections: Sequence[Projections]
    target: Target
    once: bool
    last: str

    @contextmanager
    def __call__(self, ids: Int[Tensor, "variant token"], positions: Places) -> Iterator[Places]:
        """Run these parts within this context."""
        read = positions if self.target.kind == "word" else torch.zeros_like(positions)
        with ExitStack() as contexts:
            if self.once:
                contexts.enter_context(first_layer_once(self.projections[0], ids.cpu().numpy()))
            if self.last == "layer":
                contexts.enter_context(last_layer_at(self.layers, self.projections[-1], read[:, None]))
            if self.last == "head":
                contexts.enter_context(head_at(self.layers.network, read[:, None]))
            yield torch.zeros_like(positions) if self.last else positions


def fastest(
    layers: Stack, projections: Sequence[Projections], target: Target, trial: Callable[[Shortcut], Vectors]
) -> Shortcut:
    """The shortcut that computes least of those whose vectors are those of whole passes on a trial.

    * `trial`: the vectors of a few blanked copies, within `switchable`.
    """
    reads_all = target.kind == "representation" and target.modules.pooling != ("first",)
    lasts = ("",) if reads_all else ("layer", "head", "") if target.kind == "word" else ("layer", "")
    makers = [partial(Parts, layers, projections, target, once, last) for last, once in product(lasts, (True, False))]
    with quiet():
        return first_exact(makers, trial, full_network, layers.network.dtype)[0]


@dataclass(frozen=True)
class Blanking:
    """How tokens are blanked.

    * `token`: the token that stands in their place; None where they are hidden from all others by the attention mask.
    * `batch_tokens`: most tokens of a batch of variants.
    * `shortcut`: the parts of the network that run.
    """

    model: Model
    target: Target
    token: int | None
    batch_tokens: int
    shortcut: Shortcut = full_network

    def scores(
        self,
        inputs: dict[str, Int[Tensor, " token"]],
        candidates: Int[Tensor, " candidate"],
        position: Int[Tensor, ""],
        reference: Vectors,
        blanked: Bool[np.ndarray, "variant candidate"],
    ) -> Float[np.ndarray, " variant"]:
        """The target of an input for each row of blanked candidates.

        * `inputs`: of one input, without padding; `position`: of the token at which a word is predicted.
        * `reference`: the vector of the whole input, as the only row.
        """
        chunk = copies_together(self.model.network, len(inputs["input_ids"]), self.batch_tokens)
        vectors = (
            self._batch(inputs, candidates, position, torch.from_numpy(blanked[first : first + chunk]))
            for first in range(0, len(blanked), chunk)
        )
        parts = [self.target.scores(variants, reference.expand(len(variants), -1)) for variants in vectors]
        return torch.cat(parts).double().cpu().numpy()

    def trial(self, shortcut: Shortcut) -> Vectors:
        """The vectors of a few blanked copies of a short input by a shortcut."""
        device, tokens = self.model.device, 6
        ids = np.resize(last_pieces(self.model, 5), tokens)
        # The last token is read, and is in all copies.
        blanked = torch.tensor([[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1]], dtype=torch.bool)
        candidates, position = torch.arange(1, tokens - 1, device=device), torch.tensor(tokens - 1, device=device)
        inputs = {"input_ids": torch.from_numpy(ids).to(device)}
        return replace(self, shortcut=shortcut)._batch(inputs, candidates, position, blanked)

    def _batch(self, inputs: dict[str, Tensor], candidates: Tensor, position: Tensor, blanked: Tensor) -> Vectors:
        variants = len(blanked)
        copies = {name: tensor.repeat(variants, 1) for name, tensor in inputs.items()}
        hit = torch.zeros_like(copies["input_ids"], dtype=torch.bool)
        hit[:, candidates] = blanked.to(hit.device)
        real = torch.ones_like(hit)
        if self.token is None:
            real = ~hit
            copies["attention_mask"] = real.long()
        else:
            copies["input_ids"] = copies["input_ids"].masked_fill(hit, self.token)
        with torch.inference_mode(), self.shortcut(copies["input_ids"], position.expand(variants)) as positions:
            return self.target.vectors(self.model.network(**copies), real, positions)


def blank_token(model: Model, blank: Blank) -> int | None:
    """The token that takes the place of a blanked one; None where it is hidden from all tokens.

    A causal model was never trained to read a mask.

    Raises `HeadscopeError` for another word, and if the tokenizer has no such token.
    """
    readable = isinstance(model.tokenizer.mask_token_id, int) and model.looks_ahead
    if blank == "hidden" or (blank == "mask" and not readable):
        return None
    names = {"mask": "mask_token_id", "unknown": "unk_token_id"}
    if blank not in names:
        raise HeadscopeError(f"blank '{blank}' is unknown; use one of mask, unknown, hidden")
    token = getattr(model.tokenizer, names[blank])
    if not isinstance(token, int):
        raise HeadscopeError(f"blank '{blank}': the tokenizer of model '{model.name}' has no such token; use hidden")
    return token
