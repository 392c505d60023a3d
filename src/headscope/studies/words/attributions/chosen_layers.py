"""The scores of each method at its chosen layer, the most faithful first, for the page."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.report.numbers import Numbers
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
    * `lead`: by how much the method that the first half chooses has more comprehensiveness; NaN for that itself, and in
      results without it; `inputs`, `both`: how many were scored, and by both of these methods.
    """

    method: str
    layer: int
    scores: dict[str, Estimate]
    gains: dict[str, Estimate]
    lead: Estimate
    inputs: int
    both: int

    @property
    def complete(self) -> bool:
        """Whether it has all scores; the correlation with blank-out has none where importances are constant."""
        needed = [self.scores["comprehensiveness"], self.scores["sufficiency"], *self.gains.values()]
        return all(np.isfinite(score.value) for score in needed)

    @property
    def name(self) -> str:
        """The method in words, with its layer."""
        return f"{NAMES[self.method]}, layer {self.layer}"


def chosen(numbers: Numbers) -> list[ChosenLayer]:
    """The methods that have all scores, the largest gain of comprehensiveness first.

    Raises `MissingNumber` if no input was scored.
    """
    methods = [_chosen(numbers, str(name)) for name in numbers.array("best_layer")["attribution"].values]
    there = [method for method in methods if method.complete]
    return sorted(there, key=lambda choice: -choice.gains["comprehensiveness"].value)


def _chosen(numbers: Numbers, method: str) -> ChosenLayer:
    def score(name: str) -> Estimate:
        return estimate(numbers.result, name, attribution=method)

    return ChosenLayer(
        method,
        int(numbers.result["best_layer"].sel(attribution=method)),
        {name: score(f"chosen_{name}") for name in SCORES},
        {name: score(f"chosen_{name}_gain") for name in SCORES[:2]},
        score("best_method_lead"),
        numbers.n("chosen_comprehensiveness", attribution=method),
        numbers.n("best_method_lead", attribution=method),
    )


def leader(methods: list[ChosenLayer]) -> ChosenLayer | None:
    """The method that has most comprehensiveness on the half that chooses; None where that is not known."""
    without = [method for method in methods if not np.isfinite(method.lead.value)]
    return without[0] if len(without) == 1 and len(methods) > 1 else None


def in_words(array: xr.DataArray) -> xr.DataArray:
    """An array whose methods have their names in words."""
    return array.assign_coords(attribution=[NAMES[str(name)] for name in array["attribution"].values])
