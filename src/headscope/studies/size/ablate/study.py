"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from headscope import results
from headscope.ablation.sweep import Sweep, sweep
from headscope.corpora.tasks import Task
from headscope.corpora.tasks.shortcuts import judge_of
from headscope.corpora.tasks.task import RIGHT_OR_WRONG, WITHOUT_GRADIENTS, limited
from headscope.errors import HeadscopeError, suggest
from headscope.models import Model
from headscope.models.config import query_group
from headscope.models.heads import name, parse
from headscope.outputs.gradient_importance import importance as by_gradient
from headscope.outputs.label_order import in_model_order
from headscope.outputs.task_inputs import task_inputs
from headscope.outputs.words.item_inputs import ItemInputs, item_inputs
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import Directory, PassJournal
from headscope.studies.size.ablate import across_tasks, beside_gates
from headscope.studies.size.ablate.gains import by_phenomenon
from headscope.studies.size.ablate.head_pairs import ALL, ComparedHeads
from headscope.studies.size.ablate.one_head import variables as one_head_variables
from headscope.studies.size.ablate.perturbed import ChangedTexts, by_case
from headscope.studies.size.ablate.variables import LEAST, Effects

# What each kind of task can be scored by; the last is its loss, which tells small changes apart.
METRICS = {
    "classification": ("accuracy", "f1", "macro_f1", "matthews", "cross_entropy"),
    "regression": ("pearson", "spearman", "squared_error"),
    "choice": ("accuracy", "cross_entropy"),
    "masked": ("loss",),
    "words": ("perplexity", "bits_per_character", "loss"),
    "cloze": ("accuracy", "margin"),
    "shortcuts": ("accuracy", "margin"),
}
# Gradients of this many training examples rank the heads as those of all do.
IMPORTANCE_EXAMPLES = 2000
FOLDER = "ablate.passes"  # of what is done


@dataclass(frozen=True, kw_only=True)
class DisabledHeads:
    """Heads that are disabled, and how.

    * `heads`: Set of heads to disable together, as 3-7,4-*; may be repeated.
    * `single`: Disable each head and each layer; else the sets of --heads alone, which takes one pass for each.
    * `mode`: Effect of disabling a head: uniform attention, zero output, or mean output.
    * `unit`: Disable each head by itself, or, with kv, query heads that share keys together: they have one number.
    """

    heads: list[str] | None = None
    single: bool = True
    mode: Literal["uniform", "zero", "mean"] = "uniform"
    unit: Literal["head", "kv"] = "head"


def run(  # noqa: PLR0913 (each is an option of the command)
    model: Model,
    task: Task,
    settings: Settings = DEFAULTS,
    *,
    directory: Directory | None = None,
    disabled: DisabledHeads,
    metrics: str = "",
    importance: bool = True,
    compared: ComparedHeads,
    one_head: bool = False,
    skip_layers: bool = False,
    beside: list[str] | None = None,
    changed: ChangedTexts,
) -> xr.Dataset:
    """`head_score[layer, head, metric]`, `layer_score` and `set_score`, beside the `baseline` with all heads.

    Each has a gain over the baseline, positive where the model is better without, with its paired bootstrap
    interval, and for a classification the p-value of a change of accuracy, alone and corrected for all heads. The
    best head of one half of the examples is tried on the other (`chosen_gain`). What is done is kept in
    `directory/ablate.passes`; the same call goes on from there, and one with other sets or scores computes these.

    With `--task words:CORPUS` the score is the loss of the words of a text: of the next ones by a causal model, of 15%
    of the words, each masked by itself, by a masked one. With `--task cloze:SUITE` an item is right if its good text
    scores higher than the others, and `phenomenon_gain[layer, head, phenomenon]` is the change of the accuracy of each
    phenomenon. With `--task shortcuts`
    a model of inference or paraphrase is scored on pairs for which shortcuts fail, made from templates (after McCoy et
    al. 2019): a phenomenon is a heuristic and whether its pairs are entailed, and `case_score[case]` has all cases.

    Arguments:

    * `model`: Model with a head for the task.
    * `task`: Task to score the model on.
    * `directory`: Folder of the result. Without it nothing is kept.
    * `disabled`: Heads that are disabled, and how.
    * `metrics`: Scores, separated by commas; by default those of the task and its loss.
    * `importance`: Also rank heads by gradient, on training examples.
    * `compared`: Sets of heads that are disabled beside them.
    * `one_head`: Also disable all heads of a layer but one, for each head.
    * `skip_layers`: Also skip each layer: its attention, and its attention with the feed-forward part.
    * `beside`: Folder of an ablate result of another task, or of a shrink result of this model with trained gates,
      whose heads are compared; may be repeated.
    * `changed`: Changed examples that are scored beside those of the task.

    Raises `HeadscopeError` if the model has no head for the task, a name is unknown, or the disk is full.
    """
    counts = model.capture.heads
    changed.refuse_other(task)
    sets = {name(chosen, counts): chosen for chosen in (parse(text, counts) for text in _split(disabled.heads))}
    if not disabled.single and (not sets or compared.heads_of or compared.pairs or one_head or beside):
        raise HeadscopeError(
            "--no-single disables the sets of --heads alone; name one, and leave out what compares single heads "
            "(--heads-of, --pairs, --one-head, --beside)"
        )
    asked = compared.sets(counts, settings.seed)
    beside_it, gates = beside_gates.parted([*map(str, beside or [])], model)
    labels: Any = model.network.config.id2label
    task, scores = in_model_order(task, model, settings), _metrics(metrics, task)
    others = {name: across_tasks.gains_of(name, result, [*scores], counts) for name, result in beside_it.items()}
    read = replace(task, kind="classification") if task.pairs else task
    inputs = item_inputs(model, task.items) if task.items else task_inputs(model, read, task.dev, settings.seed)
    phenomena = [item.phenomenon for item in (inputs.items if isinstance(inputs, ItemInputs) else task.pairs)]
    judged = judge_of(task.pairs, labels, model.name) if task.pairs else None
    kept = _kept(directory, settings)
    shared = query_group(model.network.config, counts) if disabled.unit == "kv" else 1
    how: dict[str, Any] = {"mode": disabled.mode, "single": disabled.single, "alone": one_head, "skipped": skip_layers}
    swept = sweep(inputs, kept("sweep"), sets=[*sets.values(), *asked.sets], together=shared, **how)
    targets = np.ones(len(phenomena)) if phenomena else task.targets(task.dev)
    swept = swept.mapped(inputs.item_scores if isinstance(inputs, ItemInputs) else judged or inputs.by_example)
    named = replace(swept, sets=swept.sets[: len(sets)])
    effects = Effects(named, task, targets, scores, counts, list(sets), settings)
    variables, attributes = effects.variables(), provenance("ablate", model, task.dev, settings)
    variables |= asked.variables(swept.sets[len(sets) :], effects) | _one_head(swept, effects)
    if others:
        variables |= across_tasks.variables(others, effects.single, counts, settings.seed)
    by_estimator: dict[str, xr.DataArray] = {}
    if phenomena and disabled.single:
        variables |= by_phenomenon(swept, phenomena, counts, settings)
        variables |= by_case(swept.plain, task.pairs, settings) if task.pairs else {}
    elif importance and disabled.single and task.kind not in WITHOUT_GRADIENTS:
        corpus = limited(task, IMPORTANCE_EXAMPLES).training() if task.train else task.dev
        by_estimator = by_gradient(model, task, corpus, kept("importance").quiet, shared)
        variables |= by_estimator | effects.rank_correlation(by_estimator["importance"])
        attributes["importance_corpus"] = f"{corpus.name}, {corpus.n_examples:,} examples"
    if gates is not None:
        variables |= beside_gates.variables(gates, effects.single, by_estimator, settings.seed)
    variables |= changed.variables(model, task, swept.plain, settings)
    pairs = "" if not compared.pairs else "any" if compared.pairs == ALL else "alike"
    attributes |= {
        "task": task.name,
        "metrics": ", ".join(task.metrics),
        "mode": disabled.mode,
        "unit": disabled.unit,
        "sweep": swept.strategy,
        "n_examples": len(targets),
        "options": json.dumps({"pairs": pairs, "draws": compared.draws}),
        **({} if phenomena else {"resampled": task.dev.resampled}),
        "n_tokens": sum(map(len, inputs.inputs)),
        "skipped": json.dumps(inputs.left_out if isinstance(inputs, ItemInputs) else inputs.cut),
    }
    return results.check(xr.Dataset(variables, attrs=attributes))


def _one_head(swept: Sweep, effects: Effects) -> dict[str, xr.DataArray]:
    if swept.alone is None or len(effects.targets) < LEAST:
        return {}
    return one_head_variables(swept.alone, effects.gains, effects.heads, effects.task.kind in RIGHT_OR_WRONG)


def _metrics(written: str, task: Task) -> tuple[str, ...]:
    """The scores that are asked for: those named, or the task's own and its loss."""
    choices = METRICS[task.kind]
    names = [metric.strip() for metric in written.split(",")] if written else [*task.metrics, choices[-1]]
    for metric in names:
        if metric not in choices:
            raise HeadscopeError(f"metric '{metric}' does not score a {task.kind} task; {suggest(metric, choices)}")
    return tuple(dict.fromkeys(names))


def _split(heads: list[str] | None) -> list[str]:
    return [part for text in heads or [] for part in text.split(";") if part.strip()]


def _kept(directory: Path | None, settings: Settings) -> Callable[[str], Settings]:
    """The settings of each part of the study: what it has done is kept in a folder of its own, after the end, too."""
    if directory is None:
        return lambda part: settings
    folder = directory / FOLDER
    return lambda part: replace(settings, journal=PassJournal(folder / part, {"study": "ablate"}, kept=True))
