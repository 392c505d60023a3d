"""The outputs of a model with each of its heads disabled, each of its layers, and any sets of heads.

Batches and stacked variants do not depend on where a sweep has stopped, so that it ends with the same numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from jaxtyping import Bool, Float

from headscope.ablation.fastest_exact import fastest_exact
from headscope.ablation.head_means import head_means
from headscope.ablation.strategies import Strategy, SweptInputs, Variants
from headscope.ablation.swept_parts import SweptParts
from headscope.capture.interventions import Mode
from headscope.models.heads import existing, name
from headscope.passes.read_parts import read_parts
from headscope.passes.settings import DEFAULTS, Settings

Heads = Bool[np.ndarray, "layer head"]


@dataclass(frozen=True)
class Sweep:
    """A model's outputs for each example, in the order of the corpus, for `tasks.score`.

    * `plain`: with all heads; `heads`: without one, NaN where there is no such head; `layers`: without all of a layer.
    * `sets`: without each of the sets, in their order.
    * `strategy`: the name of the strategy.
    """

    plain: Float[np.ndarray, "example output"]
    heads: Float[np.ndarray, "layer head example output"]
    layers: Float[np.ndarray, "layer example output"]
    sets: Float[np.ndarray, "set example output"]
    strategy: str

    def mapped(self, change: Callable[[np.ndarray], np.ndarray]) -> "Sweep":
        """The same with other outputs, from [..., example, output] to [..., other example, other output]."""
        sets = change(self.sets) if len(self.sets) else self.sets
        return Sweep(change(self.plain), change(self.heads), change(self.layers), sets, self.strategy)


def sweep(
    task_inputs: SweptInputs, settings: Settings = DEFAULTS, *, mode: Mode = "uniform", sets: Sequence[Heads] = ()
) -> Sweep:
    """Disable each head, each layer and each set.

    * `mode`: see `Model.changed`; the means of "mean" are those over the inputs.

    The journal of the settings keeps what is done; after Ctrl-C there is no result.

    Raises `HeadscopeError` for outputs that are not finite, or if the journal cannot be written.
    """
    model = task_inputs.model
    silent = replace(settings, on_progress=lambda done: None)

    @cache
    def strategy() -> Strategy:
        means = head_means(model, task_inputs.inputs, silent) if mode == "mean" else None
        return fastest_exact(task_inputs, mode, means)

    heads = model.capture.heads
    variants = ([_layer(layer, heads) for layer in range(len(heads))], [_set(chosen, heads) for chosen in sets])
    readers = [SweptParts(task_inputs, some, mode, strategy, settings) for some in variants if some]
    settings.on_total(len(task_inputs.inputs) * sum(reader.passes for reader in readers))
    settings = replace(settings, keep_interrupted=False)
    parts = [read_parts(reader, reader.fold, settings)[0].state for reader in readers]
    (plain, *layers), *of_sets = (reader.in_order(outputs) for reader, outputs in zip(readers, parts, strict=True))
    by_head = np.full((len(heads), max(heads), *plain.shape[1:]), np.nan, np.float32)
    by_head[existing(heads)] = np.concatenate([outputs[:-1] for outputs in layers])
    without_sets = [outputs[0] for _, *swept in of_sets for outputs in swept]
    return Sweep(
        plain[0], by_head, np.stack([outputs[-1] for outputs in layers]), np.array(without_sets), parts[0][0].strategy
    )


def _layer(layer: int, heads: tuple[int, ...]) -> Variants:
    """Each head of a layer, and last all of them."""
    every = existing(heads)[layer]
    alone = np.eye(len(every), dtype=bool)[: heads[layer]]
    return Variants(f"layer {layer + 1}", layer, np.vstack([alone, every]), np.zeros_like(existing(heads)))


def _set(disabled: Heads, heads: tuple[int, ...]) -> Variants:
    """One variant, from the lowest layer of the set on."""
    layer, above = int(disabled.any(1).argmax()), disabled.copy()
    above[layer] = False
    return Variants(f"heads {name(disabled, heads)}", layer, disabled[[layer]], above)
