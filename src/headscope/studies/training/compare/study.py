"""Run the study: from its options to a labelled result."""

from typing import Annotated

import xarray as xr

from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError
from headscope.measures import SURFACE
from headscope.measures.comparisons.padded_similarity import PADDED_TO
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.settings import ComparedCorpus
from headscope.ranges import Range
from headscope.results import check
from headscope.studies.training.compare.layer_weights import refuse_unless_scored, restored_scores, weight_changes
from headscope.studies.training.compare.measure import compare

COMPARISONS = ("similarity", "js_divergence")


def run(
    models: tuple[Model, ...],
    corpus: ComparedCorpus,
    settings: Settings = DEFAULTS,
    *,
    task: Task | None = None,
    restore: Annotated[int, Range(0, 1000)] = 0,
    restore_embeddings: bool = False,
    as_coded: bool = False,
) -> xr.Dataset:
    """Compare each later model with the first, in one pass; each mean has a 95% interval.

    Arguments:

    * `models`: Compare the first model with each of the others; with a `task` they need a head for it.
    * `corpus`: Read attention on this text.
    * `settings`: Set the seed, the batch size, the resamples and the progress.
    * `task`: Score the later models on this task.
    * `restore`: Score with the lowest 0 to K layers restored from the first model.
    * `restore_embeddings`: Restore the embeddings together with layer 1.
    * `as_coded`: Add the cosine of maps padded to 200 tokens, as in the paper's released code.

    Raises `HeadscopeError` if the models cannot be compared or scored, layers are restored in a model that
    is spread over devices, or no example fits into them.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run((load("minilm"), load("minilm")), read("sample", Options(limit=2)))
    >>> dict(result["similarity"].sizes), float(result["similarity"].min().round(5))
    ({'model': 1, 'layer': 6, 'head': 12}, 1.0)
    """
    if restore and task is None:
        raise HeadscopeError("restore needs a task; name it with --task NAME --data FOLDER")
    for model in models if restore else ():
        model.refuse_spread("given the layers of another")
    if task:
        refuse_unless_scored(models, task, restore)
        settings.on_total(corpus.n_examples + (len(models) - 1) * (restore + 1) * task.dev.n_examples)
    comparisons, pad_to = COMPARISONS, 0
    if as_coded:
        _refuse_short(models)
        comparisons, pad_to = (*COMPARISONS, "padded_similarity"), PADDED_TO
    result = compare("compare", models, corpus, SURFACE, comparisons, settings, pad_to=pad_to)
    result = result.assign(weight_changes(models, result))
    if task and "interrupted" not in result.attrs:
        return _with_scores(result, models, task, restore, settings, restore_embeddings)
    return result


def _refuse_short(models: tuple[Model, ...]) -> None:
    for model in models:
        if model.max_tokens < PADDED_TO:
            raise HeadscopeError(
                f"model '{model.name}' has at most {model.max_tokens} tokens, the released code pads to {PADDED_TO}; "
                "leave out --as-coded"
            )


def _with_scores(
    result: xr.Dataset, models: tuple[Model, ...], task: Task, layers: int, settings: Settings, embeddings: bool
) -> xr.Dataset:
    """Add the scores of the task, unless Ctrl-C comes first."""
    names = result["model"].values.tolist()
    attributes = {"task": task.name, "restored_embeddings": str(embeddings)}
    try:
        scores = restored_scores(models, names, task, layers, settings, embeddings=embeddings)
    except KeyboardInterrupt:
        if not settings.keep_interrupted:
            raise
        return result.assign_attrs(interrupted=f"before {task.name} was scored")
    return check(result.assign(scores).assign_attrs(attributes))
