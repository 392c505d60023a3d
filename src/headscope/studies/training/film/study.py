"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope import results
from headscope.corpora.tasks import Task
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import ComparedCorpus, StepLoading, Steps, StudyResults
from headscope.results.variables import Count, Variables, by_layer
from headscope.results.vocabulary import OFFSETS, TOKEN_CLASSES
from headscope.statistics.intervals import ONE_UNIT, interval
from headscope.studies.training.film import STUDY
from headscope.studies.training.film.main_numbers import MainNumbers, common_name, stacked
from headscope.studies.training.film.reading import LAYER_SIMILARITY, SIMILARITY, StepReader, StepScores
from headscope.training.steps import StepModels, step_models

# Smaller changes are rounding.
SAME = 1e-5
NAMES = {"attention_to": ("token_class",), "attention_offset": ("offset",), "entropy": ()}


def run(
    steps: Steps,
    corpus: ComparedCorpus,
    settings: Settings = DEFAULTS,
    *,
    loading: StepLoading,
    task: Task | None = None,
    studies: StudyResults | None = None,
    maps: bool = True,
) -> xr.Dataset:
    """Read the attention of a model at each step of its training, beside its start, in one pass a step.

    Arguments:

    * `steps`: Follow the kept steps of this folder of a fine-tuning, or these models in their order, the start first:
      folders, or revisions of a hub model as `MODEL@REVISION`.
    * `corpus`: Read attention on this text.
    * `loading`: Set the device, the dtype, the revision and remote code of the models.
    * `task`: Score each step on this task.
    * `studies`: Also show the main numbers of these studies at each step, separated by commas: profile, patterns,
      syntax, relations, coreference, geometry, trees.
    * `maps`: Keep the attention maps of one typical input at each step, for the atlas.

    Raises `HeadscopeError` if there are no steps, the models cannot be compared or scored, no example fits, or a study
    cannot be shown.
    """
    opened = step_models(steps, loading, head=task is not None)
    later = range(1, len(opened.numbers))
    examples = (task.dev.n_examples if task else 0) + (corpus.n_examples if studies else 0)
    settings.on_total(len(later) * corpus.n_examples + len(opened.numbers) * examples)
    if settings.journal:  # a pass that is done stays so, until the result is written
        run_of = {**settings.journal.run, "steps": " ".join(opened.hashes)}
        settings = replace(settings, journal=replace(settings.journal, run=run_of, kept=True))
    settings = replace(settings, keep_interrupted=False)
    attributes = provenance("film", opened.start, corpus, settings)
    reader, scores = StepReader(opened.start, corpus, settings, maps=maps), StepScores(task, settings)
    others = MainNumbers(studies, corpus, settings)
    for index in range(len(opened.numbers)):
        model = opened.open(index) if index else opened.start
        if index:
            reader.read(model)
        scores.add(model)
        others.add(model)
    variables = to_variables(opened.numbers, task.metrics if task else (), reader, scores)
    variables |= of_other_studies(opened.numbers, others, opened.start.capture.heads)
    attributes |= _named(opened, task) | reader.attributes
    return results.check(xr.Dataset(variables | reader.coverage, attrs=attributes))


def _named(steps: StepModels, task: Task | None) -> dict[str, str]:
    """The models of the steps, and the task."""
    names = dict(zip(map(str, steps.numbers), steps.names, strict=True))
    title = f"{steps.title} → step {steps.numbers[-1]}"
    return {"model": title, "compared": json.dumps(names)} | ({"task": task.name} if task else {})


def to_variables(
    numbers: Sequence[int], metrics: Sequence[str], reader: StepReader, scores: StepScores
) -> dict[str, xr.DataArray]:
    """The variables of the steps that were read; `numbers` are theirs, 0 for the start."""
    coords = {"step": list(numbers), "token_class": TOKEN_CLASSES, "offset": OFFSETS, "metric": list(metrics)}
    variables = Variables(coords, STUDY.source, STUDY.labels)
    for name in (SIMILARITY, LAYER_SIMILARITY, *NAMES):
        count = Count(reader.counts[name], f"examples with {name}", dims=NAMES.get(name, ()))
        values, bounds = (np.stack(kept[name]) for kept in (reader.values, reader.bounds))
        variables.add(f"step_{name}", values, interval=bounds, count=count)
    for name, of_steps in reader.weights.items():
        variables.add({"layer": "step_weight_change", "head": "step_head_weight_change"}[name], np.stack(of_steps))
    if scores.values:
        values, bounds = np.stack(scores.values), np.stack(scores.bounds)
        variables.add("step_score", values, interval=bounds, count=scores.n_examples)
    _add_moments(variables, np.array(numbers) / numbers[-1], reader)
    return variables.arrays | _maps(numbers, reader)


def of_other_studies(numbers: Sequence[int], others: MainNumbers, heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    """The main numbers of other studies at the steps of these `numbers`.

    * `heads`: number of heads of each layer.
    """
    variables = {}
    keys, values = stacked(others.heads, {"layer": len(heads), "head": max(heads)})
    if keys:
        names = {"main_number": [common_name(others.names[key]) for key in keys]}
        units = {"number_unit": ("main_number", [others.units[key] for key in keys])}
        arrays = _of_numbers("step_number", numbers, names, values)
        variables |= {name: array.assign_coords(units) for name, array in arrays.items()}
    keys, values = stacked(others.layers, {"layer": len(heads)})
    return variables | (_of_numbers("step_layer_number", numbers, {"layer_number": keys}, values) if keys else {})


def _of_numbers(
    variable: str, numbers: Sequence[int], names: dict[str, list[str]], values: np.ndarray
) -> dict[str, xr.DataArray]:
    """A variable with its interval, from values and bounds along the last axis."""
    coords = {"step": list(numbers), **names}
    variables = Variables(coords, STUDY.source, STUDY.labels, interval="95% interval of")
    variables.add(variable, values[..., 0], interval=values[..., 1:])
    return variables.arrays


def _add_moments(variables: Variables, shares: np.ndarray, reader: StepReader) -> None:
    """When half of each change was there, in the corpus and in its resamples."""
    halves = {name: half_change(np.stack(of_steps), shares) for name, of_steps in reader.changes.items()}
    count = int(reader.counts[SIMILARITY])
    layers, heads = halves[LAYER_SIMILARITY], halves[SIMILARITY]
    order = order_of_layers(layers)
    variables.add("half_change", layers[0], interval=_interval(layers, reader.units), count=count)
    bounds = by_layer(_interval(heads, reader.units), reader.heads)
    variables.add("half_change_of_head", by_layer(heads[0], reader.heads), interval=bounds, count=count)
    if np.isfinite(order[0]):
        variables.add("order_of_layers", order[0], interval=_interval(order, reader.units), count=count)


def _maps(numbers: Sequence[int], reader: StepReader) -> dict[str, xr.DataArray]:
    """The maps of one input at each step, as those of the atlas, whose inputs are then the steps."""
    if not reader.maps[0]:
        return {}
    places = {"typical_input": [f"step {number}" for number in numbers]}
    places |= {"typical_step": ("typical_input", np.array(numbers))}
    variables = {}
    for name, last in reader.maps[-1].items():
        values = np.concatenate([one[name].values for one in reader.maps])
        same = {key: (coord.dims, _at_each(coord, len(numbers))) for key, coord in last.coords.items()}
        variables[name] = xr.DataArray(values, {**same, **places}, last.dims, attrs=last.attrs)
        variables[name].encoding = last.encoding
    return variables


def _at_each(coord: xr.DataArray, steps: int) -> np.ndarray:
    """The values of a coordinate of the maps of one step, for all steps."""
    return np.repeat(coord.values, steps, axis=0) if "typical_input" in coord.dims else coord.values


def _interval(draws: np.ndarray, units: float) -> np.ndarray:
    """The interval of a number from its values in the resamples, which follow that in the corpus."""
    bounds = interval(draws[1:], units)
    return np.full_like(bounds, np.nan) if units < ONE_UNIT else bounds


def half_change(
    changes: Float[np.ndarray, "step *dims"], shares: Float[np.ndarray, " step"]
) -> Float[np.ndarray, "*dims"]:
    """The share of the steps at which half of the last step's change was first there; between steps on a straight line.

    NaN where nothing has changed.

    * `changes`: of each step, 0 at the first; `shares`: the share of the training that each step ends, from 0 to 1.

    >>> half_change(np.array([[0.0, 0.0], [0.1, 0.4], [0.2, 0.4]]), np.array([0.0, 0.5, 1.0])).tolist()
    [0.5, 0.25]
    """
    goal = changes[-1] / 2
    after = np.maximum((changes >= goal).argmax(0), 1)
    low, high = (np.take_along_axis(changes, at[None], 0)[0] for at in (after - 1, after))
    width = np.where(high > low, high - low, 1.0)
    first, last = shares[after - 1], shares[after]
    return np.where(changes[-1] > SAME, first + (goal - low) / width * (last - first), np.nan)


def order_of_layers(halves: Float[np.ndarray, "draw layer"]) -> Float[np.ndarray, " draw"]:
    """The correlation of the number of a layer with when half of its change was there.

    Below 0 where upper layers change earlier. NaN with fewer than three layers, and where all changed together.

    >>> order_of_layers(np.array([[0.6, 0.5, 0.4], [0.4, 0.4, 0.4]])).round(3).tolist()
    [-1.0, nan]
    """
    layers = np.arange(halves.shape[-1], dtype=float)
    if len(layers) < 3:
        return np.full(halves.shape[:-1], np.nan)
    x, y = layers - layers.mean(), halves - halves.mean(-1, keepdims=True)
    length = np.sqrt((x**2).sum() * (y**2).sum(-1))
    return np.divide((x * y).sum(-1), length, out=np.full(length.shape, np.nan), where=length > SAME)
