"""The scores of each method at its chosen layer, the most faithful first."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.report.published import published_table
from headscope.report.tables import Column, Table
from headscope.report.wording import Estimate, estimate
from headscope.studies.attributions.page import altered_attention, altered_layers, published

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
BY_LAYER = ("norm_to",)
COLUMNS = ("Layer", "Comprehensiveness", "Gain", "Sufficiency", "Gain ", "Blank-out", "Inputs")


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


def chosen(result: xr.Dataset) -> list[ChosenLayer]:
    """The methods that have all scores, the largest gain of comprehensiveness first; none where no input was scored."""
    if "best_layer" not in result:
        return []
    methods = [_chosen(result, str(name)) for name in result["attribution"].values]
    there = [method for method in methods if method.complete]
    return sorted(there, key=lambda choice: -choice.gains["comprehensiveness"].value)


def _chosen(result: xr.Dataset, method: str) -> ChosenLayer:
    led = "best_method_lead" in result
    return ChosenLayer(
        method,
        int(result["best_layer"].sel(attribution=method)),
        {name: estimate(result, f"chosen_{name}", attribution=method) for name in SCORES},
        {name: estimate(result, f"chosen_{name}_gain", attribution=method) for name in SCORES[:2]},
        estimate(result, "best_method_lead", attribution=method) if led else Estimate(float("nan")),
        int(result["chosen_comprehensiveness_n_examples"].sel(attribution=method)),
        int(result["best_method_lead_n_examples"].sel(attribution=method)) if led else 0,
    )


def leader(methods: list[ChosenLayer]) -> ChosenLayer | None:
    """The method that has most comprehensiveness on the half that chooses; None where that is not known."""
    without = [method for method in methods if not np.isfinite(method.lead.value)]
    return without[0] if len(without) == 1 and len(methods) > 1 else None


def in_words(array: xr.DataArray) -> xr.DataArray:
    """An array whose methods have their names in words."""
    return array.assign_coords(attribution=[NAMES[str(name)] for name in array["attribution"].values])


def tables(result: xr.Dataset) -> list[Table]:
    """One row for each method and one for each alteration of attention; published correlations."""
    rows = [
        (
            (NAMES[choice.method],),
            [
                (str(choice.layer), ""),
                *(value.known_cell(".3f") for name in ("comprehensiveness", "sufficiency")
                  for value in (choice.scores[name], choice.gains[name])),
                choice.scores["rank_correlation"].known_cell(".3f"),
                (str(choice.inputs), ""),
            ],
        )
        for choice in chosen(result)
    ]  # fmt: skip
    caption = (
        "Faithfulness of each method with 95% intervals: the layer was chosen on one half of the scored inputs, scores "
        "are of the other half. Comprehensiveness: fall of the target without the most important tokens (high is "
        "good). Sufficiency: fall with these alone (low is good). Gain: better than random order by so much. "
        "Blank-out: rank correlation of importance with it."
    )
    columns = tuple(Column(name.lower().replace(" ", "-"), name.strip()) for name in COLUMNS)
    methods = [Table("methods", caption, ("Method",), columns, rows)] if rows else []
    beside = published_table(published.figures(result), published.CAPTION, model=published.MODEL)
    return [*methods, *altered_attention.tables(result), *altered_layers.tables(result), *beside]
