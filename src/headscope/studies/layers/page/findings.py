"""Findings of `layers`: which layer knows what, beside baselines, random weights and control tasks."""

import json
from collections.abc import Iterator
from math import isnan

import numpy as np
import xarray as xr

from headscope.report.claims import POINT, Claim, apart, paired, together, weakest, witness
from headscope.report.parts import Finding
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.wording import Estimate, number, rate, several
from headscope.statistics.significance import RATE, enough
from headscope.studies.layers.page.tables import TaskSummary, centres, tasks


def highlights(result: xr.Dataset) -> list[Finding]:
    """The gain of layers on the embeddings, the fall at the end, random weights, and the tasks by layer.

    Tasks of fewer than 50 tested cases are left out where there are others: their scores are mostly chance.
    """
    summaries = _complete(result)
    summaries = [task for task in summaries if enough(task.cases)] or summaries
    if not summaries:
        return [*_incomplete(result)]
    return [*_gains(summaries), *_falls(result, summaries), *_random(result, summaries), *_order(result, summaries)]


def findings(result: xr.Dataset) -> list[Finding]:
    """All tasks with their intervals and tests, then controls, codes, mixes, and limits."""
    summaries = _complete(result)
    return [
        *map(_finding, summaries),
        *_incomplete(result),
        *_without_gain(summaries),
        *_selectivity(result, summaries),
        *_compression(result, summaries),
        *_mixes(result, summaries),
        *_concentration(result, summaries),
        *_rare(summaries),
        *_lost(summaries),
        *_limits(result),
    ]


def _complete(result: xr.Dataset) -> list[TaskSummary]:
    return [task for task in tasks(result) if task.complete]


def _incomplete(result: xr.Dataset) -> Iterator[Finding]:
    names = [task.words for task in tasks(result) if not task.complete]
    if names:
        yield Finding("Without a score", f"The result has no score, or no baseline, of {', '.join(names)}.")


def _order(result: xr.Dataset, summaries: list[TaskSummary]) -> Iterator[Finding]:
    places = centres(result)
    some = sorted((places[task.name], task.words) for task in summaries if task.name in places)
    if len(some) > 1:
        (low, first), (high, last) = some[0], some[-1]
        text = (
            f"By the weights of a mix of all layers, tasks lie from layer {low:.1f} ({first}) to {high:.1f} ({last})."
        )
        yield Finding("Centres of gravity", text)


def _gains(summaries: list[TaskSummary]) -> Iterator[Finding]:
    claims = [*map(_gain, summaries)]
    task, claim, count = _clearest(summaries, claims)
    yield Finding.judged(
        claim,
        f"{_upper(task)}: {_share(task, task.score)} in layer {task.layer}, {_share(task, task.embeddings)} in the "
        f"embeddings; {task.gain.points} points{_corrected(claim, summaries)}.",
        holds=f"Layers add to the embeddings for {several(count, 'task')} of {len(summaries)}",
        fails="Layers add nothing to the embeddings",
        undecided="It cannot be told whether layers add to the embeddings",
        unit="cases",
    )


def _gain(task: TaskSummary) -> Claim:
    return Claim(task.score.value, task.embeddings.value, task.gain, _n(task), task.q, POINT)


def _falls(result: xr.Dataset, summaries: list[TaskSummary]) -> Iterator[Finding]:
    """The fall from the chosen layer to the last, of tasks to which layers add: of others there is little to lose."""
    last = result.sizes["layer"]
    earlier = [task for task in summaries if task.layer < last and _gain(task).verdict == "holds"]
    if not earlier:
        return
    claims = together([Claim(task.score.value, task.last.value, task.fall, _n(task), least=POINT) for task in earlier])
    task, claim, count = _clearest(earlier, claims)
    of_tasks = several(len(earlier), "task") + " to which layers add"
    yield Finding.judged(
        claim,
        f"{_upper(task)}: {_share(task, task.score)} in layer {task.layer}, {_share(task, task.last)} in the last; "
        f"{(-task.fall).points} points{_corrected(claim, earlier)}.",
        holds=f"The last layer is worse for {count} of {of_tasks}",
        fails="The last layer is as good as the others",
        undecided="It cannot be told whether the last layer is worse",
        unit="cases",
    )


def _clearest(summaries: list[TaskSummary], claims: list[Claim]) -> tuple[TaskSummary, Claim, int]:
    """The task that decides whether the claim holds of any, its claim, and of how many it holds."""
    first = witness(claims)
    return summaries[first], claims[first], sum(claim.verdict == "holds" for claim in claims)


def _n(task: TaskSummary) -> int:
    """What an interval rests on: cases of one sentence are not independent."""
    return min(task.cases, task.sentences)


def _upper(task: TaskSummary) -> str:
    return task.words[:1].upper() + task.words[1:]


def _corrected(claim: Claim, summaries: list[TaskSummary]) -> str:
    return "" if isnan(claim.q) else f" (q {rate(claim.q)}, Benjamini-Hochberg over {several(len(summaries), 'task')})"


def _random(result: xr.Dataset, summaries: list[TaskSummary]) -> Iterator[Finding]:
    """The task that is nearest to random weights, in their best layer."""
    if "score_random" not in result:
        return
    by_seed = result["score_random_by_seed"]
    random = {task.name: by_seed.sel(task=task.name).max("layer").values for task in summaries}
    summaries = [task for task in summaries if np.isfinite(random[task.name]).all()]
    if summaries:
        least = min(summaries, key=lambda task: task.score.value - random[task.name].mean())
        scores = random[least.name]
        text = f"{_upper(least)}: {_bare(least.score.value)}, with random weights {_bare(scores.mean())}."
        n = _n(least)
        beside = apart(least.score, least.majority, n), paired(least.score, least.embeddings, least.gain, n)
        yield beside_random_seeds("What the layers know", least.score, scores.tolist(), weakest(beside), text, "cases")


def _finding(task: TaskSummary) -> Finding:
    unit = {"variance": "R²", "cases": "right"}.get(task.unit, "F1")
    tested = "" if np.isnan(task.q) else f" Gain: {task.gain.points} points, q {rate(task.q)}."
    return Finding(
        _upper(task),
        f"Layer {task.layer}: {task.score.percent} {unit}; embeddings {task.embeddings.percent}, "
        f"{'mean' if task.unit == 'variance' else 'most frequent answer'} {_bare(task.majority.value)}.{tested}",
    )


def _without_gain(summaries: list[TaskSummary]) -> Iterator[Finding]:
    names = [task.words for task in summaries if not task.q < RATE]
    if names:
        yield Finding("Gain not shown", f"Not above the embeddings at 5% false discoveries: {', '.join(names)}.")


def _selectivity(result: xr.Dataset, summaries: list[TaskSummary]) -> Iterator[Finding]:
    if "selectivity" not in result:
        return
    parts = []
    for task in summaries:
        where = {"task": task.name, "layer": task.layer}
        value, control = (float(result[name].sel(where)) for name in ("selectivity", "control"))
        if np.isfinite(value) and np.isfinite(control):
            parts.append(f"{task.words} {number(100 * value, '+.0f')} ({_bare(control)})")
    if parts:
        text = "Points above a control task, in which each word has a random answer (its score in brackets): "
        yield Finding("Selectivity", f"{text}{', '.join(parts)}.")


def _compression(result: xr.Dataset, summaries: list[TaskSummary]) -> Iterator[Finding]:
    if "compression" not in result:
        return
    parts = []
    for task in summaries:
        values = result["compression"].sel(task=task.name)
        first = float(result["compression_embeddings"].sel(task=task.name))
        if bool(values.notnull().all()) and np.isfinite(first):
            top = int(values["layer"][int(values.argmax("layer"))])
            parts.append(f"{task.words} {float(values.max()):.1f} in layer {top} (embeddings {first:.1f})")
    if parts:
        yield Finding("Online code", f"Answers are shorter by this factor than a uniform code: {', '.join(parts)}.")


def _mixes(result: xr.Dataset, summaries: list[TaskSummary]) -> Iterator[Finding]:
    places = centres(result)
    parts = [f"{task.words} {places[task.name]:.2f}" for task in summaries if task.name in places]
    if parts:
        yield Finding("Centre of gravity", f"Mean layer by the weights of a scalar mix: {', '.join(parts)}.")


def _concentration(result: xr.Dataset, summaries: list[TaskSummary]) -> Iterator[Finding]:
    if "mix_concentration" not in result:
        return
    values = result["mix_concentration"].dropna("task")
    parts = [
        f"{task.words} {float(values.sel(task=task.name)):.2f}" for task in summaries if task.name in values["task"]
    ]
    if parts:
        most = np.log(result.sizes["space"])
        text = f"Divergence of the weights of a mix from equal ones, in nats (0 if equal, {most:.2f} for one layer): "
        depends = "It grows the longer a mix is trained: it compares tasks of one run, and no run with another."
        yield Finding("Concentration of the mix where its training stopped", f"{text}{', '.join(parts)}. {depends}")


def _rare(summaries: list[TaskSummary]) -> Iterator[Finding]:
    parts = [f"{task.words} {task.rare:,} of {task.cases:,}" for task in summaries if task.rare]
    if parts:
        yield Finding(
            "Rare answers",
            f"Tested cases whose answer has fewer than 5 training cases count as wrong: {', '.join(parts)}.",
        )


def _lost(summaries: list[TaskSummary]) -> Iterator[Finding]:
    parts = [f"{task.words} {task.lost:,}" for task in summaries if task.lost]
    if parts:
        text = "Cases left out, since a span has no token in the part of the text that the model reads: "
        yield Finding("Without a token", f"{text}{', '.join(parts)}.")


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


def _share(task: TaskSummary, score: Estimate) -> str:
    return f"{_bare(score.value)} of the {task.unit}"


def _bare(value: float) -> str:
    return f"{number(100 * value, '.0f')}%"
