"""Scores of a task, from a model's outputs and the answers, for many variants of a model at once.

Accuracy, F1 and the rest are fractions, not per cent.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

Outputs = Float[np.ndarray, "*variant example output"]
Targets = Float[np.ndarray, " example"]
Metric = Callable[[np.ndarray, np.ndarray], np.ndarray]


def accuracy(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Share of examples whose largest output is that of their class."""
    return (outputs.argmax(-1) == targets).mean(-1)


def f1(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """F1 of the last class (GLUE's "1"): harmonic mean of precision and recall, 0 if it is never found."""
    return _f1(outputs.argmax(-1), targets, outputs.shape[-1] - 1)


def macro_f1(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """F1 of each class that the answers have, averaged over the classes."""
    told = outputs.argmax(-1)
    return np.mean([_f1(told, targets, label) for label in np.unique(targets)], axis=0)


def matthews(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Matthews' correlation of the classes told with the answers (of several classes, Gorodkin's R); 0 if undefined."""
    classes = np.arange(outputs.shape[-1])
    told = (outputs.argmax(-1)[..., None] == classes).astype(float)
    true = (targets[:, None] == classes).astype(float)
    told, true = told - told.mean(-2, keepdims=True), true - true.mean(0)
    covariance = np.einsum("...ec,ec->...", told, true)
    return _ratio(covariance, np.sqrt((told**2).sum((-1, -2)) * (true**2).sum()))


def pearson(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Pearson's correlation of the first output with the answers; 0 if one of them is constant."""
    return _correlation(outputs[..., 0].astype(np.float64), targets)


def spearman(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Pearson's correlation of the ranks, tied ones averaged."""
    return _correlation(rankdata(outputs[..., 0], axis=-1), rankdata(targets))


def cross_entropy(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Mean loss of a classification, in nats."""
    logits = outputs.astype(np.float64)
    logits = logits - logits.max(-1, keepdims=True)
    right = np.take_along_axis(logits, np.broadcast_to(targets.astype(int)[:, None], (*logits.shape[:-1], 1)), -1)
    return (np.log(np.exp(logits).sum(-1)) - right[..., 0]).mean(-1)


def squared_error(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Mean squared difference of the first output and the answer."""
    return ((outputs[..., 0].astype(np.float64) - targets) ** 2).mean(-1)


def loss(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Mean loss of the words behind a mask, in nats; outputs are each example's sum and number of them."""
    total, count = np.moveaxis(outputs.astype(np.float64).sum(-2), -1, 0)
    return total / count


METRICS: dict[str, Metric] = {
    metric.__name__: metric
    for metric in (accuracy, f1, macro_f1, matthews, pearson, spearman, cross_entropy, squared_error, loss)
}
LOWER_IS_BETTER = frozenset({"cross_entropy", "squared_error", "loss"})


def score(metric: str, outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """A metric of one or many variants of a model.

    >>> float(score("accuracy", np.array([[0.1, 0.9], [0.8, 0.2]]), np.array([1, 1])))
    0.5
    """
    return METRICS[metric](outputs, targets)


def resampled(
    metric: str, outputs: Outputs, targets: Targets, draws: Float[np.ndarray, "resample example"]
) -> Float[np.ndarray, "resample *variant"]:
    """A metric in each bootstrap resample; `draws` says how often each resample has each example.

    All variants are drawn alike, so that the difference of two of them is a paired one. Resamples that happen to
    have no example at all are left out.
    """
    examples = np.arange(len(targets))
    chosen = (np.repeat(examples, times.astype(int)) for times in draws if times.any())
    return np.stack([METRICS[metric](outputs[..., index, :], targets[index]) for index in chosen])


def _f1(told: np.ndarray, targets: np.ndarray, label: float) -> np.ndarray:
    found, true = told == label, targets == label
    return _ratio(2.0 * (found & true).sum(-1), (found.sum(-1) + true.sum()).astype(float))


def _correlation(outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    outputs, targets = outputs - outputs.mean(-1, keepdims=True), targets - targets.mean()
    return _ratio((outputs * targets).sum(-1), np.sqrt((outputs**2).sum(-1) * (targets**2).sum()))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.zeros_like(np.asarray(above, float)), where=np.asarray(below) > 0)
