"""Effects of disabled heads on the scores of a task, as result variables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.stats import rankdata

from headscope.ablation.sweep import SKIPPED, Sweep
from headscope.corpora.tasks import Task, chance, intervals
from headscope.corpora.tasks.task import RIGHT_OR_WRONG
from headscope.models.heads import existing
from headscope.passes.settings import Settings
from headscope.results.variables import PAIRED, Variables, by_layer
from headscope.statistics.intervals import equal_units, interval
from headscope.statistics.significance import benjamini_hochberg, mcnemar
from headscope.studies.size.ablate import STUDY
from headscope.studies.size.ablate.gains import Gains

HALVES = ("first", "second")
# Half of fewer examples says nothing.
LEAST = 4


@dataclass(frozen=True)
class VariantRows:
    """One kind of variants, and which rows of all they are."""

    name: str
    rows: slice


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
        """Gains of all variants: heads, then layers, sets, and what is skipped."""
        return self.gains_of(np.concatenate([*self._outputs.values()]))

    @property
    def _outputs(self) -> dict[str, Float[np.ndarray, "variant example output"]]:
        """The outputs of each kind of variants that there is."""
        swept, there = self.sweep, existing(self.heads)
        skipped = None if swept.skipped is None else swept.skipped.reshape(-1, *swept.plain.shape)
        heads, sets = None if swept.heads is None else swept.heads[there], swept.sets if self.sets else None
        kinds = {"head": heads, "layer": swept.layers, "set": sets, "skipped": skipped}
        return {name: outputs for name, outputs in kinds.items() if outputs is not None}

    def gains_of(self, outputs: Float[np.ndarray, "variant example output"]) -> Gains:
        """Gains of variants over the model."""
        seed, resamples = self.settings.seed, self.settings.resamples
        units = range(len(self.targets)) if self.task.items or self.task.pairs else self.task.dev.units
        return Gains(self.metrics, outputs, self.sweep.plain, self.targets, units, seed, resamples)

    @property
    def single(self) -> Gains:
        """Gains without each head, in their order."""
        return self.gains_of(self._outputs["head"])

    @property
    def kinds(self) -> list[VariantRows]:
        """The kinds of variants that there are."""
        names, outputs = self._outputs.keys(), self._outputs.values()
        ends = np.cumsum([0, *map(len, outputs)]).tolist()
        return [VariantRows(name, slice(*ends)) for name, *ends in zip(names, ends, ends[1:], strict=False)]

    @property
    def coords(self) -> dict[str, Sequence]:
        """The labels of the dimensions of the variables."""
        return {"head_set": self.sets, "metric": self.metrics, "half": HALVES, "skipped": SKIPPED}

    def variables(self) -> dict[str, xr.DataArray]:
        """The variables of a result; see `studies.ablate`."""
        variables, gains = Variables(self.coords, STUDY.source, STUDY.labels, **PAIRED), self.gains
        variables.add(
            "baseline",
            gains.scores[0],
            interval=intervals(self.metrics, gains.scores[0], gains.resampled_scores[:, 0], equal_units(gains.units)),
            count=len(self.targets),
        )
        variables.add("chance", chance(self.task, self.targets, self.metrics))
        for kind in self.kinds:
            self._add_scores(variables, kind)
            if self.task.kind in RIGHT_OR_WRONG:
                self._add_tests(variables, kind)
        if self.sweep.heads is not None:
            self._add_random(variables)
            if len(self.targets) >= LEAST:
                self._add_chosen(variables)
        return variables.arrays

    def rank_correlation(self, importance: xr.DataArray) -> dict[str, xr.DataArray]:
        """Spearman's correlation, over heads, of importance [layer, head, estimator] and what is lost without them."""
        values = importance.transpose("layer", "head", "estimator").values[existing(self.heads)]  # [head, estimator]
        rows, ranks = self.kinds[0].rows, rankdata(values, axis=0)
        lost = rankdata(-self.gains.gains[rows], axis=0)
        resampled_ranks = rankdata(-self.gains.resampled_gains[:, rows], axis=1)
        coords = self.coords | {"estimator": importance["estimator"].values.tolist()}
        variables = Variables(coords, STUDY.source, STUDY.labels, **PAIRED)
        variables.add(
            "rank_correlation",
            _correlation(ranks, lost),
            interval=interval(_correlation(ranks, resampled_ranks), equal_units(self.gains.units)),
            count=len(self.targets),
        )
        return variables.arrays

    def _add_scores(self, variables: Variables, kind: VariantRows) -> None:
        variables.add(f"{kind.name}_score", self._placed(kind, self.gains.scores[1:][kind.rows]))
        variables.add(
            f"{kind.name}_gain",
            self._placed(kind, self.gains.gains[kind.rows]),
            interval=self._placed(kind, self.gains.interval[kind.rows]),
            count=len(self.targets),
        )

    def _add_tests(self, variables: Variables, kind: VariantRows) -> None:
        """Add the p-value and the false discovery rate of a change of the accuracy, for each variant."""
        before = self.sweep.plain.argmax(-1) == self.targets
        p = self._placed(kind, mcnemar(self.gains.outputs[kind.rows].argmax(-1) == self.targets, before))
        variables.add(f"{kind.name}_p_value", p)
        variables.add(f"{kind.name}_q_value", benjamini_hochberg(p))

    def _add_random(self, variables: Variables) -> None:
        """The gain that is expected of disabling one head, drawn at random."""
        rows = self.kinds[0].rows
        variables.add(
            "random_head_gain",
            self.gains.gains[rows].mean(0),
            interval=interval(self.gains.resampled_gains[:, rows].mean(1), equal_units(self.gains.units)),
            count=len(self.targets),
        )

    def _add_chosen(self, variables: Variables) -> None:
        """The best head of each half of the examples, on that half and on the other; documents stay whole."""
        units, unit = np.unique(self.gains.units, return_inverse=True)
        order = np.random.default_rng(self.settings.seed).permutation(len(units))
        halves = [np.flatnonzero(np.isin(unit, half)) for half in np.array_split(order, 2)]
        numbers, labels = np.arange(len(self.metrics)), np.argwhere(existing(self.heads)) + 1
        mine, other, bounds, names = [], [], [], []
        for half, rest in zip(halves, halves[::-1], strict=True):
            gains = self.gains.part(half, self.kinds[0].rows).gains
            best = gains.argmax(0)
            confirmed = self.gains.part(rest, best)
            mine.append(gains[best, numbers])
            other.append(confirmed.gains[numbers, numbers])
            bounds.append(confirmed.interval[numbers, numbers])
            names.append(["{}-{}".format(*labels[head]) for head in best])
        variables.add("choosing_gain", mine)
        variables.add("chosen_gain", other, interval=bounds, count=min(map(len, halves)))
        for name in ("choosing_gain", "chosen_gain"):
            variables.arrays[name] = variables.arrays[name].assign_coords(chosen_head=(("half", "metric"), names))

    def _placed(self, kind: VariantRows, values: np.ndarray) -> np.ndarray:
        if kind.name == "skipped":
            return values.reshape(len(SKIPPED), len(self.heads), *values.shape[1:])
        return by_layer(values, self.heads) if kind.name == "head" else values


def _correlation(
    ranks: Float[np.ndarray, "head estimator"], others: Float[np.ndarray, "*resample head metric"]
) -> Float[np.ndarray, "*resample estimator metric"]:
    """Pearson's correlation over heads; NaN where all are equal."""
    first, second = (values - values.mean(-2, keepdims=True) for values in (ranks, others))
    norms = np.sqrt((first**2).sum(-2)[:, None] * (second**2).sum(-2)[..., None, :])
    products = np.einsum("he,...hm->...em", first, second)  # [..., estimator, metric]
    return np.divide(products, norms, out=np.full(products.shape, np.nan), where=norms > 0)
