"""Copies of an input with altered attention: what the output loses, and how far an equivalent one can be."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.ablation.partial_rerun import repeated
from headscope.capture.attention_function import observed
from headscope.capture.layer_stack import Stack
from headscope.capture.observer import Intervention
from headscope.models import Model
from headscope.outputs.words.few_tokens import copies_together
from headscope.statistics.columns import Columns
from headscope.studies.words.attributions.altered_attention import (
    DRAWS,
    Altered,
    Maps,
    OneHead,
    Recorded,
    Replaced,
    Seen,
    Variant,
    divergence,
    variants,
)
from headscope.studies.words.attributions.other_attention import HEAD_STEPS, search
from headscope.studies.words.attributions.targets import Target, Vectors

ALTERATIONS = (*DRAWS, "other")
# The maps of all heads of longer inputs, with what a search keeps beside them, take too much memory.
MOST_TOKENS = 128
PerHead = Float[np.ndarray, "layer head"]


@dataclass(frozen=True)
class Copies:
    """An input, to be copied, and its target; within `switchable` and `frozen`.

    * `inputs`: of one example, without padding; `position`: the token at which a word is predicted.
    * `reference`: the vector of the target with the model's own attention, as the only row.
    """

    model: Model
    stack: Stack
    target: Target
    inputs: Mapping[str, Int[Tensor, "1 token"]]
    position: Int[Tensor, ""]
    reference: Vectors

    @property
    def tokens(self) -> int:
        """The length of the input."""
        return self.inputs["input_ids"].numel()

    def own(self) -> tuple[list[Maps], list[Seen]]:
        """The model's attention in each layer, [head, query, key], and the keys that queries see."""
        recorded = Recorded(1)
        with torch.no_grad(), self.model.intervened(recorded), self._read():
            self.model.network(**self.inputs)
        return [maps[0] for maps in recorded.maps], [seen[0] for seen in recorded.seen]

    def run(self, number: int, look: Intervention) -> Vectors:
        """The vectors of copies with attention as an intervention has it."""
        with self.model.intervened(look), self._read() as read:
            return self._vectors(self.model.network(**self._repeated(number)), number, read)

    def run_recorded(self, number: int, look: Intervention) -> tuple[Vectors, list[Maps]]:
        """The vectors of copies, and the attention of each layer after the intervention."""
        recorded = Recorded(number)
        with self.model.intervened(look):
            return self.run(number, recorded), recorded.maps

    def run_from(self, layer: int, states: Float[Tensor, "1 token width"], look: OneHead) -> Vectors:
        """The vectors of copies whose passes start at a layer, which `states` enter."""
        number = len(look.maps)
        with observed(self.model.network, look, changes=True), self._read() as read:
            output = self.stack.rest(self._repeated(number), layer, repeated(states, number))
        return self._vectors(output, number, read)

    def change(self, vectors: Vectors) -> Float[Tensor, " copy"]:
        """See `Target.distance`."""
        return self.target.distance(vectors, self.reference)

    def flipped(self, vectors: Vectors) -> Float[Tensor, " copy"]:
        """See `Target.flipped`."""
        return self.target.flipped(vectors, self.reference)

    def _repeated(self, number: int) -> dict[str, Tensor]:
        return {name: repeated(tensor, number) for name, tensor in self.inputs.items()}

    def _read(self) -> AbstractContextManager[Tensor]:
        return self.target.read(self.model.network, self.position[None])

    def _vectors(self, output: Any, number: int, read: Int[Tensor, "1"]) -> Vectors:
        real = torch.ones_like(self.inputs["input_ids"]).expand(number, -1)
        return self.target.vectors(output, real, read.expand(number))


@dataclass(frozen=True)
class AlteredInputs(Columns):
    """A row for each input whose attention is altered; NaN where something is not taken.

    * `index`: the number of the input in its corpus; `unit`: of what is resampled with it, its document or itself.
    * `change`: of the output, by `ALTERATIONS`; first in all layers at once, then in each alone. The median over draws
      of permutations, the mean over draws of erased keys. `flip`: the share of draws with another decision.
    * `distance`: Jensen-Shannon divergence of altered attention from the model's own, all layers altered at once.
    * `head_distance`, `head_change`: of the other attention of the same output that is found for a head alone.
    """

    index: Int[np.ndarray, " input"]
    unit: Int[np.ndarray, " input"]
    change: Float[np.ndarray, "input alteration scope"]
    flip: Float[np.ndarray, "input alteration scope"]
    distance: Float[np.ndarray, "input alteration layer head"]
    head_distance: Float[np.ndarray, "input layer head"]
    head_change: Float[np.ndarray, "input layer head"]


@dataclass(frozen=True)
class Search:
    """How attention is altered.

    * `tolerance`: the largest change of an output that is called the same.
    * `batch_tokens`: most tokens of the copies of an input that run together; `seed`: of random numbers.
    """

    tolerance: float
    batch_tokens: int
    seed: int


def altered_input(copies: Copies, how: Search, index: int, unit: int, by_head: bool) -> AlteredInputs:
    """The row of one input; `by_head`: whether another attention is searched for each head alone, too."""
    key = (how.seed, index)
    own, seen = copies.own()
    change, flip = (np.full((len(ALTERATIONS), 1 + len(own)), np.nan) for _ in range(2))
    distance = np.full((len(ALTERATIONS), len(own), max(map(len, own))), np.nan)
    _add_alterations(copies, own, key, how.batch_tokens, change, flip, distance)
    change[-1, 0], flip[-1, 0], distance[-1] = _other(copies, own, seen, key, how.tolerance)
    heads = (
        _other_of_heads(copies, own, seen, key, how.tolerance) if by_head else [np.full_like(distance[0], np.nan)] * 2
    )
    columns = (np.array(index), np.array(unit), change, flip, distance, *heads)
    return AlteredInputs(*(np.asarray(column)[None] for column in columns))


def _add_alterations(
    copies: Copies, own: list[Maps], key: tuple[int, int], batch_tokens: int, change: np.ndarray, flip: np.ndarray,
    distance: np.ndarray,
) -> None:  # fmt: skip
    """Write what each alteration does but the searched one."""
    copied = variants(len(own))
    moved, flipped, far = np.empty(len(copied)), np.empty(len(copied)), np.empty((len(copied), *distance.shape[1:]))
    together = copies_together(copies.model.network, copies.tokens, batch_tokens)
    for first in range(0, len(copied), together):
        rows = slice(first, first + together)
        part = copied[rows]
        with torch.no_grad():
            vectors, maps = copies.run_recorded(len(part), Altered(part, key))
        moved[rows], flipped[rows] = copies.change(vectors).cpu(), copies.flipped(vectors).cpu()
        far[rows] = _by_head([divergence(before, after) for before, after in zip(own, maps, strict=True)])
    for alteration, scope, numbers in _draws(copied):
        median = ALTERATIONS[alteration] == "permuted"
        change[alteration, scope] = (np.median if median else np.mean)(moved[numbers])
        flip[alteration, scope] = flipped[numbers].mean()
        if scope == 0:
            distance[alteration] = far[numbers].mean(0)


def _draws(copied: Sequence[Variant]) -> list[tuple[int, int, list[int]]]:
    """The numbers of the variants of each alteration and scope: 0 for all layers, then each layer."""
    draws: dict[tuple[int, int], list[int]] = {}
    for number, variant in enumerate(copied):
        scope = 0 if variant.layer is None else 1 + variant.layer
        draws.setdefault((ALTERATIONS.index(variant.alteration), scope), []).append(number)
    return [(*cell, numbers) for cell, numbers in draws.items()]


def _other(
    copies: Copies, own: list[Maps], seen: list[Tensor], key: tuple[int, int], tolerance: float
) -> tuple[float, float, PerHead]:
    """Change of the output, another decision or none, and distance of another attention of all heads."""
    sizes = [len(maps) for maps in own]
    # The heads of all layers side by side: [copy, head, query, key], of one copy.
    together, visible = torch.cat(own)[None], torch.cat(seen)[None]

    def run(attention: Maps) -> Tensor:
        return copies.run(1, Replaced(attention.split(sizes, dim=1)))

    def change(attention: Maps, numbers: Tensor) -> Tensor:
        return copies.change(run(attention))

    with torch.no_grad():
        maps = search(together, visible, _noise(together, key, len(own)), change, tolerance)
        vectors = run(maps)
    far = _by_head(divergence(together, maps).split(sizes, dim=1))[0]
    return float(copies.change(vectors)), float(copies.flipped(vectors)), far


def _other_of_heads(
    copies: Copies, own: list[Maps], seen: list[Tensor], key: tuple[int, int], tolerance: float
) -> tuple[PerHead, PerHead]:
    """Distance of another attention of each single head, and the change of the output; layers below stay."""
    with torch.no_grad():
        calls, _ = copies.stack.calls(copies.inputs, head=False)
    tables = [np.full((len(own), max(map(len, own))), np.nan) for _ in range(2)]
    for layer, (maps, states) in enumerate(zip(own, [call.states for call in calls], strict=True)):

        def change(attention: Maps, heads: Tensor, layer: int = layer, states: Tensor = states) -> Tensor:
            return copies.change(copies.run_from(layer, states, OneHead(attention, heads)))

        if len(maps):
            with torch.no_grad():
                other = search(maps, seen[layer], _noise(maps, key, layer), change, tolerance, HEAD_STEPS)
                moved = change(other, torch.arange(len(maps), device=maps.device))
            tables[0][layer, : len(maps)] = divergence(maps, other).mean(-1).cpu()
            tables[1][layer, : len(maps)] = moved.cpu()
    return tables[0], tables[1]


def _noise(maps: Maps, key: tuple[int, int], number: int) -> Maps:
    random = np.random.default_rng([*key, len(DRAWS), number])
    return torch.from_numpy(random.random(tuple(maps.shape), np.float32)).to(maps)


def _by_head(layers: Sequence[Float[Tensor, "copy head query"]]) -> Float[np.ndarray, "copy layer head"]:
    """The mean over queries of each head; NaN where a layer has fewer heads."""
    table = np.full((len(layers[0]), len(layers), max(layer.shape[1] for layer in layers)), np.nan)
    for number, layer in enumerate(layers):
        table[:, number, : layer.shape[1]] = layer.mean(-1).cpu()
    return table
