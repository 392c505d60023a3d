"""The result variables: the path of the search, and the model that is saved."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.results.variables import Count, Variables
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.record import Step
from headscope.studies.size.shrink.scores import Scores


@dataclass(frozen=True)
class ShrinkOutcome:
    """What a run has found.

    * `steps`: of the search.
    * `scores`: of the whole model, of the model after each further step, of the saved one before its training, and of
      the saved one.
    * `gain`: of the main metric by the saved model, with its interval; `needed`: see `needed_share`.
    * `reloaded`: scores of the saved model, loaded from its folder; `chance`: of the task, if there is one.
    """

    steps: Sequence[Step]
    scores: Scores
    gain: Float[np.ndarray, " 3"]
    needed: Float[np.ndarray, " 3"]
    reloaded: Float[np.ndarray, " metric"]
    chance: Float[np.ndarray, " metric"] | None
    examples: int

    def to_variables(self) -> dict[str, xr.DataArray]:
        """The result variables."""
        steps, scores = self.steps, self.scores
        variables = Variables({"step": range(len(steps)), "metric": scores.metrics}, STUDY.source, STUDY.labels)
        path = slice(0, len(steps))
        self._add(variables, "path", scores.values[path], scores.bounds[path])
        variables.add("path_change", scores.changes[path], interval=scores.change_bounds[path])
        change = np.array([step.change for step in steps])
        variables.add("output_change", change)
        variables.add("exact_change", np.append(np.nan, np.diff(change)))
        estimates = [step.estimate if step.part else np.nan for step in steps]
        variables.add("estimated_change", np.array(estimates))
        variables.add("megabytes", [step.megabytes for step in steps])
        variables.add("layer_neurons", self._by_layer([step.size.neurons for step in steps]))
        variables.add("layer_heads", self._by_layer([step.size.heads for step in steps]))
        self._add(variables, "whole", scores.values[0], scores.bounds[0])
        variables.add("untrained_score", scores.values[-2], interval=scores.bounds[-2])
        self._add(variables, "shrunk", scores.values[-1], scores.bounds[-1])
        variables.add("shrunk_change", scores.changes[-1], interval=scores.change_bounds[-1])
        variables.add("shrunk_gain", self.gain[0], interval=self.gain[1:], count=self.examples)
        variables.add("needed_share", self.needed[0], interval=self.needed[1:], count=self.examples)
        variables.add("reloaded_score", self.reloaded)
        if self.chance is not None:
            variables.add("chance", self.chance)
        names = [step.part or "the whole model" for step in steps]
        return {
            name: array.assign_coords(part=("step", names)) if "step" in array.dims else array
            for name, array in variables.arrays.items()
        }

    def _add(self, variables: Variables, name: str, values: np.ndarray, bounds: np.ndarray) -> None:
        label = STUDY.labels[f"{name}_score"]
        count = Count(np.full(values.shape, self.examples), f"examples behind {label.what}", dims=label.dims)
        variables.add(f"{name}_score", values, interval=bounds, count=count)

    def _by_layer(self, numbers: Sequence[Sequence[int]]) -> np.ndarray:
        """The numbers of each step for the layers that it keeps, [step, layer]."""
        stays = np.array([[layer in step.size.layers for layer in self.steps[0].size.layers] for step in self.steps])
        return stays * np.array(numbers)
