"""The outputs of a model with each of its heads disabled, each of its layers, and any sets of heads.

They are computed by the fastest strategy that gives those of full forward passes. Batches and stacked variants do not
depend on where a sweep has stopped, so that it ends with the same numbers.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.ablation.strategies import (
    LASTS,
    FullPasses,
    Last,
    Means,
    Outputs,
    PartialRerun,
    Skipped,
    Strategy,
    SweptBatch,
    SweptInputs,
    Variants,
    head_means,
)
from headscope.ablation.swept_parts import SweptParts
from headscope.capture.attention_switch import first_exact
from headscope.capture.interventions import Mode, replacements
from headscope.capture.layer_stack import stack
from headscope.capture.transformers_logging import quiet
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.heads import existing, name
from headscope.outputs.words.few_tokens import logits_together, within_memory
from headscope.passes.read_parts import read_parts
from headscope.passes.settings import DEFAULTS, Settings

Heads = Bool[np.ndarray, "layer head"]
# What is skipped of a layer: its attention alone, or with the feed-forward part.
SKIPPED: tuple[Skipped, ...] = ("attention", "layer")


@dataclass(frozen=True)
class Sweep:
    """A model's outputs for each example, in the order of the corpus, for `tasks.score`.

    * `plain`: with all heads; `heads`: without one, NaN where there is no such head; `layers`: without all of a layer;
      None where sets alone were asked for.
    * `sets`: without each of the sets, in their order.
    * `alone`: with the head as the only one of its layer; `skipped`: without the attention of each layer, and without
      the layer; None where they were not asked for.
    * `strategy`: the name of the strategy.
    """

    plain: Float[np.ndarray, "example output"]
    heads: Float[np.ndarray, "layer head example output"] | Any  # or None; nearly all sweeps have them
    layers: Float[np.ndarray, "layer example output"] | Any
    sets: Float[np.ndarray, "set example output"]
    strategy: str
    alone: Float[np.ndarray, "layer head example output"] | None = None
    skipped: Float[np.ndarray, "part layer example output"] | None = None

    def mapped(self, change: Callable[[np.ndarray], np.ndarray]) -> "Sweep":
        """Change the outputs of all variants, from [..., example, output] to [..., other example, other output]."""
        sets = change(self.sets) if len(self.sets) else self.sets
        others = (self.heads, self.layers, self.alone, self.skipped)
        heads, layers, *more = (None if outputs is None else change(outputs) for outputs in others)
        return Sweep(change(self.plain), heads, layers, sets, self.strategy, *more)


def sweep(
    task_inputs: SweptInputs,
    settings: Settings = DEFAULTS,
    *,
    mode: Mode = "uniform",
    sets: Sequence[Heads] = (),
    single: bool = True,
    alone: bool = False,
    skipped: bool = False,
    together: int = 1,
) -> Sweep:
    """Disable each head, each layer and each set.

    * `mode`: see `Model.changed`; the means of "mean" are those over the inputs.
    * `single`: each head and each layer; else the sets alone.
    * `alone`: also all heads of a layer but one; `skipped`: also skip the attention of each layer, and the layer.
    * `together`: how many neighbouring heads of a layer are disabled together, and have the same outputs.

    The journal of the settings keeps what is done; after Ctrl-C there is no result.

    Raises `HeadscopeError` for outputs that are not finite, if the journal cannot be written, and if layers are to be
    skipped that are not called one after the other.
    """
    model, heads = task_inputs.model, task_inputs.model.capture.heads
    settings = within_memory(settings, task_inputs)

    @cache
    def strategy() -> Strategy:
        means = head_means(model, task_inputs.inputs, settings.quiet) if mode == "mean" else None
        return fastest_exact(task_inputs, mode, means)

    layers = range(len(heads))
    groups = [[_layer(layer, heads, together) for layer in layers] if single else []]
    groups.append([_set(chosen, heads) for chosen in sets])
    groups.append([_alone(layer, heads, together) for layer in layers if heads[layer]] if alone else [])
    groups.append([_skipped(layer, part, heads) for part in SKIPPED for layer in layers] if skipped else [])
    readers = [SweptParts(task_inputs, group, mode, strategy, settings) if group else None for group in groups]
    settings.on_total(len(task_inputs.inputs) * sum(reader.passes for reader in readers if reader))
    settings = replace(settings, keep_interrupted=False)
    parts = [read_parts(reader, reader.fold, settings)[0].state if reader else [] for reader in readers]
    read = [reader.in_order(outputs) if reader else [] for reader, outputs in zip(readers, parts, strict=True)]
    by_layer, set_outputs, alone_outputs, skipped_outputs = (outputs[1:] for outputs in read)
    plain = next(filter(None, read))[0][0]
    return Sweep(
        plain,
        _by_head([outputs[:-1] for outputs in by_layer], heads) if single else None,
        np.stack([outputs[-1] for outputs in by_layer]) if single else None,
        np.array([outputs[0] for outputs in set_outputs]),
        next(filter(None, parts))[0].strategy,
        _by_head(alone_outputs, heads) if alone else None,
        np.concatenate(skipped_outputs).reshape(len(SKIPPED), len(heads), *plain.shape) if skipped else None,
    )


def _by_head(
    layers: Sequence[Float[np.ndarray, "head example output"]], heads: tuple[int, ...]
) -> Float[np.ndarray, "layer head example output"]:
    """The outputs of the heads of each layer, those that were disabled together alike; NaN where there is no head."""
    counts = iter([count for count in heads if count])
    values = np.concatenate([part.repeat(next(counts) // len(part), axis=0) if len(part) else part for part in layers])
    placed = np.full((len(heads), max(heads), *values.shape[1:]), np.nan, np.float32)
    placed[existing(heads)] = values
    return placed


def _layer(layer: int, heads: tuple[int, ...], together: int) -> Variants:
    """Each head of a layer disabled by itself, or those together that are to be, and last all of them."""
    alone, by = _parts(layer, heads, together)
    return Variants(
        f"layer {layer + 1}{by}", layer, np.vstack([alone, existing(heads)[layer]]), np.zeros_like(existing(heads))
    )


def _alone(layer: int, heads: tuple[int, ...], together: int) -> Variants:
    """All heads of a layer but one disabled, for each of its heads."""
    alone, by = _parts(layer, heads, together)
    others = existing(heads)[layer] & ~alone
    return Variants(f"layer {layer + 1} but one head{by}", layer, others, np.zeros_like(existing(heads)))


def _parts(layer: int, heads: tuple[int, ...], size: int) -> tuple[Bool[np.ndarray, "part head"], str]:
    """The heads of each part of a layer, and what is added to the name of its variants."""
    parts = np.arange(max(heads)) // size == np.arange(heads[layer] // size)[:, None]
    return parts, f" by {size} heads" if size > 1 else ""


def _skipped(layer: int, part: Skipped, heads: tuple[int, ...]) -> Variants:
    """A layer that is skipped, or its attention."""
    none = np.zeros_like(existing(heads))
    return Variants(f"without {part} {layer + 1}", layer, none[[layer]], none, part)


def _set(disabled: Heads, heads: tuple[int, ...]) -> Variants:
    """One variant, from the lowest layer of the set on."""
    layer, above = int(disabled.any(1).argmax()), disabled.copy()
    above[layer] = False
    return Variants(f"heads {name(disabled, heads)}", layer, disabled[[layer]], above)


def fastest_exact(task_inputs: SweptInputs, mode: Mode, means: Means = None) -> Strategy:
    """The fastest strategy that equals full passes on a padded batch of a few inputs.

    If there is none, full passes, whose name then gives the reason.
    """
    model, full = task_inputs.model, FullPasses(task_inputs.model, mode, means)
    batch = task_inputs.batch(_few(task_inputs.inputs, logits_together(model.network)))

    def trial(strategy: Strategy) -> Tensor:
        return torch.from_numpy(_trial(strategy, batch, model.capture.heads))

    with torch.inference_mode(), quiet():
        strategy, reason = first_exact(_partial_reruns(model, mode, means), trial, full, model.network.dtype)
    why = reason or "its layers are not called one after the other"
    return replace(full, name=f"{full.name}: {why}") if strategy is full else strategy


def _few(inputs: Sequence[Encoded], most: int) -> list[Encoded]:
    """A shortest input, one of median length, and a longest one, each once; fewer if `most` tokens do not hold them."""
    ordered = sorted(inputs, key=len)
    few = list({encoded.index: encoded for encoded in (ordered[0], ordered[len(ordered) // 2], ordered[-1])}.values())
    while len(few) > 1 and len(few) * len(few[-1]) > most:
        few.pop()
    return few


def _partial_reruns(model: Model, mode: Mode, means: Means) -> list[Callable[[], Strategy]]:
    """Makers of the partial re-runs of a model, the fastest first; none if its layers are no stack."""
    layers = stack(model.network, len(model.capture.heads))
    if layers is None:
        return []

    def make(last: Last) -> Strategy:
        return PartialRerun(layers, model.projections, replacements(mode, model.projections, means), last)

    has_words = model.network.get_output_embeddings() is not None
    return [partial(make, last) for last in LASTS if has_words or last != "head for words"]


def _trial(strategy: Strategy, batch: SweptBatch, heads: tuple[int, ...]) -> Outputs:
    """The outputs with all heads, without some of the first layer, of the last, and of several."""
    none, some, last = np.zeros((len(heads), max(heads)), dtype=bool), existing(heads), len(heads) - 1
    some[:, 1::2] = False
    above = some.copy()
    above[0] = False
    parts = [
        Variants("first", 0, some[[0]], none), Variants("last", last, some[[last]], none),
        Variants("several", 0, some[[0]], above),
    ]  # fmt: skip
    with closing(strategy.outputs(batch, parts)) as outputs:
        return np.concatenate(list(outputs))
