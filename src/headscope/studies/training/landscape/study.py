"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
import xarray as xr
from jaxtyping import Float
from torch import nn

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import sample
from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError
from headscope.models import Model, load
from headscope.outputs.label_order import in_model_order
from headscope.outputs.losses import losses
from headscope.outputs.task_inputs import TaskInputs, task_inputs
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import Loading, ModelName
from headscope.ranges import Range
from headscope.results.variables import Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval
from headscope.studies.training.landscape import STUDY
from headscope.studies.training.landscape.walk import Walk, mean_interval, weights_of
from headscope.training import initial
from headscope.training.beginning import RunEnvironment, run_environment
from headscope.training.loop import outputs_for

# Distances that are tried before halving, in parts of the radius.
TRIED = 8


@dataclass(frozen=True)
class Landscape:
    """The losses along the line and over the plane of a model, and the width of each direction."""

    line: Float[np.ndarray, "position example"]
    plane: Float[np.ndarray, "step step"]
    widths: Float[np.ndarray, " direction"]


@dataclass(frozen=True, kw_only=True)
class LossGrid:
    """The points at which the loss is computed.

    * `beyond`: Follow the line this far before its start and after its end, in lengths of the line.
    * `positions`: Compute the loss at this number of points of the line, and at its start and its end.
    * `directions`: Measure the width along this number of random directions.
    * `rise`: Measure how far one can go until the loss has risen by this much.
    * `radius`: Go this far at most, in lengths of the filters.
    * `plane`: Compute the loss at this number of steps along each of two directions.
    """

    beyond: Annotated[float, Range(0, 10)] = 0.5
    positions: Annotated[int, Range(2, 1001)] = 17
    directions: Annotated[int, Range(2, 1000)] = 10
    rise: Annotated[float, Range(1e-4, 1000)] = 0.1
    radius: Annotated[float, Range(1e-3, 1000)] = 1.0
    plane: Annotated[int, Range(1, 101)] = 7

    @property
    def line(self) -> Float[np.ndarray, " position"]:
        """The points of the line: the start and the end of the training are among them, however few there are."""
        return np.unique(np.round([0, *np.linspace(-self.beyond, 1 + self.beyond, self.positions), 1], 9))

    @property
    def steps(self) -> Float[np.ndarray, " step"]:
        """The steps along each direction of the plane."""
        return np.linspace(-self.radius, self.radius, self.plane)

    @property
    def stages(self) -> int:
        """The number of points and directions, as progress counts them."""
        return len(self.line) + self.plane**2 + self.directions

    def measured(self, walk: Walk, settings: Settings) -> Landscape:
        """The losses of a walk and the widths of its directions, the first two of which are those of the plane."""
        line = walk.along(self.line)
        settings.on_progress(len(line))
        plane = walk.plane((settings.seed, settings.seed + 1), self.steps)
        settings.on_progress(plane.size)
        widths, distances = [], self.radius * np.arange(1, TRIED + 1) / TRIED
        for number in range(self.directions):
            widths.append(walk.width(settings.seed + number, self.rise, distances))
            settings.on_progress(1)
        return Landscape(line, plane, np.array(widths))


def run(  # noqa: PLR0913 (each is an option of the command)
    checkpoint: ModelName,
    tasks: tuple[Task, ...],
    settings: Settings = DEFAULTS,
    *,
    loading: Loading,
    tuned: str | None = None,
    random: str | None = None,
    split: Literal["train", "dev"] = "train",
    loss_examples: Annotated[int, Range(1, 10_000)] = 64,
    max_tokens: Annotated[int, Range(1, 1_000_000)] = 128,
    grid: LossGrid = LossGrid(),
) -> xr.Dataset:
    """Measure the loss around a fine-tuned model, and around one that was trained from random weights.

    The loss is that of a sample of the task's examples, without dropout: cross entropy, or the squared error of scores.

    Arguments:

    * `checkpoint`: Name the encoder that both were trained from: a Hugging Face id, a folder, or minilm.
    * `tasks`: Compute the loss on this task, which both were trained on.
    * `settings`: Set the seed, which is that of the trainings and of the directions, the batch size, the resamples and
      the progress.
    * `loading`: Set the device, the revision and remote code of the encoder.
    * `tuned`: Name the folder of the fine-tuned model.
    * `random`: Name the folder of the model that was trained from random weights.
    * `split`: Compute the loss on train, from which the training drew its examples, or on dev.
    * `loss_examples`: Compute the loss on this number of examples, drawn at random.
    * `max_tokens`: Shorten longer inputs to this number of tokens.
    * `grid`: Where the loss is computed.

    Raises `HeadscopeError` if no model is named, several tasks are, or the weights of a model and of its start differ.

    >>> run("minilm", (), loading={})
    Traceback (most recent call last):
    headscope.errors.HeadscopeError: 0 tasks are named; name one by --task
    """
    if len(tasks) != 1:
        raise HeadscopeError(f"{len(tasks)} tasks are named; name one by --task")
    named = {init: folder for init, folder in (("finetuned", tuned), ("random", random)) if folder}
    if not named:
        raise HeadscopeError("no trained model is named; name its folder by --tuned")
    (task,) = tasks
    available = task.training() if split == "train" else task.dev
    corpus = sample(available, min(loss_examples, available.n_examples), settings.seed)
    environment = run_environment(checkpoint, Path(), **loading)
    settings.on_total(len(named) * grid.stages)
    ends = {init: _end(folder, task, environment) for init, folder in named.items()}
    reader, measured = next(iter(ends.values())), {}
    read = task_inputs(reader, task, corpus, settings.seed, max_tokens)
    for init, end in ends.items():
        examined = TaskLosses(replace(read, model=end), torch.from_numpy(task.targets(corpus)), settings)
        start = initial(environment.checkpoint, task, init, settings.seed, remote_code=environment.remote_code)
        nn.Module.to(start.network, environment.device)
        walk = Walk(end.network, weights_of(start.network), weights_of(end.network), examined)
        measured[init] = grid.measured(walk, settings)
    origin = environment.checkpoint
    model = replace(reader, name=origin.name, revision=origin.revision, sha256=environment.sha256, files=())
    attributes = provenance("landscape", model, corpus, settings) | {
        "n_examples": corpus.n_examples,
        "n_tokens": sum(map(len, read.inputs)),
        "skipped": json.dumps(read.cut),
        "recipe": json.dumps(
            {"task": task.name, "split": split, "rise": grid.rise, "radius": grid.radius}
            | {"trained": {init: {"name": end.name, "sha256": end.sha256} for init, end in ends.items()}}
        ),
    }
    return results.check(to_variables(measured, grid, corpus, settings).assign_attrs(attributes))


@dataclass(frozen=True)
class TaskLosses:
    """The loss of each example of a task, of words by token, for the weights that the model has at the moment."""

    inputs: TaskInputs
    targets: torch.Tensor
    settings: Settings

    def __call__(self) -> Float[np.ndarray, " example"]:
        outputs = outputs_for(self.inputs, self.inputs.model, self.settings.quiet)
        if self.inputs.masked_pieces:
            return outputs[:, 0].astype(float) / outputs[:, 1].clip(min=1)
        return losses(self.inputs.task.kind, torch.from_numpy(outputs), self.targets).double().numpy()


def _end(folder: str, task: Task, environment: RunEnvironment) -> Model:
    """A trained model with its classifier.

    Raises `HeadscopeError` if its labels are not those of the task.
    """
    remote_code = environment.remote_code
    end = load(folder, head=True, device=str(environment.device), remote_code=remote_code)
    if in_model_order(task, end).labels != task.labels:
        raise HeadscopeError(f"model '{folder}' has the labels of task '{task.name}' in another order; name another")
    return end


def to_variables(measured: Mapping[str, Landscape], grid: LossGrid, corpus: Corpus, settings: Settings) -> xr.Dataset:
    """The result's variables; intervals of losses are those over examples, of widths those over directions."""
    coords = {
        "init": list(measured),
        "position": grid.line.tolist(),
        "first_step": grid.steps.tolist(),
        "second_step": grid.steps.tolist(),
        "direction_number": list(range(1, grid.directions + 1)),
    }
    variables, landscapes = Variables(coords, STUDY.source, STUDY.labels), list(measured.values())
    draws = poisson_draws(corpus.units, settings.seed, settings.resamples)
    drawn = draws.sum(1, keepdims=True)
    shares = np.divide(draws, drawn, out=np.full(draws.shape, np.nan), where=drawn > 0)
    units = equal_units(corpus.units)
    bounds = [interval(shares @ landscape.line.T, units) for landscape in landscapes]
    count = corpus.n_examples
    variables.add("line_loss", [landscape.line.mean(1) for landscape in landscapes], interval=bounds, count=count)
    variables.add("plane_loss", [landscape.plane for landscape in landscapes])
    widths = [mean_interval(landscape.widths) for landscape in landscapes]
    variables.add("width", [landscape.widths.mean() for landscape in landscapes], interval=widths)
    variables.add("direction_width", [landscape.widths for landscape in landscapes])
    return xr.Dataset(variables.arrays)
