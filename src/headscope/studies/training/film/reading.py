"""Read one step of a training beside its start: attention, and how far the weights moved."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import torch
import xarray as xr
from jaxtyping import Float

from headscope import catalog
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, intervals, scored
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.comparable import refuse_unless_comparable, shared_tokenizer
from headscope.models.layer_weights import HeadWeight, head_norms, head_weights, layer_modules, moved
from headscope.outputs.label_order import in_model_order
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.passes import Settings
from headscope.passes.attention_maps import typical_inputs, typical_maps
from headscope.passes.paired_pass import fold_pairs
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PassResult
from headscope.results.variables import by_layer
from headscope.statistics.bootstrap import Tally, poisson_draws
from headscope.statistics.intervals import equal_units

MEASURES = ("attention_to", "attention_offset", "entropy")
SIMILARITY, LAYER_SIMILARITY = "similarity", "layer_similarity"


class StepScores:
    """The scores of a task, step by step, with their intervals over examples; nothing without a task.

    * `values`: of each step, [metric]; `bounds`, [metric, bound]; NaN for a start without a head for the task.
    """

    def __init__(self, task: Task | None, settings: Settings):
        self.task, self.settings = task, settings
        self.values: list[np.ndarray] = []
        self.bounds: list[np.ndarray] = []

    @property
    def n_examples(self) -> int:
        """How many examples were scored."""
        return self.task.dev.n_examples if self.task else 0

    def add(self, model: Model) -> None:
        """Score the model of the next step.

        Raises `HeadscopeError` if it has no head for the task; the start may lack one.
        """
        if self.task is None:
            return
        network = model.network
        if network.base_model is network:
            if self.values:
                raise HeadscopeError(f"model '{model.name}' has no task head; leave out --task")
            self.settings.on_progress(self.task.dev.n_examples)
            shape = len(self.task.metrics)
            self.values.append(np.full(shape, np.nan))
            self.bounds.append(np.full((shape, 2), np.nan))
            return
        task = in_model_order(self.task, model)
        outputs, targets = task_outputs(task_inputs(model, task, task.dev), self.settings), task.targets(task.dev)
        draws = poisson_draws(task.dev.units, self.settings.seed, self.settings.resamples)
        value, drawn = scored(task.metrics, outputs, targets, draws)
        self.values.append(value)
        self.bounds.append(intervals(task.metrics, value, drawn, equal_units(task.dev.units)))


class StepReader:
    """The numbers of the steps that were read, each beside the start.

    * `values`: of each variable the mean of each step, [layer, head, ...] or [layer]; `bounds` of its interval;
      `counts`, the number of examples.
    * `changes`: of each step, 1 minus the similarity in the corpus and in each resample, [1 + resample, head].
    * `maps`: of each step, the attention maps of one typical input.
    """

    def __init__(self, start: Model, corpus: Corpus, settings: Settings, *, maps: bool):
        self.start, self.corpus, self.settings = start, corpus, settings
        self.heads = start.capture.heads
        self.measures = {name: catalog.load("measures", name) for name in MEASURES}
        self.comparisons = {SIMILARITY: catalog.load("measures/comparisons", SIMILARITY)}
        self.values: dict[str, list[np.ndarray]] = {}
        self.bounds: dict[str, list[np.ndarray]] = {}
        self.counts: dict[str, np.ndarray] = {}
        self.changes: dict[str, list[np.ndarray]] = {SIMILARITY: [], LAYER_SIMILARITY: []}
        self.units = np.inf
        self.inputs = typical_inputs(start, corpus, 1, settings.seed) if maps else []
        self.maps = [self._maps(start)]
        self.first: PassResult[dict[str, Tally]] | None = None
        self.weights: dict[str, list[np.ndarray]] = {}

    def read(self, model: Model) -> None:
        """Read the corpus with the start and the model of the next step.

        Raises `HeadscopeError` if they cannot be compared, or no example fits into them.
        """
        refuse_unless_comparable([self.start, model])
        limit = min(self.start.max_tokens, model.max_tokens)
        words = Words(shared_tokenizer([self.start, model]), limit, self.settings.long)
        reading = Pass(self.start, self.corpus, self.settings, words)
        result = fold_pairs(reading, [model], self.measures, self.comparisons, own=True)
        if self.first is None:
            self.first = result
            self._add(result.value, 0)
        self._add(result.value, 1)
        self._add_weights(model)
        self.maps.append(self._maps(model))

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the first pass."""
        return dict(self.first.attributes) if self.first else {}

    @property
    def coverage(self) -> dict[str, xr.DataArray]:
        """What uniform attention would give."""
        return self.first.coverage.variables() if self.first else {}

    def _add(self, tallies: dict[str, Tally], model: int) -> None:
        """Add the start (0) or the step (1) of a pass."""
        for name in MEASURES:
            self._add_tally(name, tallies[f"own_{name}"], model, lambda row: by_layer(row, self.heads))
        for name, arranged in ((SIMILARITY, lambda row: by_layer(row, self.heads)), (LAYER_SIMILARITY, np.asarray)):
            tally = tallies[name]
            self._add_tally(name, tally, 0, arranged, same=model == 0)
            self.changes[name].append(changes_of(tally) * model)
        self.units = float(np.min(tallies[SIMILARITY].units))

    def _add_tally(
        self, name: str, tally: Tally, model: int, arranged: Callable[[np.ndarray], np.ndarray], *, same: bool = False
    ) -> None:
        """Add the mean of a model, its interval and its count; `same`: of the start beside itself, which is 1."""
        mean, bounds = tally.mean[:, model], tally.interval[:, model]
        values = [np.ones_like(part) if same else part for part in (mean, bounds)]
        for kept, value in zip((self.values, self.bounds), values, strict=True):
            kept.setdefault(name, []).append(arranged(value))
        self.counts[name] = tally.count[model]

    def _add_weights(self, model: Model) -> None:
        """Add how far the weights of each layer and head moved, as a share of their length at the start."""
        try:
            pairs = zip(layer_modules(self.start), layer_modules(model), strict=True)
            layers = np.array([moved(*pair) for pair in pairs])
        except (HeadscopeError, ValueError):
            return
        self.weights.setdefault("layer", [np.zeros_like(layers)]).append(layers)
        if self._head_weights and (heads := self._moved_heads(model)) is not None:
            self.weights.setdefault("head", [np.zeros_like(heads)]).append(heads)

    @cached_property
    def _head_weights(self) -> list[list[HeadWeight]]:
        return head_weights(self.start.network, len(self.heads))

    def _moved_heads(self, model: Model) -> np.ndarray | None:
        later = head_weights(model.network, len(self.heads))
        if not later:
            return None
        with torch.no_grad():
            flat = [_moved(*pair) for pair in zip(self._head_weights, later, strict=True)]
        return by_layer(np.concatenate(flat), self.heads)

    def _maps(self, model: Model) -> dict[str, xr.DataArray]:
        return typical_maps(model, self.inputs)


def changes_of(tally: Tally) -> Float[np.ndarray, "draw head"]:
    """1 minus the similarity of the only later model: first in the corpus, then in each resample."""
    counts: Any = np.maximum(tally.resampled_count[:, None, 0], 1e-9)
    resampled = np.where(tally.resampled_count[:, None, 0] > 0, tally.resampled_total[:, :, 0] / counts, np.nan)
    return 1 - np.concatenate([tally.mean[None, :, 0], resampled])


def _moved(before: list[HeadWeight], after: list[HeadWeight]) -> Float[np.ndarray, " head"]:
    """The length of the difference of each head's weights, by that of the first."""
    mine, theirs = ([head.weight.double().cpu() for head in side] for side in (before, after))
    difference = head_norms(before, [second - first for first, second in zip(mine, theirs, strict=True)])
    length = head_norms(before, mine).numpy()
    return np.divide(difference.numpy(), length, out=np.full(length.shape, np.nan), where=length > 0)
