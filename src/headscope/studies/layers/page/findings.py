"""Findings of `layers`: which layer knows what, beside baselines, random weights and control tasks."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import Estimate, agree, number, rate, several
from headscope.statistics.thresholds import enough
from headscope.studies.layers.page.summary import TaskSummary, centres, tasks

SIGNIFICANT = 0.05


def highlights(result: xr.Dataset) -> list[Finding]:
    """The order of the tasks by layer, the largest gain of context, the fall at the end, and random weights.

    Tasks of fewer than 50 tested cases are left out where there are others: their scores are mostly chance.
    """
    every = _complete(result)
    every = [each for each in every if enough(each.cases)] or every
    if not every:
        return [*_incomplete(result)]
    return [*_order(result, every), *_largest(every), *_falls(result, every), *_random(result, every)]


def findings(result: xr.Dataset) -> list[Finding]:
    """All tasks with their intervals and tests, then controls, codes, mixes, and limits."""
    every = _complete(result)
    return [
        *map(_finding, every),
        *_incomplete(result),
        *_without_gain(every),
        *_selectivity(result, every),
        *_compression(result, every),
        *_mixes(result, every),
        *_rare(every),
        *_limits(result),
    ]


def _complete(result: xr.Dataset) -> list[TaskSummary]:
    return [task for task in tasks(result) if task.complete]


def _incomplete(result: xr.Dataset) -> Iterator[Finding]:
    names = [task.words for task in tasks(result) if not task.complete]
    if names:
        yield Finding("Without a score", f"The result has no score, or no baseline, of {', '.join(names)}.")


def _order(result: xr.Dataset, every: list[TaskSummary]) -> Iterator[Finding]:
    places = centres(result)
    some = sorted((places[each.name], each.words) for each in every if each.name in places)
    if len(some) > 1:
        (low, first), (high, last) = some[0], some[-1]
        yield Finding(
            "Early and late",
            f"A mix of all layers reads {first} lowest (centre of gravity: layer {low:.1f}), {last} highest (layer "
            f"{high:.1f}).",
        )


def _largest(every: list[TaskSummary]) -> Iterator[Finding]:
    best = max(every, key=lambda each: each.gain.value)
    if best.gain.value > 0 and best.q < SIGNIFICANT:
        yield Finding(
            "Context",
            f"Layers add most to the embeddings for {best.words}: {_share(best, best.score)} in layer {best.layer}, "
            f"{_share(best, best.embeddings)} in the embeddings.",
        )


def _falls(result: xr.Dataset, every: list[TaskSummary]) -> Iterator[Finding]:
    last = result.sizes["layer"]
    lower = [each for each in every if each.layer < last and each.score.value - each.last > 0.01]
    if lower:
        worst = max(lower, key=lambda each: each.score.value - each.last)
        yield Finding(
            "Last layer",
            f"{several(len(lower), 'task')} of {len(every)} {agree(len(lower), 'loses', 'lose')} more than a point "
            f"from their best layer to the last; most is lost by {worst.words} ({_bare(worst.score.value)} to "
            f"{_bare(worst.last)}).",
        )


def _random(result: xr.Dataset, every: list[TaskSummary]) -> Iterator[Finding]:
    if "score_random" in result:
        random = {each.name: float(result["score_random"].sel(task=each.name).max()) for each in every}
        every = [each for each in every if np.isfinite(random[each.name])]
        if not every:
            return
        least = min(every, key=lambda each: each.score.value - random[each.name])
        best = random[least.name]
        yield Finding(
            "Random weights",
            f"The difference to random weights is smallest for {least.words}: {_bare(least.score.value)}, and "
            f"{_bare(best)} with random weights.",
        )


def _finding(each: TaskSummary) -> Finding:
    unit = "R²" if each.is_value else "right"
    tested = "" if np.isnan(each.q) else f" Gain: {each.gain.points} points, q {rate(each.q)}."
    return Finding(
        each.words.capitalize(),
        f"Layer {each.layer}: {each.score.percent} {unit}; embeddings {each.embeddings.percent}, "
        f"{'mean' if each.is_value else 'most frequent answer'} {_bare(each.majority.value)}.{tested}",
    )


def _without_gain(every: list[TaskSummary]) -> Iterator[Finding]:
    names = [each.words for each in every if not each.q < SIGNIFICANT]
    if names:
        yield Finding(
            "No gain", f"The layers are not better than the embeddings at 5% false discoveries: {', '.join(names)}."
        )


def _selectivity(result: xr.Dataset, every: list[TaskSummary]) -> Iterator[Finding]:
    if "selectivity" not in result:
        return
    parts = []
    for each in every:
        place = {"task": each.name, "layer": each.layer}
        value, control = (float(result[name].sel(place)) for name in ("selectivity", "control"))
        if np.isfinite(value) and np.isfinite(control):
            parts.append(f"{each.words} {number(100 * value, '+.0f')} ({_bare(control)})")
    if parts:
        text = "Points above a control task, in which each word has a random answer (its score in brackets): "
        yield Finding("Selectivity", f"{text}{', '.join(parts)}.")


def _compression(result: xr.Dataset, every: list[TaskSummary]) -> Iterator[Finding]:
    if "compression" not in result:
        return
    parts = []
    for each in every:
        values = result["compression"].sel(task=each.name)
        first = float(result["compression_embeddings"].sel(task=each.name))
        if bool(values.notnull().all()) and np.isfinite(first):
            top = int(values["layer"][int(values.argmax("layer"))])
            parts.append(f"{each.words} {float(values.max()):.1f} in layer {top} (embeddings {first:.1f})")
    if parts:
        yield Finding("Online code", f"Answers are shorter by this factor than a uniform code: {', '.join(parts)}.")


def _mixes(result: xr.Dataset, every: list[TaskSummary]) -> Iterator[Finding]:
    places = centres(result)
    parts = [f"{each.words} {places[each.name]:.2f}" for each in every if each.name in places]
    if parts:
        yield Finding("Centre of gravity", f"Mean layer by the weights of a scalar mix: {', '.join(parts)}.")


def _rare(every: list[TaskSummary]) -> Iterator[Finding]:
    parts = [f"{each.words} {each.rare:,} of {each.cases:,}" for each in every if each.rare]
    if parts:
        yield Finding(
            "Rare answers",
            f"Tested cases whose answer has fewer than 5 training cases count as wrong: {', '.join(parts)}.",
        )


def _limits(result: xr.Dataset) -> Iterator[Finding]:
    parts, left_out = json.loads(result.attrs["sentences"]), json.loads(result.attrs["left_out"])
    yield Finding(
        "Limits",
        f"Classifiers are linear. They were trained on {parts['train']:,} sentences; {parts['choose']:,} chose penalty "
        f"and layer, and scores are of {parts['report']:,} others. Information that a classifier reads is no evidence "
        "that the model uses it.",
    )
    if left_out:
        text = "; ".join(f"{name.replace('_', ' ')} ({reason})" for name, reason in left_out.items())
        yield Finding("Left out", f"The corpora do not give these tasks: {text}.")


def _share(each: TaskSummary, score: Estimate) -> str:
    return f"{_bare(score.value)} {'of the variance' if each.is_value else 'of the cases'}"


def _bare(value: float) -> str:
    return f"{number(100 * value, '.0f')}%"
