"""Comparison of gradients with attention: their ratio between classes of tokens, and their rank correlation."""

import numpy as np
from jaxtyping import Float

from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.statistics.bootstrap import Tally, interval
from headscope.statistics.rank_correlation import spearman

OTHER = TOKEN_CLASSES.index("other")
Estimate = tuple[Float[np.ndarray, "*dims"], Float[np.ndarray, "*dims 2"]]


def relative(gradient: Tally, heads: tuple[int, ...]) -> Estimate:
    """The gradients of each class of tokens by those of other tokens, [layer, token_class], and its interval.

    The mean over the heads of a layer is taken first.
    """
    return _by_other(gradient.mean, heads), interval(_by_other(_resampled(gradient), heads))


def correlation(attention: Tally, gradient: Tally) -> Estimate:
    """Spearman's rank correlation over heads of the attention to a class with its gradient, [token_class].

    NaN where one of the two is the same for all heads, or missing.
    """
    return _over_heads(attention.mean, gradient.mean), interval(
        _over_heads(_resampled(attention), _resampled(gradient))
    )


def _by_other(means: Float[np.ndarray, "*resample head token_class"], heads: tuple[int, ...]) -> np.ndarray:
    parts = np.split(means, np.cumsum(heads)[:-1], axis=-2)
    layers = np.stack([part.mean(-2) for part in parts], axis=-2)
    other = layers[..., OTHER, None]
    return np.divide(layers, other, out=np.full(layers.shape, np.nan), where=other > 0)


def _resampled(tally: Tally) -> Float[np.ndarray, "resample head token_class"]:
    count = tally.resampled_count[:, None]
    return np.divide(tally.resampled_total, count, out=np.full(tally.resampled_total.shape, np.nan), where=count > 0)


def _over_heads(one: Float[np.ndarray, "*resample head token_class"], other: np.ndarray) -> np.ndarray:
    return spearman(np.moveaxis(one, -2, -1), np.moveaxis(other, -2, -1))
