"""Held-out examples that the saved model answers otherwise: other classes, other scores, other similarities."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from scipy.special import softmax

from headscope.corpora.tasks import Task
from headscope.linguistics.sentence import Example, segment_text
from headscope.results.variables import Label, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval, of_shares
from headscope.studies.shrink.answers import Outputs
from headscope.studies.shrink.scores import pairs

# So many examples are kept, and so many letters of each text; of pairs those whose cosine moved by so much.
SHOWN, LETTERS, MOVED = 10, 200, 0.01
SOURCE = "held-out examples, in the whole model and in the saved one"
LABELS = {"changed_share": Label("share of examples whose predicted class changed", "share")}

Rows = list[dict[str, Any]]


def changed_examples(
    task: Task | None, examples: Sequence[Example], before: Outputs, after: Outputs, seed: int
) -> Rows:
    """The examples whose answers changed furthest: their texts, labels other than pseudo-labels, and both answers.

    In a classification those of another class, the surest before first; in a regression those whose output moved, and
    without a task pairs of texts whose similarity moved, each text once.
    """
    if task is None:
        return _moved_pairs(examples, before, after, seed)
    if task.kind == "classification":
        return _other_classes(task, examples, before, after)
    moved = abs(after[:, 0] - before[:, 0])
    return [
        _text_and_label(task, examples[at]) | {"before": float(before[at, 0]), "after": float(after[at, 0])}
        for at in np.argsort(-moved, kind="stable")[:SHOWN].tolist()
        if moved[at] > 0
    ]


def _other_classes(task: Task, examples: Sequence[Example], before: Outputs, after: Outputs) -> Rows:
    """Examples of another class, by how much the probability of the class before fell."""
    one, other = before.argmax(-1), after.argmax(-1)
    rows = np.arange(len(one))
    fall = softmax(before, axis=-1)[rows, one] - softmax(after, axis=-1)[rows, one]
    order = [at for at in np.argsort(-fall, kind="stable").tolist() if one[at] != other[at]]
    return [
        _text_and_label(task, examples[at]) | {"before": task.labels[one[at]], "after": task.labels[other[at]]}
        for at in order[:SHOWN]
    ]


def _text_and_label(task: Task, example: Example) -> dict[str, Any]:
    """The text of an example, and its label unless that is the answer of the whole model."""
    label = {} if "dev" in task.pseudo_labelled else {"label": f"{example.label}"}
    return {"text": text_of(example)} | label


def _moved_pairs(examples: Sequence[Example], before: Outputs, after: Outputs, seed: int) -> Rows:
    """Pairs of texts by how far their similarity moved; each text is in one pair."""
    one, other = pairs(len(examples), seed)
    first, second = ((outputs[one] * outputs[other]).sum(-1) for outputs in (before, after))
    found, seen = Rows(), set[int]()
    for pair in np.argsort(-abs(second - first), kind="stable").tolist():
        both = int(one[pair]), int(other[pair])
        if len(found) == SHOWN or abs(second[pair] - first[pair]) < MOVED:
            break
        if not seen.intersection(both):
            seen.update(both)
            texts = dict(zip(("text", "other"), (text_of(examples[at]) for at in both), strict=True))
            found.append(texts | {"before": float(first[pair]), "after": float(second[pair])})
    return found


def text_of(example: Example) -> str:
    """The text of an example, two segments with a bar between them; of a long one its beginning."""
    text = " | ".join(map(segment_text, example.segments))
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}…"


def changed_share(
    changed: Bool[np.ndarray, " example"], units: Sequence[int], seed: int, resamples: int
) -> dict[str, xr.DataArray]:
    """The variable `changed_share`, with its interval.

    * `units`: the number of what is resampled as a whole, for each example.
    """
    draws, few = poisson_draws(units, seed, resamples), equal_units(units)
    drawn: Float[np.ndarray, " resample"] = draws @ changed / np.maximum(draws.sum(1), 1)
    share = np.asarray(changed.mean())
    made = Variables({}, SOURCE, LABELS)
    made.add("changed_share", share, interval=of_shares(interval(drawn, few), share, few), count=len(changed))
    return made.arrays
