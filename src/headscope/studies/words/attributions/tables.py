"""The scores of each method at its chosen layer, and the correlations that Abnar and Zuidema (2020) published."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.report.numbers import Numbers
from headscope.report.published import PublishedFigure, published_table
from headscope.report.tables import Column, Table
from headscope.report.wording import Estimate, estimate
from headscope.studies.words.attributions import METHODS

SCORES = ("comprehensiveness", "sufficiency", "rank_correlation")
COLUMNS = ("Layer", "Comprehensiveness", "Gain", "Sufficiency", "Gain ", "Blank-out", "Inputs")
FAITHFULNESS = (
    "Faithfulness of each method with 95% intervals: the layer was chosen on one half of the scored inputs, scores are "
    "of the other half. Comprehensiveness: fall of the target without the most important tokens (high is good). "
    "Sufficiency: fall with these alone (low is good). Gain: how much better than random order. Blank-out: rank "
    "correlation of importance with it."
)
SOURCE = "Abnar and Zuidema 2020"
CAPTION = (
    "Rank correlation of importance with blank-out. The paper's model inflects a verb and has 6 layers; its target is "
    "the verb, that of this model another. Models of 6 layers have all rows, others the first and the last layer."
)
MODEL = "Model of verb number"
PAPER = {
    "attention": (0.69, 0.10, -0.11, -0.09, 0.20, 0.29),
    "rollout": (0.32, 0.38, 0.51, 0.62, 0.70, 0.71),
    "flow": (0.32, 0.44, 0.70, 0.70, 0.71, 0.70),
}


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
        return f"{METHODS[self.method]}, layer {self.layer}"


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
    return array.assign_coords(attribution=[METHODS[str(name)] for name in array["attribution"].values])


def methods_table(numbers: Numbers) -> Iterator[Table]:
    """A row for each method."""
    rows = [
        (
            (METHODS[choice.method],),
            [
                (str(choice.layer), ""),
                *(value.known_cell(".3f") for name in ("comprehensiveness", "sufficiency")
                  for value in (choice.scores[name], choice.gains[name])),
                choice.scores["rank_correlation"].known_cell(".3f"),
                (str(choice.inputs), ""),
            ],
        )
        for choice in chosen(numbers)
    ]  # fmt: skip
    columns = tuple(Column(name.lower().replace(" ", "-"), name.strip()) for name in COLUMNS)
    if rows:
        yield Table("methods", FAITHFULNESS, ("Method",), columns, rows)


def beside_paper(numbers: Numbers) -> Iterator[Table]:
    """Published correlations with blank-out."""
    yield from published_table(figures(numbers.result), CAPTION, model=MODEL)


def figures(result: xr.Dataset) -> Iterator[PublishedFigure]:
    """Attention, rollout and flow at the layers that the two models have in common."""
    layers = result["layer"].values.tolist()
    for method, values in PAPER.items():
        for layer, paper in zip(layers, _beside(values, len(layers)), strict=True):
            here = estimate(result, "rank_correlation", attribution=method, layer=layer)
            if np.isfinite(here.value) and np.isfinite(paper):
                yield PublishedFigure((f"{method}, layer {layer}",), here.cell(".2f"), f"{paper:.2f}", SOURCE, "P")


def _beside(values: tuple[float, ...], layers: int) -> list[float]:
    """The published value beside each layer of a model; NaN where there is none."""
    if layers == len(values):
        return [*values]
    return [values[0], *[float("nan")] * (layers - 2), values[-1]] if layers > 1 else [float("nan")]
