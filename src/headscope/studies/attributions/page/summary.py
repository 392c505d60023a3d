"""The methods of a result in words, and the scores of their chosen layers, the best method first."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.report.wording import Estimate, estimate

NAMES = {
    "attention": "attention",
    "norm": "norm",
    "norm_residual": "norm with residual",
    "value_zeroing": "value zeroing",
    "rollout": "rollout",
    "norm_rollout": "norm rollout",
    "value_zeroing_rollout": "value zeroing rollout",
    "flow": "flow",
    "gradient_attention": "gradient × attention",
    "value_gradient": "value × gradient",
    "gradient_input": "input × gradient",
}
SCORES = ("comprehensiveness", "sufficiency", "rank_correlation")


@dataclass(frozen=True, slots=True)
class ChosenLayer:
    """A method at the layer that was chosen on one half of the inputs, scored on the other half.

    * `scores`: by name; `gains`: of comprehensiveness and sufficiency over random orders, more is better.
    """

    method: str
    layer: int
    scores: dict[str, Estimate]
    gains: dict[str, Estimate]
    inputs: int

    @property
    def complete(self) -> bool:
        """Whether it has all scores; the correlation with blank-out has none where importances are constant."""
        needed = [self.scores["comprehensiveness"], self.scores["sufficiency"], *self.gains.values()]
        return all(np.isfinite(score.value) for score in needed)

    @property
    def name(self) -> str:
        """The method in words, with its layer."""
        return f"{NAMES[self.method]}, layer {self.layer}"


def chosen(result: xr.Dataset) -> list[ChosenLayer]:
    """The methods that have all scores, the largest gain of comprehensiveness first; none where no input was scored."""
    if "best_layer" not in result:
        return []
    methods = [_chosen(result, str(name)) for name in result["attribution"].values]
    there = [method for method in methods if method.complete]
    return sorted(there, key=lambda each: -each.gains["comprehensiveness"].value)


def _chosen(result: xr.Dataset, method: str) -> ChosenLayer:
    return ChosenLayer(
        method,
        int(result["best_layer"].sel(attribution=method)),
        {name: estimate(result, f"chosen_{name}", attribution=method) for name in SCORES},
        {name: estimate(result, f"chosen_{name}_gain", attribution=method) for name in SCORES[:2]},
        int(result["chosen_comprehensiveness_n_examples"].sel(attribution=method)),
    )


def in_words(array: xr.DataArray) -> xr.DataArray:
    """An array whose methods have their names in words."""
    return array.assign_coords(attribution=[NAMES[str(name)] for name in array["attribution"].values])
