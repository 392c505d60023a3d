"""The page of `layers`: which layer knows what, beside baselines, random weights and control tasks."""

from collections.abc import Iterator
from functools import partial
from math import isnan

import numpy as np

from headscope.report.claims import POINT, Claim, above, above_random_weights, apart, paired, together, weakest, witness
from headscope.report.declared import StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.wording import Estimate, number, rate, several
from headscope.studies.layers.layers.charts import CURVES, curves, grid, late, layer_numbers, pieces, random_grid
from headscope.studies.layers.layers.tables import (
    TaskSummary,
    by_pieces,
    centres,
    complete,
    removals,
    scores,
    sense,
    senses_by_layer,
    tasks,
    with_cases,
)


def gains(numbers: Numbers) -> Finding:
    """Whether layers add to the embeddings."""
    summaries = with_cases(numbers)
    claims = [task.claim for task in summaries]
    task, claim, count = _clearest(summaries, claims)
    return Finding.judged(
        claim,
        f"{_upper(task)}: {_share(task, task.score)} in layer {task.layer}, {_share(task, task.embeddings)} in the "
        f"embeddings; {task.gain:+} points{_corrected(claim, summaries)}.",
        holds=f"Layers add to the embeddings for {several(count, 'task')} of {len(summaries)}",
        fails="Layers add nothing to the embeddings",
        undecided="It cannot be told whether layers add to the embeddings",
        unit="cases",
    )


def falls(numbers: Numbers) -> Iterator[Finding]:
    """The fall from the chosen layer to the last, of tasks to which layers add: of others there is little to lose."""
    end = numbers.result.sizes["layer"]
    earlier = [task for task in with_cases(numbers) if task.layer < end and task.claim.verdict == "holds"]
    if earlier:
        last = {task.name: numbers("score", task=task.name, layer=end) for task in earlier}
        fall = {task.name: numbers("last_layer_fall", task=task.name) for task in earlier}
        claims = together(
            [Claim(task.score.value, last[task.name].value, fall[task.name], task.n, least=POINT) for task in earlier]
        )
        task, claim, count = _clearest(earlier, claims)
        yield Finding.judged(
            claim,
            f"{_upper(task)}: {_share(task, task.score)} in layer {task.layer}, {_share(task, last[task.name])} in the "
            f"last; {-fall[task.name]:+} points{_corrected(claim, earlier)}.",
            holds=f"The last layer is worse for {count} of {several(len(earlier), 'task')} to which layers add",
            fails="The last layer is as good as the others",
            undecided="It cannot be told whether the last layer is worse",
            unit="cases",
        )


def _clearest(summaries: list[TaskSummary], claims: list[Claim]) -> tuple[TaskSummary, Claim, int]:
    """The task that decides whether the claim holds of any, its claim, and of how many it holds."""
    first = witness(claims)
    return summaries[first], claims[first], sum(claim.verdict == "holds" for claim in claims)


def _upper(task: TaskSummary) -> str:
    return task.words[:1].upper() + task.words[1:]


def _share(task: TaskSummary, score: Estimate) -> str:
    return f"{_bare(score.value)} of the {task.unit}"


def _bare(value: float) -> str:
    return f"{number(100 * value, '.0f')}%"


def _corrected(claim: Claim, summaries: list[TaskSummary]) -> str:
    return "" if isnan(claim.q) else f" (q {rate(claim.q)}, Benjamini-Hochberg over {several(len(summaries), 'task')})"


def random(numbers: Numbers) -> Iterator[Finding]:
    """The task that is nearest to random weights, in their best layer."""
    best = numbers.array("score_random_by_seed").max("layer")
    by_seed = {task.name: best.sel(task=task.name).values for task in with_cases(numbers)}
    summaries = [task for task in with_cases(numbers) if np.isfinite(by_seed[task.name]).all()]
    if summaries:
        task = min(summaries, key=lambda task: task.score.value - by_seed[task.name].mean())
        seeds = by_seed[task.name]
        text = f"{_upper(task)}: {_bare(task.score.value)}, with random weights {_bare(seeds.mean())}."
        claims = (apart(task.score, task.majority, task.n), paired(task.score, task.embeddings, task.gain, task.n))
        yield beside_random_seeds("What the layers know", task.score, seeds.tolist(), weakest(claims), text, "cases")


def nearest_senses(numbers: Numbers) -> Iterator[Finding]:
    """The nearest neighbour beside the most frequent sense, and the clusters of senses; both beside random weights."""
    task = sense(numbers)
    gain, clusters = (numbers(name, space=task.layer) for name in ("sense_gain", "sense_silhouette"))
    random = numbers.array("score_random_by_seed", task=task.name).max("layer").values.tolist()
    unseen = int(numbers("unseen_senses").value)
    text = (
        f"In layer {task.layer} the nearest training case of the same word has the sense in "
        f"{_share(task, task.score)}, the most frequent one is right in {_bare(task.majority.value)} ({gain:+} "
        f"points). Both are wrong in the {unseen:,} of {several(task.cases, 'case')} whose sense is not among the "
        "training cases."
    )
    claim = paired(task.score, task.majority, gain, task.n)
    yield beside_random_seeds("The sense of a word in its vector", task.score, random, claim, text, "cases")
    by_seed = numbers.array("sense_silhouette_random", space=task.layer).values.tolist()
    text = f"Mean silhouette of senses in layer {task.layer}: {clusters}; with random weights {np.mean(by_seed):.2f}."
    claim = above(clusters, 0.0, numbers.n("sense_silhouette"), least=POINT)
    yield beside_random_seeds("Clustering by sense", clusters, by_seed, claim, text, "cases")


def removal(numbers: Numbers) -> Iterator[Finding]:
    """The space where the loss of a property, beyond that of random directions, costs most."""
    harm, random, n = numbers.array("removal_harm"), numbers.array("removal_harm_random"), numbers.n("word_loss")
    for task in tasks(numbers):
        spaces = harm["space"].values[harm.sel(task=task.name).notnull().values].tolist()
        if spaces:
            labels = [{"task": task.name, "space": space} for space in spaces]
            harms = [(numbers("removal_harm", **at), random.sel(at).values.tolist()) for at in labels]
            claims = together([above_random_weights(measured, by_chance, n) for measured, by_chance in harms])
            first = witness(claims)
            there = f"layer {spaces[first]}" if spaces[first] else "the embeddings"
            yield Finding.judged(
                claims[first],
                f"Without it in {there} the loss of the right piece changes by "
                f"{numbers('removal_harm', **labels[first]).signed} nats; without as many random directions by "
                f"{number(claims[first].baseline, '+.2f')} (tested in {several(len(spaces), 'space')} together).",
                holds=f"The model uses what its states say of {task.words}",
                fails=f"To predict words the model does not use {task.words} more than random directions",
                undecided=f"It cannot be told whether the model uses what its states say of {task.words}",
                unit="predictions",
            )


def order(numbers: Numbers) -> Iterator[Finding]:
    """The range of the centres of gravity."""
    marks = centres(numbers.result)
    places = sorted((marks[task.name], task.words) for task in with_cases(numbers) if task.name in marks)
    if len(places) > 1:
        (low, first), (high, last) = places[0], places[-1]
        text = (
            f"By the weights of a mix of all layers, tasks lie from layer {low:.1f} ({first}) to {high:.1f} ({last})."
        )
        yield Finding("Centres of gravity", text)


def gain_of_tasks(numbers: Numbers) -> Iterator[Finding]:
    """The gain of each task over the embeddings."""
    if texts := [f"{task.words} {task.gain:+} (q {rate(task.q)})" for task in complete(numbers) if not isnan(task.q)]:
        text = "Points of the chosen layer above the embeddings, with 95% intervals and false discovery rates: "
        yield Finding("Gains of tasks", f"{text}{', '.join(texts)}.")


def without_score(numbers: Numbers) -> Iterator[Finding]:
    """Tasks that lack a score or a baseline."""
    if names := [task.words for task in tasks(numbers) if not task.complete]:
        yield Finding("Without a score", f"The result has no score, or no baseline, of {', '.join(names)}.")


def concentration(numbers: Numbers) -> Finding:
    """What the concentration of a mix can be compared with."""
    most = np.log(numbers.array("mix_weight").sizes["space"])
    return Finding(
        "Concentration of the mix where its training stopped",
        f"Divergence of the weights of a mix from equal ones, in nats (0 if equal, {most:.2f} for one layer). It "
        "grows as a mix is trained: compare tasks of one run, not runs.",
    )


def rare(numbers: Numbers) -> Iterator[Finding]:
    """Tested cases whose answer is no class."""
    if texts := [f"{task.words} {task.rare:,} of {task.cases:,}" for task in complete(numbers) if task.rare]:
        text = "Tested cases whose answer has fewer than 5 training cases count as wrong: "
        yield Finding("Rare answers", f"{text}{', '.join(texts)}.")


def lost(numbers: Numbers) -> Iterator[Finding]:
    """Cases that the model does not read."""
    if texts := [f"{task.words} {task.lost:,}" for task in complete(numbers) if task.lost]:
        text = "Cases left out, since a span has no token in the part of the text that the model reads: "
        yield Finding("Without a token", f"{text}{', '.join(texts)}.")


def limits(numbers: Numbers) -> Finding:
    """What classifiers were trained on, and what their scores cannot show."""
    sentences, senses = numbers.attribute("sentences"), any(task.is_sense for task in tasks(numbers))
    linear = f"Classifiers are linear{'; senses are read without one' if senses else ''}. They"
    return Finding(
        "Limits",
        f"{linear} were trained on {sentences['train']:,} sentences; {sentences['choose']:,} chose "
        f"penalty and layer, and scores are of {sentences['report']:,} others. Information that a classifier reads is "
        "no evidence that the model uses it.",
    )


def left_out(numbers: Numbers) -> Iterator[Finding]:
    """Tasks that the corpora do not give."""
    if reasons := numbers.attribute("left_out"):
        text = "; ".join(f"{name.replace('_', ' ')} ({reason})" for name, reason in reasons.items())
        yield Finding("Left out", f"The corpora do not give these tasks: {text}.")


PAGE = StudyParts(
    highlights=(gains, falls, nearest_senses, removal, random, order),
    findings=(gain_of_tasks, without_score, concentration, rare, lost, limits, left_out),
    charts=(grid, random_grid, *(partial(curves, name=name) for name in CURVES), pieces, late),
    tables=(scores, senses_by_layer, by_pieces, removals),
    by_layer=(),
    layers=(layer_numbers,),
)
