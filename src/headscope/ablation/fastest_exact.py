"""The choice of the fastest strategy whose outputs are those of full forward passes."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

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
from headscope.capture.first_exact import first_exact
from headscope.capture.interventions import Mode
from headscope.capture.layer_stack import stack
from headscope.capture.replacements import replacements
from headscope.capture.transformers_logging import quiet
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.heads import existing


def fastest_exact(task_inputs: SweptInputs, mode: Mode, means: Means = None) -> Strategy:
    """The fastest strategy that equals full passes on a padded batch of a few inputs.

    If there is none, full passes, whose name then gives the reason.
    """
    model, full = task_inputs.model, FullPasses(task_inputs.model, mode, means)

    def trial(strategy: Strategy) -> Tensor:
        return torch.from_numpy(_trial(strategy, batch, model.capture.heads))

    with torch.inference_mode(), quiet():
        batch = task_inputs.batch(_few(task_inputs.inputs))
        strategy, reason = first_exact(_partial_reruns(model, mode, means), trial, full, model.network.dtype)
    why = reason or "its layers are not called one after the other"
    return replace(full, name=f"{full.name}: {why}") if strategy is full else strategy


def _few(inputs: Sequence[Encoded]) -> list[Encoded]:
    """A shortest input, one of median length, and a longest one, each once."""
    ordered = sorted(inputs, key=len)
    return list({encoded.index: encoded for encoded in (ordered[0], ordered[len(ordered) // 2], ordered[-1])}.values())


def _partial_reruns(model: Model, mode: Mode, means: Means) -> list[Callable[[], Strategy]]:
    """Makers of the partial re-runs of a model, the fastest first; none if its layers are no stack."""
    layers = stack(model.network, len(model.capture.heads))
    if layers is None:
        return []

    def make(last_rows: bool) -> Strategy:
        instead = replacements(mode, model.projections, means)
        return PartialRerun(layers, model.projections, instead, last_rows)

    return [partial(make, last_rows) for last_rows in (True, False)]


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
