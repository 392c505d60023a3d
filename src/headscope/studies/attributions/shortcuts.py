"""Passes over blanked copies of an input, by as little of the network as is exact.

Where the target reads one token, the last layer and the head run for this token alone. Copies have most tokens in
common, so that most queries, keys and values of the first layer are made once.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from jaxtyping import Int
from torch import Tensor

from headscope.capture.first_exact import first_exact
from headscope.capture.first_layer_once import first_layer_once
from headscope.capture.last_layer_rows import last_layer_at
from headscope.capture.layer_stack import Stack
from headscope.capture.projections import Projections
from headscope.capture.transformers_logging import quiet
from headscope.outputs.words.few_tokens import chosen_states
from headscope.studies.attributions.targets import Target, Vectors

Places = Int[Tensor, " variant"]
# A context for inputs `ids` and the places of their predicted words, which yields the places in the network's output.
Shortcut = Callable[[Int[Tensor, "variant token"], Places], AbstractContextManager[Places]]


@contextmanager
def whole(ids: Int[Tensor, "variant token"], places: Places) -> Iterator[Places]:
    """Run all of the network."""
    yield places


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
    def __call__(self, ids: Int[Tensor, "variant token"], places: Places) -> Iterator[Places]:
        """Run these parts within this context."""
        read = places if self.target.kind == "word" else torch.zeros_like(places)
        variants = torch.arange(len(ids), device=ids.device)
        with ExitStack() as contexts:
            if self.once:
                contexts.enter_context(first_layer_once(self.projections[0], ids.cpu().numpy()))
            if self.last == "layer":
                contexts.enter_context(last_layer_at(self.layers, self.projections[-1], read[:, None]))
            if self.last == "head":
                base = self.layers.network.base_model
                contexts.enter_context(chosen_states(base, lambda states: states[variants, read][:, None]))
            yield torch.zeros_like(places) if self.last else places


def fastest(
    layers: Stack, projections: Sequence[Projections], target: Target, trial: Callable[[Shortcut], Vectors]
) -> Shortcut:
    """The shortcut that computes least of those whose vectors are those of whole passes on a trial.

    * `trial`: the vectors of a few blanked copies, within `switchable`.
    """
    reads_all = target.kind == "representation" and target.pooling == "mean"
    lasts = ("",) if reads_all else ("layer", "head", "") if target.kind == "word" else ("layer", "")
    makers = [partial(Parts, layers, projections, target, once, last) for last, once in product(lasts, (True, False))]
    with quiet():
        return first_exact(makers, trial, whole, layers.network.dtype)[0]
