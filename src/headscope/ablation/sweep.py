"""The outputs of a model with each of its heads disabled, each of its layers, and any sets of heads.

The outputs of a batch with the heads of a layer, or with a set, disabled are a unit of a journal, and are computed
once. Batches and stacked variants do not depend on where a sweep has stopped, so that it ends with the same numbers.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from jaxtyping import Bool, Float

from headscope.ablation.fastest_exact import fastest_exact
from headscope.ablation.head_means import head_means
from headscope.ablation.journal import Journal
from headscope.ablation.strategies import Strategy, SweptInputs, Variants
from headscope.ablation.swept_group import ALL_HEADS, SweptGroup, unit_name
from headscope.ablation.unit_sizes import misfits
from headscope.capture.interventions import Mode
from headscope.cluster.channel import Json, TaskChannel
from headscope.cluster.engine import Tasks
from headscope.encoding.encoded import Encoded
from headscope.models.heads import existing, name
from headscope.passes.batches import by_length
from headscope.passes.fingerprint import of_machine, of_model
from headscope.passes.read_parts import engine_for
from headscope.passes.settings import DEFAULTS, Settings
from headscope.storage.codec import decode, encode
from headscope.storage.fingerprint import Fingerprint

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
    task_inputs: SweptInputs,
    settings: Settings = DEFAULTS,
    *,
    journal: Journal | None = None,
    mode: Mode = "uniform",
    sets: Sequence[Heads] = (),
) -> Sweep:
    """Disable each head, each layer and each set.

    * `journal`: the units that are done; by default none, and new ones are kept in memory only.
    * `mode`: see `Model.changed`; the means of "mean" are those over the inputs.

    Raises `HeadscopeError` for outputs that are not finite, or if the journal cannot be written.
    """
    journal = Journal() if journal is None else journal
    heads = task_inputs.model.capture.heads
    groups = list(by_length(task_inputs.inputs, settings.batch_tokens, settings.seed))
    parts = [_layer(layer, heads) for layer in range(len(heads))] + [_set(each, heads) for each in sets]
    if wrong := misfits(journal.units, task_inputs.model, groups, parts, mode):
        journal.forget(wrong)
        settings.on_notice(f"'{journal.path}' does not fit; {len(wrong)} units are computed again")
    settings.on_total(len(task_inputs.inputs) * _variants(parts))
    strategy = _fill(journal, task_inputs, groups, parts, settings, mode)
    plain, *outputs = (_in_order(journal, groups, each) for each in (ALL_HEADS, *(part.name for part in parts)))
    whole = np.full((len(heads), max(heads), *plain.shape[1:]), np.nan, np.float32)
    whole[existing(heads)] = np.concatenate([each[:-1] for each in outputs[: len(heads)]])
    layers = np.stack([each[-1] for each in outputs[: len(heads)]])
    return Sweep(plain[0], whole, layers, np.array([each[0] for each in outputs[len(heads) :]]), strategy)


def _fill(
    journal: Journal,
    task_inputs: SweptInputs,
    groups: list[list[Encoded]],
    parts: list[Variants],
    settings: Settings,
    mode: Mode,
) -> str:
    """Compute the units that the journal does not have; returns the name of the strategy."""
    silent = replace(settings, on_progress=lambda done: None)
    model, inputs = task_inputs.model, task_inputs.inputs
    means = journal.once_array("means", lambda: head_means(model, inputs, silent)) if mode == "mean" else None
    strategy = cache(lambda: fastest_exact(task_inputs, mode, means))
    batches = [SweptGroup(number, group, parts, journal) for number, group in enumerate(groups)]
    missing = sum(len(each.group) * _variants(each.missing) for each in batches)
    settings.on_progress(len(inputs) * _variants(parts) - missing)
    if settings.in_parts:
        _fill_by_workers(journal, task_inputs, batches, settings, strategy)
    for each in batches:
        if each.incomplete:
            for unit, values in each.outputs(task_inputs, strategy(), settings.on_progress):
                journal.add_array(unit, values)
    return journal.once_json("strategy", lambda: strategy().name)


def _fill_by_workers(
    journal: Journal,
    task_inputs: SweptInputs,
    batches: list[SweptGroup],
    settings: Settings,
    strategy: Callable[[], Strategy],
) -> None:
    """The same by several processes; the units of a batch come into the journal together."""

    def do(number: int, channel: TaskChannel) -> Json:
        return encode(list(batches[number].outputs(task_inputs, strategy(), channel.progress)))

    def fingerprint() -> Fingerprint:
        return {"model": of_model(task_inputs.model)} | of_machine(task_inputs.model, settings)

    numbers = [each.number for each in batches if each.incomplete]
    engine = engine_for(settings, task_inputs.model.device)
    if numbers and settings.engine is None:
        strategy()  # once, for all children
    with closing(engine.values(Tasks(do, numbers, "batch", fingerprint, settings.on_progress))) as outcomes:
        for json in outcomes:
            for unit, values in decode(json, list[tuple[str, np.ndarray]]):
                if unit not in journal:
                    journal.add_array(unit, values)
    engine.finish(lambda: encode([(unit, journal[unit]) for each in batches for unit in each.units]))


def _variants(parts: Sequence[Variants]) -> int:
    return sum(len(part.heads) for part in parts)


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


def _in_order(journal: Journal, groups: list[list[Encoded]], part: str) -> Float[np.ndarray, "variant example output"]:
    """The outputs of a part for all batches, in the order of the corpus."""
    outputs = np.concatenate([journal[unit_name(number, part)] for number in range(len(groups))], axis=1)
    return outputs[:, np.argsort([encoded.index for group in groups for encoded in group])]
