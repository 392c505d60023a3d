"""One head of a layer is enough: all others disabled, the head chosen on one half of the examples, scored on the other.

Michel et al. 2019, section 3.3, Tables 3 and 6.
"""

from dataclasses import replace

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.models.heads import existing
from headscope.results.variables import PAIRED, Variables
from headscope.statistics.significance import benjamini_hochberg, mcnemar
from headscope.statistics.split_half import split_in_half
from headscope.studies.size.ablate import STUDY
from headscope.studies.size.ablate.gains import Gains

HALVES = ("first", "second")


def variables(
    alone: Float[np.ndarray, "layer head example output"], gains: Gains, counts: tuple[int, ...], classes: bool
) -> dict[str, xr.DataArray]:
    """The score with the best head of each layer as its only one, each half scored with the head of the other half.

    * `alone`: outputs with each head as the only one of its layer; `gains`: those of any variants of the model.
    * `classes`: whether the largest output is the answer, so that accuracy is tested.
    """
    layers = [layer for layer, number in enumerate(counts) if number]
    choosing = split_in_half(np.array(gains.units), gains.seed)
    halves = [np.flatnonzero(mask) for mask in (choosing, ~choosing)]
    alone_gains = replace(gains, outputs=alone[existing(counts)])
    first = np.concatenate([[0], np.cumsum(counts)])
    best = np.full((len(counts), len(halves), len(gains.metrics)), -1)
    for number, half in enumerate(halves):
        scores = alone_gains.part(half).gains  # [head, metric]
        for layer in layers:
            best[layer, number] = scores[first[layer] : first[layer + 1]].argmax(0)
    shape = (len(counts), len(gains.metrics))
    values, bounds, p = np.full(shape, np.nan), np.full((*shape, 2), np.nan), np.full(shape[:1], np.nan)
    for index, metric in enumerate(gains.metrics):
        outputs = np.stack([_crossed(alone[layer], best[layer, :, index], halves) for layer in layers])
        held_out = replace(gains, metrics=[metric], outputs=outputs)
        values[layers, index], bounds[layers, index] = held_out.gains[:, 0], held_out.interval[:, 0]
        if classes and not index:
            p[layers] = mcnemar(outputs.argmax(-1) == gains.targets, gains.before.argmax(-1) == gains.targets)
    added = Variables({"half": HALVES, "metric": gains.metrics}, STUDY.source, STUDY.labels, **PAIRED)
    added.add("one_head_gain", values, interval=bounds, count=len(gains.targets))
    added.add("one_head", best + 1.0)
    if classes:
        added.add("one_head_q_value", benjamini_hochberg(p))
    return added.arrays


def _crossed(
    outputs: Float[np.ndarray, "head example output"], best: np.ndarray, halves: list[np.ndarray]
) -> Float[np.ndarray, "example output"]:
    """The outputs of each half with the head that the other half has chosen."""
    crossed = np.empty(outputs.shape[1:], outputs.dtype)
    for half, head in zip(halves, best[::-1], strict=True):
        crossed[half] = outputs[head, half]
    return crossed
