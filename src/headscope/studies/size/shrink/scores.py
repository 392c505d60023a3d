"""Held-out scores of several models beside the whole one: of a task, or the agreement of similarities of texts.

Agreement: the rank correlation, over pairs of texts, of the cosine of both embeddings in one model and in the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

from headscope.corpora.tasks import LOWER_IS_BETTER, Task, intervals, scored
from headscope.linguistics.sentence import Example, segment_text
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval

Outputs = Float[np.ndarray, "example output"]
Rows = list[dict[str, Any]]
AGREEMENT = ("similarity_agreement", "nearest_recall")
PAIRS, NEAREST = 20_000, 10
# This many examples that are answered otherwise are kept, and this many letters of each text.
SHOWN, LETTERS = 10, 200


@dataclass(frozen=True)
class Scores:
    """Scores of models; the first is the whole one.

    * `changes`: scores minus those of the whole model, paired; `drawn`: scores in resamples of the examples.
    * `units`: the number of what is resampled as a whole, for each example.
    """

    metrics: tuple[str, ...]
    values: Float[np.ndarray, "model metric"]
    bounds: Float[np.ndarray, "model metric 2"]
    changes: Float[np.ndarray, "model metric"]
    change_bounds: Float[np.ndarray, "model metric 2"]
    drawn: Float[np.ndarray, "resample model metric"]
    units: Sequence[int]

    @property
    def sign(self) -> int:
        """1, or -1 where a lower value of the main metric is better."""
        return -1 if self.metrics[0] in LOWER_IS_BETTER else 1


def of_task(
    task: Task, outputs: Sequence[Outputs], targets: Float[np.ndarray, " example"], seed: int, resamples: int
) -> Scores:
    """The scores of outputs in the metrics of a task."""
    stacked, units = np.stack(outputs), task.dev.units
    draws, few = poisson_draws(units, seed, resamples), equal_units(units)
    values, drawn = scored(task.metrics, stacked, targets, draws)
    changes = interval(drawn - drawn[:, :1], few)
    bounds = intervals(task.metrics, values, drawn, few)
    return Scores(task.metrics, values, bounds, values - values[0], changes, drawn, units)


def of_similarities(outputs: Sequence[Outputs], units: Sequence[int], seed: int, resamples: int) -> Scores:
    """The agreement of each model's similarities with those of the first, and the recall of its ten nearest texts.

    Texts are resampled; ranks are those among all pairs. Of more than 20,000 pairs this many are drawn by the seed.
    Agreement needs three texts, recall more than twenty.
    """
    number = len(outputs[0])
    draws = poisson_draws(units, seed, resamples)
    first, second = pairs(number, seed)
    ranks = [rankdata((vectors[first] * vectors[second]).sum(-1)) for vectors in outputs]
    weights = (draws[:, first] * draws[:, second]).astype(np.float64)
    everything = np.ones((1, len(first)))
    near = [nearest(vectors) for vectors in outputs]
    shares = np.full((len(outputs), number), np.nan)  # [model, example]
    if near[0] is not None:
        shares = np.stack([recall(near[0], neighbours) for neighbours in near if neighbours is not None])
    values = np.stack([[_correlation(ranks[0], rank, everything)[0] for rank in ranks], shares.mean(1)], axis=-1)
    total = np.maximum(draws.sum(1), 1)
    drawn = np.stack(
        [
            np.stack([_correlation(ranks[0], rank, weights) for rank in ranks], axis=1),
            draws @ shares.T / total[:, None],
        ],
        axis=-1,
    )
    bounds = interval(drawn, equal_units(units))
    if number < 3:  # two texts are one pair
        bounds = np.full_like(bounds, np.nan)
    bounds = np.clip(bounds, -1, 1)
    return Scores(AGREEMENT, values, bounds, values - 1, bounds - 1, drawn, units)


def pairs(number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two different texts of each pair, the lower number first: all pairs, or this many drawn by the seed."""
    first, second = np.triu_indices(number, 1)
    if len(first) > PAIRS:
        drawn = np.sort(np.random.default_rng(seed).permutation(len(first))[:PAIRS])
        first, second = first[drawn], second[drawn]
    return first, second


def nearest(outputs: Outputs) -> np.ndarray | None:
    """The ten nearest other texts of each [example, 10]; None of fewer than 21 texts, where chance finds half."""
    if len(outputs) <= 2 * NEAREST:
        return None
    similarity = outputs @ outputs.T
    np.fill_diagonal(similarity, -np.inf)
    return np.argsort(-similarity, axis=1, kind="stable")[:, :NEAREST]


def recall(before: np.ndarray, after: np.ndarray) -> Float[np.ndarray, " example"]:
    """The share of each text's nearest that are nearest in the other model, too.

    >>> recall(np.array([[1, 2]]), np.array([[2, 3]]))
    array([0.5])
    """
    return (before[:, :, None] == after[:, None]).any(-1).mean(-1)


def change(before: Outputs, after: Outputs) -> float:
    """Squared change of outputs by their squared distance from their mean: 0 for none, 1 for all that differs.

    >>> change(np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]]))
    0.5
    """
    size = float(((before - before.mean(0)) ** 2).sum(dtype=np.float64))
    moved = float(((after - before) ** 2).sum(dtype=np.float64))
    return moved / size if size else float(moved > 0)


def text_of(example: Example) -> str:
    """The text of an example, two segments with a bar between them; of a long one its beginning."""
    text = " | ".join(map(segment_text, example.segments))
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}…"


def _correlation(
    ours: Float[np.ndarray, " pair"], theirs: Float[np.ndarray, " pair"], weights: Float[np.ndarray, "resample pair"]
) -> Float[np.ndarray, " resample"]:
    """Weighted Pearson correlation; NaN where there is none."""
    if not len(ours):
        return np.full(len(weights), np.nan)
    total = np.maximum(weights.sum(1), 1e-12)
    x, y = (ranks - ranks.mean() for ranks in (ours, theirs))

    def mean(values: np.ndarray) -> np.ndarray:
        return weights @ values / total

    covariance = mean(x * y) - mean(x) * mean(y)
    size = np.sqrt((mean(x * x) - mean(x) ** 2).clip(0) * (mean(y * y) - mean(y) ** 2).clip(0))
    return np.divide(covariance, size, out=np.full(len(total), np.nan), where=size > 1e-9)
