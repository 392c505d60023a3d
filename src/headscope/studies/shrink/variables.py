"""The result variables: the path of the search, and the model that is saved."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.results.variables import Count, Label, Variables
from headscope.studies.shrink.record import Step
from headscope.studies.shrink.scores import Scores

SOURCE = "the search for a smaller model"
STEP, LAYERS = ("step",), ("step", "layer")
HELD_OUT = "held-out examples, which the search never saw"
LABELS = {
    "path_score": Label(
        "score after each step, before the training of the rest", "score", ("step", "metric"), HELD_OUT
    ),
    "path_change": Label(
        "change of the score from the whole model after each step", "score", ("step", "metric"), HELD_OUT
    ),
    "output_change": Label(
        "squared change of the outputs by their squared distance from their mean",
        "share",
        STEP,
        "examples of the search; outputs are embeddings, or those of the task head",
    ),
    "exact_change": Label("what each step adds to the change of the outputs", "share", STEP, "examples of the search"),
    "estimated_change": Label(
        "change of the outputs if the part alone is silenced in the whole model",
        "share",
        STEP,
        "examples of the search, without a fit",
    ),
    "megabytes": Label(
        "size of the parameters",
        "megabytes",
        STEP,
        "without the pieces that go in any case",
    ),
    "layer_neurons": Label("neurons of the feed-forward part", "neurons", LAYERS, "0 for a layer that is removed"),
    "layer_heads": Label("heads that stay", "heads", LAYERS, "0 for a layer that is removed"),
    "whole_score": Label("score of the whole model", "score", ("metric",), HELD_OUT),
    "untrained_score": Label("score of the saved model before its training", "score", ("metric",), HELD_OUT),
    "shrunk_score": Label("score of the saved model", "score", ("metric",), HELD_OUT),
    "shrunk_change": Label("change of the score from the whole model to the saved one", "score", ("metric",), HELD_OUT),
    "shrunk_gain": Label(
        "gain of the main metric by the saved model, below 0 where it is worse", "score", (), HELD_OUT
    ),
    "needed_share": Label(
        "smallest share of the size at which the main metric falls by less than the tolerance",
        "share",
        (),
        "held-out examples; models of the path, and the saved one; the bounds: where it may, and where it surely does",
    ),
    "reloaded_score": Label("score of the saved model", "score", ("metric",), "loaded from its folder"),
    "chance": Label("score of always the same answer", "score", ("metric",), "the commonest class of dev, or 0"),
}


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
        variables = Variables({"step": range(len(steps)), "metric": scores.metrics}, SOURCE, LABELS)
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
        label = LABELS[f"{name}_score"]
        count = Count(np.full(values.shape, self.examples), f"examples behind {label.long_name}", dims=label.dims)
        variables.add(f"{name}_score", values, interval=bounds, count=count)

    def _by_layer(self, numbers: Sequence[Sequence[int]]) -> np.ndarray:
        """The numbers of each step for the layers that it keeps, [step, layer]."""
        stays = np.array([[layer in step.size.layers for layer in self.steps[0].size.layers] for step in self.steps])
        return stays * np.array(numbers)
