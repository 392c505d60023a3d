"""Run the study: from its options to a labelled result."""

import json
from dataclasses import replace

import xarray as xr

from headscope import results
from headscope.corpora.tasks import Task
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import ComparedCorpus, StepLoading, Steps, StudyResults
from headscope.studies.training.film.main_numbers import MainNumbers
from headscope.studies.training.film.reading import StepReader, StepScores
from headscope.studies.training.film.variables import of_other_studies, to_variables
from headscope.training.steps import StepModels, step_models


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
    * `settings`: Set the seed, the batch size, the resamples and the progress.
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
