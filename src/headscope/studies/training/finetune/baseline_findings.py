"""Findings of simple models: whether fine-tuning beats them, and whether one sentence of a pair is enough."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.claims import paired
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, estimate, number
from headscope.studies.training.finetune.main_scores import chance_of, corrected, main_metric, names, scores_of, starts

ALONE = ("first sentence", "second sentence")
NAMES = {
    "bag of words": "a bag of words",
    "pairs of words": "pairs of words",
    "first sentence": "the first sentence alone",
    "second sentence": "the second sentence alone",
    "mean embeddings": "the mean of the embeddings",
}


def against_baselines(numbers: Numbers) -> Iterator[Finding]:
    """The fine-tuned model of each task against the simple model that it beats least surely.

    It is above all of them only if it is surely above that one.
    """
    for task in names(numbers.result):
        if "finetuned" in starts(scores_of(numbers.result, task)):
            yield from _against(numbers.result, task)


def _against(result: xr.Dataset, task: str) -> Iterator[Finding]:
    where = {"task": task, "metric": main_metric(result, task), "init": "finetuned"}
    all_gains = {
        name: estimate(result, "baseline_gain", baseline=name, **where) for name in simple_models(result, task)
    }
    if not all_gains:
        return
    hardest = min(all_gains, key=lambda name: all_gains[name].lower)
    gain, score = all_gains[hardest], estimate(result, "score", **where)
    simple = estimate(result, "baseline_score", task=task, metric=where["metric"], baseline=hardest)
    n = int(result["baseline_gain_n_examples"].sel(where | {"baseline": hardest}))
    yield Finding.judged(
        paired(score, simple, gain, n),
        f"{where['metric'].capitalize()} {number(score.value)} after fine-tuning, {simple.text} of "
        f"{NAMES.get(hardest, hardest)}: difference {gain.signed} on the same examples.",
        holds=f"{task}: above all simple models",
        fails=f"{task}: no better than {NAMES.get(hardest, hardest)}",
        undecided=f"{task}: not clearly better than {NAMES.get(hardest, hardest)}",
        unit="examples",
    )


def one_sentence(numbers: Numbers) -> Iterator[Finding]:
    """The sentence of a pair that says more by itself, beside a constant answer (Gururangan et al. 2018)."""
    result = numbers.result
    for task in names(result):
        metric, chance = main_metric(result, task), chance_of(result, task)
        alone = {name: _score(result, task, metric, name) for name in ALONE if name in simple_models(result, task)}
        if alone and chance == chance:
            best = max(alone, key=lambda name: alone[name].value)
            n = int(result["baseline_score_n_examples"].sel(task=task, metric=metric, baseline=best))
            words = NAMES[best].removesuffix(" alone")
            yield Finding.judged(
                corrected(alone[best], chance, n, len(alone)),
                f"{metric.capitalize()} {alone[best].text} from {words}, without the other one; always giving the same "
                f"answer scores {number(chance)}.",
                holds=f"{task}: {words} alone tells part of the answer",
                fails=f"{task}: one sentence alone tells nothing",
                undecided=f"{task}: one sentence alone tells nothing for sure",
                unit="examples",
            )


def simple_models(result: xr.Dataset, task: str) -> list[str]:
    """The simple models that a task has scores of."""
    scores = result["baseline_score"].sel(task=task, metric=main_metric(result, task))
    return [str(name) for name in scores["baseline"].values[np.isfinite(scores.values)]]


def _score(result: xr.Dataset, task: str, metric: str, name: str) -> Estimate:
    return estimate(result, "baseline_score", task=task, metric=metric, baseline=name)
