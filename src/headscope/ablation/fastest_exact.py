"""The choice of the fastest strategy whose outputs are those of full forward passes."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np
import torch

from headscope.ablation.strategies import (
    FullPasses,
    Means,
    Outputs,
    PartialRerun,
    Strategy,
    SweptBatch,
    SweptInputs,
    Variants,
)
from headscope.capture.interventions import Mode
from headscope.capture.layer_stack import stack
from headscope.capture.replacements import replacements
from headscope.capture.self_check import CLOSE
from headscope.capture.transformers_logging import quiet
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.heads import existing


def fastest_exact(task_inputs: SweptInputs, mode: Mode, means: Means = None) -> Strategy:
    """The fastest strategy that equals full passes on a padded batch of a few inputs.

    If there is none, full passes, whose name then gives the reason.
    """
    model, full = task_inputs.model, FullPasses(task_inputs.model, mode, means)
    reason = "its layers are not called one after the other"
    with torch.inference_mode(), quiet():
        batch = task_inputs.batch(_few(task_inputs.inputs))
        expected = _trial(full, batch, model.capture.heads)
        for strategy in _partial_reruns(model, mode, means):
            try:
                outputs = _trial(strategy, batch, model.capture.heads)
                reason = _difference(outputs, expected, CLOSE[model.network.dtype])
            except Exception as error:  # layers of some models cannot be called like this, and raise whatever they like
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
            if not reason:
                return strategy
    return replace(full, name=f"{full.name}: {reason}")


def _few(inputs: Sequence[Encoded]) -> list[Encoded]:
    """A shortest input, one of median length, and a longest one, each once."""
    ordered = sorted(inputs, key=len)
    return list({each.index: each for each in (ordered[0], ordered[len(ordered) // 2], ordered[-1])}.values())


def _partial_reruns(model: Model, mode: Mode, means: Means) -> list[PartialRerun]:
    """The partial re-runs of a model, the fastest first; none if its layers are no stack."""
    layers = stack(model.network, len(model.capture.heads))
    if layers is None:
        return []
    instead = replacements(mode, model.projections, means)
    return [PartialRerun(layers, model.projections, instead, last_rows) for last_rows in (True, False)]


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


def _difference(outputs: Outputs, expected: Outputs, close: float) -> str:
    """The largest difference, in words; empty if the outputs are close."""
    furthest = np.abs(outputs - expected).max()
    return "" if furthest <= close * max(1.0, np.abs(expected).max()) else f"outputs would differ by {furthest:.1e}"
