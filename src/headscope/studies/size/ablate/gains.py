"""Gains of a score with paired bootstrap intervals, and those of each phenomenon of a suite."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.ablation.sweep import Sweep
from headscope.corpora.tasks import intervals, resampled, score, signs
from headscope.models.heads import existing
from headscope.passes import Settings
from headscope.results.variables import PAIRED, Count, Variables, by_layer
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval
from headscope.statistics.significance import benjamini_hochberg, mcnemar
from headscope.studies.size.ablate import STUDY


@dataclass(frozen=True)
class Gains:
    """Scores of variants of a model, and what they gain over it, resampled together.

    * `outputs`: of the variants; `before`: of the model; `targets`: the answers.
    * `units`: the number of what is resampled as a whole, for each example: itself, or its document.

    A gain is positive where the variant is better, also in a loss.
    """

    metrics: Sequence[str]
    outputs: Float[np.ndarray, "variant example output"]
    before: Float[np.ndarray, "example output"]
    targets: Float[np.ndarray, " example"]
    units: Sequence[int]
    seed: int
    resamples: int

    @cached_property
    def scores(self) -> Float[np.ndarray, "variant metric"]:
        """The scores of the variants, after that of the model."""
        swept = np.concatenate([self.before[None], self.outputs])
        return np.stack([score(metric, swept, self.targets) for metric in self.metrics], axis=-1)

    @cached_property
    def resampled_scores(self) -> Float[np.ndarray, "resample variant metric"]:
        """Scores of the model and its variants in each resample."""
        swept = np.concatenate([self.before[None], self.outputs])
        draws = poisson_draws(self.units, self.seed, self.resamples)
        return np.stack([resampled(metric, swept, self.targets, draws) for metric in self.metrics], axis=-1)

    @property
    def gains(self) -> Float[np.ndarray, "variant metric"]:
        """Gain of each variant in each metric; positive is better."""
        return (self.scores[1:] - self.scores[0]) * signs(self.metrics)

    @cached_property
    def resampled_gains(self) -> Float[np.ndarray, "resample variant metric"]:
        """Gains of the variants in each resample."""
        return (self.resampled_scores[:, 1:] - self.resampled_scores[:, :1]) * signs(self.metrics)

    @property
    def interval(self) -> Float[np.ndarray, "variant metric 2"]:
        """The 95% paired bootstrap interval of the gains."""
        return interval(self.resampled_gains, equal_units(self.units))

    def part(self, examples: np.ndarray, variants: np.ndarray | slice = slice(None)) -> "Gains":
        """Select examples and variants."""
        return Gains(
            self.metrics,
            self.outputs[variants][:, examples],
            self.before[examples],
            self.targets[examples],
            [self.units[example] for example in examples.tolist()],
            self.seed,
            self.resamples,
        )


METRICS = {"accuracy": "phenomenon_gain", "margin": "phenomenon_margin_gain"}


def by_phenomenon(
    swept: Sweep, phenomena: Sequence[str], heads: tuple[int, ...], settings: Settings
) -> dict[str, xr.DataArray]:
    """Accuracy of each phenomenon with all heads, and its change without each head.

    * `swept`: scores of the items, [..., item, 2]: of the best worse text (the wrong answer), and of the good one.
    * `phenomena`: that of each item.
    """
    names = list(dict.fromkeys(phenomena))
    by_name = [_gains(swept, [item == name for item in phenomena], heads, settings) for name in names]
    counts = Count([len(gains.targets) for gains in by_name], "items of each phenomenon", "items", ("phenomenon",))
    variables = Variables({"phenomenon": names}, STUDY.source, STUDY.labels, **PAIRED)
    variables.add(
        "phenomenon_baseline",
        [gains.scores[0, 0] for gains in by_name],
        interval=[
            intervals(["accuracy"], gains.scores[0, :1], gains.resampled_scores[:, 0, :1], equal_units(gains.units))[0]
            for gains in by_name
        ],
        count=counts,
    )
    for index, name in enumerate(METRICS.values()):
        variables.add(
            name,
            _placed([part.gains[:, index] for part in by_name], heads),
            interval=np.moveaxis(_placed([part.interval[:, index] for part in by_name], heads), -2, -1),
            count=counts,
        )
    return variables.arrays | _tests(by_name, heads, names)


def _gains(swept: Sweep, chosen: list[bool], heads: tuple[int, ...], settings: Settings) -> Gains:
    index = np.flatnonzero(chosen)
    outputs = swept.heads[existing(heads)][:, index]  # [variant, item, 2]
    ones = np.ones(len(index))
    return Gains([*METRICS], outputs, swept.plain[index], ones, index.tolist(), settings.seed, settings.resamples)


def _placed(by_phenomenon: list[np.ndarray], heads: tuple[int, ...]) -> Float[np.ndarray, "layer head *rest"]:
    """Values [variant, ...] of each phenomenon as [layer, head, ..., phenomenon]."""
    return by_layer(np.stack(by_phenomenon, axis=-1), heads)


def _tests(by_name: list[Gains], heads: tuple[int, ...], names: list[str]) -> dict[str, xr.DataArray]:
    """P-value and false discovery rate of a change of accuracy, over all heads and phenomena."""
    p = [mcnemar(part.outputs.argmax(-1) == 1, part.before.argmax(-1) == 1) for part in by_name]
    values = _placed(p, heads)
    variables = Variables({"phenomenon": names}, STUDY.source, STUDY.labels)
    variables.add("phenomenon_p_value", values)
    variables.add("phenomenon_q_value", benjamini_hochberg(values))
    return variables.arrays
