"""Metrics of a task from outputs and targets, for one or many variants of a model at once.

All are fractions, not percentages.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from headscope.statistics import rank_correlation
from headscope.statistics.intervals import interval, of_shares
from headscope.statistics.significance import LOWER_IS_BETTER as LOWER_IS_BETTER

Outputs = Float[np.ndarray, "*variant example output"]
Targets = Float[np.ndarray, " example"]
Metric = Callable[[np.ndarray, np.ndarray], np.ndarray]


def accuracy(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Fraction of examples with the largest output at their class."""
    return (outputs.argmax(-1) == targets).mean(-1)


def f1(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """F1 of the last class (GLUE's "1"): harmonic mean of precision and recall, 0 without a true positive."""
    return _f1(outputs.argmax(-1), targets, outputs.shape[-1] - 1)


def macro_f1(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Mean F1 over the classes among the targets."""
    predicted = outputs.argmax(-1)
    return np.mean([_f1(predicted, targets, label) for label in np.unique(targets)], axis=0)


def matthews(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Matthews correlation of predictions and targets (for several classes Gorodkin's R_K); 0 if undefined."""
    classes = np.arange(outputs.shape[-1])
    predicted = (outputs.argmax(-1)[..., None] == classes).astype(float)  # [*variant, example, class]
    true = (targets[:, None] == classes).astype(float)
    predicted, true = predicted - predicted.mean(-2, keepdims=True), true - true.mean(0)
    covariance = np.einsum("...ec,ec->...", predicted, true)  # [*variant]
    return _ratio(covariance, np.sqrt((predicted**2).sum((-1, -2)) * (true**2).sum()))


def pearson(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Pearson correlation of the first output and the targets; 0 if one of them is constant."""
    return _correlation(outputs[..., 0].astype(np.float64), targets)


def spearman(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Spearman correlation of the first output and the targets; ties have their average rank."""
    return np.nan_to_num(rank_correlation.spearman(outputs[..., 0], targets))


def cross_entropy(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Mean cross-entropy of a classification, in nats."""
    logits = outputs.astype(np.float64)
    logits = logits - logits.max(-1, keepdims=True)
    right = np.take_along_axis(logits, np.broadcast_to(targets.astype(int)[:, None], (*logits.shape[:-1], 1)), -1)
    return (np.log(np.exp(logits).sum(-1)) - right[..., 0]).mean(-1)


def squared_error(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Mean squared difference of the first output and the target."""
    return ((outputs[..., 0].astype(np.float64) - targets) ** 2).mean(-1)


def loss(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Mean loss of a predicted token, in nats; the first outputs of an example are its summed loss and its tokens."""
    totals = outputs[..., :2].astype(np.float64).sum(-2)
    return totals[..., 0] / totals[..., 1]


def perplexity(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """The exponential of `loss`: a uniform choice among this many pieces has the same loss."""
    return np.exp(loss(outputs, targets))


def probability(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """The geometric mean of the probabilities of the predicted tokens."""
    return np.exp(-loss(outputs, targets))


def bits_per_character(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Bits of loss for each character, the third output; models with other tokenizers can be compared by it."""
    totals = outputs.astype(np.float64).sum(-2)
    return totals[..., 0] / totals[..., 2] / np.log(2)


def margin(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Mean score of the good text above the best other one, in nats; the outputs of an item are the two scores."""
    return (outputs[..., 1].astype(np.float64) - outputs[..., 0]).mean(-1)


def exact_match(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Fraction of answers that are one of the right ones; the outputs of a question are F1 and exact match."""
    return outputs[..., 1].astype(np.float64).mean(-1)


def word_f1(outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """Mean F1 over the words of an answer, the first output of a question (SQuAD)."""
    return outputs[..., 0].astype(np.float64).mean(-1)


# Where the targets are another model's answers, a score is agreement with it, and has a name of its own.
AGREEMENTS: dict[str, Metric] = {
    "class_agreement": accuracy,
    "macro_f1_agreement": macro_f1,
    "pearson_agreement": pearson,
    "spearman_agreement": spearman,
}
OF_OUTPUTS: tuple[Metric, ...] = (
    *(accuracy, f1, macro_f1, matthews, pearson, spearman, cross_entropy, squared_error),
    *(loss, perplexity, bits_per_character, probability, margin, exact_match, word_f1),
)
METRICS: dict[str, Metric] = {metric.__name__: metric for metric in OF_OUTPUTS} | AGREEMENTS
SHARES = frozenset({"accuracy", "class_agreement", "exact_match"})
CORRELATIONS = frozenset({"pearson", "spearman", "pearson_agreement", "spearman_agreement"})


def score(metric: str, outputs: Outputs, targets: Targets) -> Float[np.ndarray, "*variant"]:
    """A metric of one or many variants of a model.

    >>> float(score("accuracy", np.array([[0.1, 0.9], [0.8, 0.2]]), np.array([1, 1])))
    0.5
    """
    return METRICS[metric](outputs, targets)


def signs(metrics: Sequence[str]) -> Float[np.ndarray, " metric"]:
    """-1 for a metric where lower is better, else 1."""
    return np.where([metric in LOWER_IS_BETTER for metric in metrics], -1.0, 1.0)


def resampled(
    metric: str, outputs: Outputs, targets: Targets, draws: Float[np.ndarray, "resample example"]
) -> Float[np.ndarray, "resample *variant"]:
    """A metric in each bootstrap resample; `draws` counts each example in each resample.

    All variants share the resamples, so that differences between variants are paired. Empty resamples are left out.
    """
    examples = np.arange(len(targets))
    chosen = (np.repeat(examples, times.astype(int)) for times in draws if times.any())
    return np.stack([METRICS[metric](outputs[..., index, :], targets[index]) for index in chosen])


def scored(
    metrics: Sequence[str], outputs: Outputs, targets: Targets, draws: Float[np.ndarray, "resample example"]
) -> tuple[Float[np.ndarray, "*variant metric"], Float[np.ndarray, "resample *variant metric"]]:
    """Some metrics of one or many variants, and those of each resample; see `score` and `resampled`."""
    scores = [score(metric, outputs, targets) for metric in metrics]
    return np.stack(scores, axis=-1), np.stack([resampled(name, outputs, targets, draws) for name in metrics], axis=-1)


def intervals(
    metrics: Sequence[str],
    scores: Float[np.ndarray, "*variant metric"],
    resampled: Float[np.ndarray, "resample *variant metric"],
    units: float,
) -> Float[np.ndarray, "*variant metric 2"]:
    """The 95% intervals of scores in some metrics; a share of 0 or 1 has the bound that this many units allow.

    >>> intervals(["accuracy"], np.array([1.0]), np.ones((100, 1)), units=50).round(3).tolist()
    [[0.929, 1.0]]
    """
    bounds = interval(resampled, units)
    is_share = np.array([metric in SHARES for metric in metrics])[:, None]
    return np.where(is_share, of_shares(bounds, scores, units), bounds)


def _f1(predicted: np.ndarray, targets: np.ndarray, label: float) -> np.ndarray:
    positive, true = predicted == label, targets == label
    return _ratio(2.0 * (positive & true).sum(-1), (positive.sum(-1) + true.sum()).astype(float))


def _correlation(outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    outputs, targets = outputs - outputs.mean(-1, keepdims=True), targets - targets.mean()
    return _ratio((outputs * targets).sum(-1), np.sqrt((outputs**2).sum(-1) * (targets**2).sum()))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.zeros_like(np.asarray(above, float)), where=np.asarray(below) > 0)
