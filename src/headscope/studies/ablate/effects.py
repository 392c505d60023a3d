"""What disabling heads does to the scores of a task, as labelled variables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.stats import rankdata

from headscope.ablation.sweep import Sweep
from headscope.engine.settings import Settings
from headscope.models.heads import existing
from headscope.results.named import Named
from headscope.results.variables import by_layer
from headscope.statistics.bootstrap import interval
from headscope.statistics.significance import benjamini_hochberg, mcnemar
from headscope.studies.ablate.gains import Gains
from headscope.tasks import Task

Variables = dict[str, xr.DataArray]

SOURCE = "Kovaleva et al. 2019, section 4.6"
MCNEMAR = "exact McNemar test of the accuracy"
HALVES = ("first", "second")
# Half of fewer examples says nothing.
LEAST = 4


@dataclass(frozen=True)
class Kind:
    """One kind of variants: which rows of all they are, the dimensions of their values, and what is missing in them."""

    name: str
    rows: slice
    dims: tuple[str, ...]
    without: str


@dataclass(frozen=True)
class Effects:
    """Scores without each head, layer and set, and how sure they are.

    * `targets`: the answers to the examples of the sweep; `metrics`: the scores that are asked for.
    * `heads`: the number of heads of each layer; `sets`: the names of the sets.
    """

    sweep: Sweep
    task: Task
    targets: Float[np.ndarray, " example"]
    metrics: Sequence[str]
    heads: tuple[int, ...]
    sets: Sequence[str]
    settings: Settings

    @cached_property
    def gains(self) -> Gains:
        """Of all variants: heads, then layers, then sets."""
        sets = self.sweep.sets.reshape(-1, *self.sweep.plain.shape)
        outputs = np.concatenate([self.sweep.heads[existing(self.heads)], self.sweep.layers, sets])
        seed, resamples = self.settings.seed, self.settings.resamples
        index = range(len(self.targets))
        return Gains(self.metrics, outputs, self.sweep.plain, self.targets, index, seed, resamples)

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of variants that there are."""
        heads, layers = sum(self.heads), sum(self.heads) + len(self.heads)
        one = Kind("head", slice(heads), ("layer", "head"), "without each head")
        whole = Kind("layer", slice(heads, layers), ("layer",), "without all heads of each layer")
        some = Kind("set", slice(layers, None), ("head_set",), "without each set of heads")
        return [one, whole, some] if self.sets else [one, whole]

    @property
    def named(self) -> Named:
        """The coordinates of the variables."""
        coords: Mapping[str, Sequence] = {
            "layer": range(1, len(self.heads) + 1),
            "head": range(1, max(self.heads) + 1),
            "head_set": self.sets,
            "metric": self.metrics,
            "half": HALVES,
        }
        return Named(coords, len(self.targets), SOURCE)

    def variables(self) -> Variables:
        """The variables of a result; see `studies.ablate`."""
        gains = self.gains
        found = self.named.estimate(
            "baseline", gains.scores[0], interval(gains.drawn[:, 0]), ["metric"], "score with all heads"
        )
        for kind in self.kinds:
            found |= self._scores(kind)
            found |= self._tests(kind) if self.task.kind == "classification" else {}
        return found | self._random() | (self._chosen() if len(self.targets) >= LEAST else {})

    def rank_correlation(self, importance: xr.DataArray) -> Variables:
        """Spearman's correlation, over heads, of importance [layer, head, estimator] and what is lost without them."""
        values = importance.transpose("layer", "head", "estimator").values[existing(self.heads)]
        rows, ranks = self.kinds[0].rows, rankdata(values, axis=0)
        lost, drawn = rankdata(-self.gains.gains[rows], axis=0), rankdata(-self.gains.drawn_gains[:, rows], axis=1)
        named = replace(self.named, coords={**self.named.coords, "estimator": importance["estimator"].values.tolist()})
        return named.estimate(
            "rank_correlation",
            _correlation(ranks, lost),
            interval(_correlation(ranks, drawn)),
            ["estimator", "metric"],
            "rank correlation of importance and the loss of score without a head",
            "Spearman's correlation",
        )

    def _scores(self, kind: Kind) -> Variables:
        rows, dims = kind.rows, (*kind.dims, "metric")
        scores, gains, bounds = self.gains.scores[1:][rows], self.gains.gains[rows], self.gains.interval[rows]
        score = self.named.variable(self._placed(kind, scores), dims, f"score {kind.without}", "score")
        gain = f"gain of score {kind.without}"
        return {f"{kind.name}_score": score} | self.named.estimate(
            f"{kind.name}_gain", self._placed(kind, gains), self._placed(kind, bounds), dims, gain
        )

    def _tests(self, kind: Kind) -> Variables:
        """Whether the accuracy changes by more than chance: for each variant, and for so many of them."""
        before = self.sweep.plain.argmax(-1) == self.targets
        p = self._placed(kind, mcnemar(self.gains.outputs[kind.rows].argmax(-1) == self.targets, before))
        change, both = f"a change of accuracy {kind.without}", f"{MCNEMAR}; Benjamini and Hochberg 1995"
        q = benjamini_hochberg(p)
        return {
            f"{kind.name}_p_value": self.named.variable(p, kind.dims, f"p-value of {change}", "probability", MCNEMAR),
            f"{kind.name}_q_value": self.named.variable(
                q, kind.dims, f"false discovery rate of {change}", "rate", both
            ),
        }

    def _random(self) -> Variables:
        """What disabling a head that is drawn at random is expected to do."""
        rows = self.kinds[0].rows
        mean, bounds = self.gains.gains[rows].mean(0), interval(self.gains.drawn_gains[:, rows].mean(1))
        words = "gain of score without a head drawn at random, the mean over heads"
        return self.named.estimate("random_head_gain", mean, bounds, ["metric"], words)

    def _chosen(self) -> Variables:
        """The best head of each half of the examples, on that half and on the other."""
        order = np.random.default_rng(self.settings.seed).permutation(len(self.targets))
        halves = [np.sort(half) for half in np.array_split(order, 2)]
        every, places = np.arange(len(self.metrics)), np.argwhere(existing(self.heads)) + 1
        own, other, bounds, names = [], [], [], []
        for half, rest in zip(halves, halves[::-1], strict=True):
            gains = self.gains.part(half, self.kinds[0].rows).gains
            best = gains.argmax(0)
            confirmed = self.gains.part(rest, best)
            own.append(gains[best, every])
            other.append(confirmed.gains[every, every])
            bounds.append(confirmed.interval[every, every])
            names.append(["{}-{}".format(*places[head]) for head in best])
        dims, words = ("half", "metric"), "gain of score without the head that is best on one half of the examples"
        named = replace(self.named, examples=min(map(len, halves)))
        found = {"choosing_gain": named.variable(own, dims, f"{words}, on that half", "score")}
        found |= named.estimate("chosen_gain", other, bounds, dims, f"{words}, on the other half")
        return found | {
            name: found[name].assign_coords(chosen_head=(dims, names)) for name in ("choosing_gain", "chosen_gain")
        }

    def _placed(self, kind: Kind, values: np.ndarray) -> np.ndarray:
        return by_layer(values, self.heads) if kind.name == "head" else values


def _correlation(
    ranks: Float[np.ndarray, "head estimator"], others: Float[np.ndarray, "*resample head metric"]
) -> Float[np.ndarray, "*resample estimator metric"]:
    """Pearson's correlation over heads; NaN where all are equal."""
    one, other = (each - each.mean(-2, keepdims=True) for each in (ranks, others))
    norms = np.sqrt((one**2).sum(-2)[:, None] * (other**2).sum(-2)[..., None, :])
    products = np.einsum("he,...hm->...em", one, other)
    return np.divide(products, norms, out=np.full(products.shape, np.nan), where=norms > 0)
