"""Estimators of head importance, from the derivatives of each example's loss in the gates of the heads.

With g[e, t] the derivative for example e and token t of one head, over n examples:

* `michel`: mean over e of |sum over t of g|; the paper's E|dL/dmask| (Michel et al. 2019, section 4.1).
* `michel_code`: sum over e and t of |g|, by the number of tokens, in the last layer by n; as the paper's code for
  BERT computes it, where the absolute value is taken token by token.
* `text_pruner`: |mean over e of the sum over t of g|; TextPruner's |sum of dL/dW * W| over the head's columns of the
  output projection W, with all examples in one batch. (With one example a batch that is `michel`.)
* `run_bertology`: sum over e of |sum over e' <= e and all t of g|, by the number of tokens, in the order of the
  corpus; as the script of transformers computes it one example at a time, where gradients are never set to zero.

Losses are those of one example, so that nothing depends on the size of batches.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.common_numbers import IMPORTANCE
from headscope.results.variables import Variables, by_layer
from headscope.statistics.bootstrap import Tally
from headscope.study import by_name

# Of the last there is no interval: it depends on the order of the examples.
ESTIMATORS = ("michel", "michel_code", "text_pruner", "run_bertology")


@dataclass
class Cumulative:
    """Sum over examples of the absolute value of the sum so far; examples may come in any order, each once."""

    done: int = 0
    sofar: Float[np.ndarray, " head"] | float = 0.0
    total: Float[np.ndarray, " head"] | float = 0.0
    waiting: dict[int, np.ndarray] = field(default_factory=dict)

    def add(self, index: list[int], values: Float[np.ndarray, "example head"]) -> None:
        """Take in examples; those whose turn has not come wait."""
        self.waiting |= zip(index, values, strict=True)
        while self.done in self.waiting:
            self.sofar = self.sofar + self.waiting.pop(self.done)
            self.total = self.total + np.abs(self.sofar)
            self.done += 1


def to_variables(
    tallies: Mapping[str, Tally], cumulative: Cumulative, heads: tuple[int, ...]
) -> dict[str, xr.DataArray]:
    """The variables of a result, from the sums over examples.

    * `tallies`: of each head |sum over t of g| ("size"), sum over t of |g| ("absolute"), sum over t of g ("signed"),
      and one column with the number of "tokens"; heads of all layers in a row.
    """
    last = np.repeat(np.arange(len(heads)) == len(heads) - 1, heads)
    total = {name: tally.total for name, tally in tallies.items()}
    resampled = {name: tally.resampled_total for name, tally in tallies.items()}
    ordered = np.asarray(cumulative.total / total["tokens"])[:, None]
    values = np.concatenate([_estimates(total, tallies["size"].count, last), ordered], axis=-1)
    bounds = tallies["size"].interval_of(_estimates(resampled, tallies["size"].resampled_count[:, None], last))
    bounds = np.concatenate([bounds, np.full((len(last), 1, 2), np.nan)], axis=1)
    importance = by_layer(values, heads)
    variables = Variables({"estimator": ESTIMATORS}, "", by_name(IMPORTANCE))
    count = int(tallies["size"].count)
    variables.add("importance", importance, interval=by_layer(bounds, heads), count=count)
    variables.add("importance_normalised", normalised(importance))
    return variables.arrays


def normalised(importance: Float[np.ndarray, "layer head estimator"]) -> Float[np.ndarray, "layer head estimator"]:
    """Divide each layer's importance by its Euclidean norm; scale `run_bertology` to 0 to 1 over all heads.

    >>> normalised(np.array([[[3.0, 3, 3, 3], [4, 4, 4, 4]], [[5, 5, 5, 5], [0, 0, 0, 0]]]))[..., [0, 3]].tolist()
    [[[0.6, 0.6], [0.8, 0.8]], [[1.0, 1.0], [0.0, 0.0]]]
    """
    norm = np.sqrt(np.nansum(importance**2, axis=1, keepdims=True))
    shares = np.divide(importance, norm, out=importance * 0, where=norm > 0)
    ordered = shares[..., ESTIMATORS.index("run_bertology")]
    ordered -= np.nanmin(ordered)
    ordered /= np.nanmax(ordered) or 1.0
    return shares


def _estimates(sums: Mapping[str, np.ndarray], n: np.ndarray, last: np.ndarray) -> Float[np.ndarray, "*dims head 3"]:
    """All but the last of `ESTIMATORS`; NaN where there are no examples."""
    with np.errstate(invalid="ignore"):
        by_token = sums["absolute"] / np.where(last, n, sums["tokens"])
        return np.stack([sums["size"] / n, by_token, np.abs(sums["signed"]) / n], axis=-1)
