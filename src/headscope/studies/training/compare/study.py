"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import xarray as xr

from headscope import catalog, results
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.measures import SURFACE
from headscope.measures.comparisons.padded_similarity import PADDED_TO
from headscope.models import Model
from headscope.models.comparable import refuse_unless_comparable, shared_tokenizer
from headscope.models.prediction_heads import adapted_head
from headscope.models.saved_tokenizer import tokenizer_note
from headscope.passes import DEFAULTS, Settings
from headscope.passes.paired_pass import fold_pairs
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.passes.settings import ComparedCorpus
from headscope.ranges import Range
from headscope.results.variables import Variable, label
from headscope.statistics.bootstrap import Tally
from headscope.studies.training.compare import STUDY
from headscope.studies.training.compare.layer_weights import refuse_unless_scored, restored_scores, weight_changes

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
    result = compare(models, corpus, comparisons, settings, pad_to=pad_to)
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
    return results.check(result.assign(scores).assign_attrs(attributes))


def compare(
    models: Sequence[Model],
    corpus: Corpus,
    comparisons: Iterable[str],
    settings: Settings = DEFAULTS,
    *,
    pad_to: int = 0,
) -> xr.Dataset:
    """Compare models in one pass over the corpus.

    Comparisons and differences of measures have the dimension `model`: the later models, by short names.

    * `comparisons`: names of modules in `measures/comparisons`.
    * `pad_to`: pad inputs to at least this number of tokens, which is then also the limit.

    Raises `HeadscopeError` if the models cannot be compared, or no example fits into them.
    """
    refuse_unless_comparable(models)
    first, *later = short_names([model.name for model in models])
    measured = {name: catalog.load("measures", name) for name in SURFACE}
    paired = {name: catalog.load("measures/comparisons", name) for name in comparisons}
    limits = [model.max_tokens for model in models] + ([pad_to] if pad_to else [])
    words = Words(shared_tokenizer(models), min(limits), settings.long)
    attributes = provenance("compare", models[0], corpus, settings) | _named(first, later, models)
    result = fold_pairs(Pass(models[0], corpus, settings, words, pad_to), models[1:], measured, paired)
    for model in models[1:]:
        model.refuse_changed()
    tallies, heads = result.value, models[0].capture.heads
    variables = {}
    for name in paired:
        variables |= _by_model(_comparison(name, later), tallies[name], heads)
        variables |= _by_layer(_comparison(f"layer_{name}", later), tallies[f"layer_{name}"], len(heads))
    for module in measured.values():
        change = _difference(module.VARIABLE, later)
        variables |= _by_model(change, tallies[change.name], heads)
    return results.check(xr.Dataset(variables | result.coverage.variables(), attrs=attributes | result.attributes))


def short_names(names: Sequence[str]) -> list[str]:
    """Shortest distinct endings of paths; equal names are numbered.

    >>> short_names(["google/bert", "out/rte/model", "out/mrpc/model"])
    ['google/bert', 'rte/model', 'mrpc/model']
    >>> short_names(["minilm", "minilm"])
    ['minilm', 'minilm (2)']
    """
    parts = [Path(name).parts for name in names]
    for number in range(1, max(map(len, parts)) + 1):
        short = [str(Path(*part[-number:])) for part in parts]
        if len(set(short)) == len(short):
            return short
    times = [names[: index + 1].count(name) for index, name in enumerate(names)]
    return [name if time == 1 else f"{name} ({time})" for name, time in zip(names, times, strict=True)]


def _named(first: str, later: Sequence[str], models: Sequence[Model]) -> dict[str, str]:
    """Attributes of the compared models; `model_sha256` and the like are of the first."""
    names = [first, *later]
    notes = {
        "adapted_head": [adapted_head(model.network.config) for model in models],
        "tokenizer": [tokenizer_note(model.tokenizer) for model in models],
    }
    said = {
        kind: "; ".join(f"{name}: {note}" for name, note in zip(names, of_models, strict=True) if note)
        for kind, of_models in notes.items()
    }
    return {
        "model": f"{first} → {', '.join(later)}",
        "reference": first,
        "compared": json.dumps({name: model.name for name, model in zip(names, models, strict=True)}),
        "compared_sha256": json.dumps({name: model.sha256 for name, model in zip(names, models, strict=True)}),
        **{kind: text for kind, text in said.items() if text},
        "compared_capture": json.dumps({name: model.capture.method for name, model in zip(names, models, strict=True)}),
    }


def _comparison(name: str, later: Sequence[str]) -> Variable:
    number = STUDY.labels[name]
    return Variable(name, number.what, number.unit, number.source or STUDY.source, {"model": tuple(later)})


def _difference(variable: Variable, later: Sequence[str]) -> Variable:
    """The change of a measure since the first model."""
    return replace(
        variable,
        name=f"difference_{variable.name}",
        long_name=f"change since the first model of {variable.long_name}",
        coords={"model": tuple(later), **variable.coords},
    )


def _by_model(variable: Variable, tally: Tally, heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    return {name: array.transpose("model", ...) for name, array in label(variable, tally, heads).items()}


def _by_layer(variable: Variable, tally: Tally, layers: int) -> dict[str, xr.DataArray]:
    arrays = _by_model(variable, tally, (1,) * layers)
    return {name: array.isel(head=0, drop=True, missing_dims="ignore") for name, array in arrays.items()}
