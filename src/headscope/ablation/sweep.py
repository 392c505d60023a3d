"""The outputs of a model with each of its heads disabled, each of its layers, and any sets of heads.

Each unit of work, a batch with the heads of a layer or with a set, goes into a journal, and is done once. Batches,
and what is stacked together, do not depend on where a sweep has stopped, so that it ends with the same numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch
from jaxtyping import Bool, Float

from headscope.ablation.head_means import head_means
from headscope.ablation.journal import Journal
from headscope.ablation.strategies import Outputs, choose
from headscope.capture.interventions import Mode
from headscope.encoding.encoded import Encoded
from headscope.engine.batches import by_length
from headscope.engine.settings import DEFAULTS, Settings
from headscope.engine.task_inputs import Asked
from headscope.models.heads import existing, name

Heads = Bool[np.ndarray, "layer head"]


@dataclass(frozen=True)
class Sweep:
    """What a model answers to each example, in the order of the corpus: outputs, for `tasks.score`.

    * `plain`: with all heads; `heads`: without one, NaN where there is no such head; `layers`: without all of a layer.
    * `sets`: without each of the sets, in their order.
    * `way`: how it was computed, in words.
    """

    plain: Float[np.ndarray, "example output"]
    heads: Float[np.ndarray, "layer head example output"]
    layers: Float[np.ndarray, "layer example output"]
    sets: Float[np.ndarray, "set example output"]
    way: str


@dataclass(frozen=True)
class Unit:
    """A part of the work on a batch: variants that each disable some heads of a layer, and all of them those above."""

    name: str
    layer: int
    chosen: Bool[np.ndarray, "variant head"]
    above: Heads

    def key(self, batch: int) -> str:
        """What it is called in the journal."""
        return f"batch {batch}, {self.name}"

    def outputs(self, passes: Outputs) -> Float[np.ndarray, "variant example output"]:
        """The work itself."""
        return passes.disabled(self.layer, self.chosen, self.above)


def sweep(
    asked: Asked,
    settings: Settings = DEFAULTS,
    *,
    journal: Journal | None = None,
    mode: Mode = "uniform",
    sets: Sequence[Heads] = (),
) -> Sweep:
    """Each head, each layer and each set disabled.

    * `journal`: what is done already; by default nothing, and it is kept nowhere.
    * `mode`: see `Model.changed`; the means of "mean" are those over the inputs.

    Raises `HeadscopeError` for outputs that are not numbers, or if the journal cannot be written.
    """
    journal = Journal() if journal is None else journal
    heads, groups = asked.model.capture.heads, list(by_length(asked.inputs, settings.batch_tokens, settings.seed))
    units = [_of_layer(layer, heads) for layer in range(len(heads))] + [_of_set(each, heads) for each in sets]
    settings.on_total(len(asked.inputs) * _variants(units))
    way = _work(asked, groups, units, journal, settings, mode)
    answers = [_in_order(journal, groups, unit.key) for unit in units]
    whole = np.full((len(heads), max(heads), *answers[0].shape[1:]), np.nan, np.float32)
    whole[existing(heads)] = np.concatenate([answer[:-1] for answer in answers[: len(heads)]])
    plain = _in_order(journal, groups, _plain)[0]
    layers = np.stack([answer[-1] for answer in answers[: len(heads)]])
    return Sweep(plain, whole, layers, np.array([answer[0] for answer in answers[len(heads) :]]), way)


def _work(
    asked: Asked, groups: list[list[Encoded]], units: list[Unit], journal: Journal, settings: Settings, mode: Mode
) -> str:
    """Do what the journal does not have yet; gives the way in words."""
    silent = replace(settings, on_progress=lambda done: None)
    means = journal.once("means", lambda: head_means(asked.model, asked.inputs, silent)) if mode == "mean" else None
    way = cache(lambda: choose(asked, mode, means, settings))
    for number, group in enumerate(groups):
        left = [unit for unit in units if unit.key(number) not in journal]
        settings.on_progress(len(group) * (_variants(units) - _variants(left)))
        if not left and _plain(number) in journal:
            continue
        with torch.inference_mode(), way().around():
            passes = way().on(asked.batch(group, settings))
            plain = passes.plain()[None]
            journal.once(_plain(number), lambda plain=plain: plain)
            for unit in left:
                journal.add(unit.key(number), unit.outputs(passes))
                settings.on_progress(len(group) * len(unit.chosen))
    return str(journal.once("way", lambda: np.array(way().name)))


def _plain(batch: int) -> str:
    return f"batch {batch}, all heads"


def _variants(units: Sequence[Unit]) -> int:
    return sum(len(unit.chosen) for unit in units)


def _of_layer(layer: int, heads: tuple[int, ...]) -> Unit:
    """Each head of a layer, and last all of them."""
    every = existing(heads)[layer]
    alone = np.eye(len(every), dtype=bool)[: heads[layer]]
    return Unit(f"layer {layer + 1}", layer, np.vstack([alone, every]), np.zeros_like(existing(heads)))


def _of_set(chosen: Heads, heads: tuple[int, ...]) -> Unit:
    """One variant, from the lowest layer of the set on."""
    layer, above = int(chosen.any(1).argmax()), chosen.copy()
    above[layer] = False
    return Unit(f"heads {name(chosen, heads)}", layer, chosen[[layer]], above)


def _in_order(
    journal: Journal, groups: list[list[Encoded]], key: Callable[[int], str]
) -> Float[np.ndarray, "variant example output"]:
    """The outputs of a unit of all batches, in the order of the corpus."""
    parts = np.concatenate([journal[key(number)] for number in range(len(groups))], axis=1)
    order = np.argsort([encoded.index for group in groups for encoded in group])
    return parts[:, order]
