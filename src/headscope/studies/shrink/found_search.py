"""What a search has found: its steps, and the model that the parts of each are cut out of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr

from headscope.studies.shrink.gate_choice import TrainedGates
from headscope.studies.shrink.gate_variables import variables
from headscope.studies.shrink.sizes import Original
from headscope.studies.shrink.step_files import StepFiles
from headscope.studies.shrink.steps import Step
from headscope.studies.shrink.target import TRAINING, SizeTarget


@dataclass(frozen=True)
class FoundSearch:
    """What a search, or gates, have found.

    * `reached`: whether the last step meets the target.
    * `trained`: the gates; None for a search, and where the target is met without.
    * `between`: the model after each training between the steps.
    * `files`: of the steps in eight bits; None where eight bits are no step.
    """

    reached: bool
    steps: list[Step]
    trained: TrainedGates | None = None
    between: Sequence[Original] = ()
    files: StepFiles | None = None

    def choice(self, measured: Original) -> Original:
        """The model before any training, whose neurons and heads are valued by the gates if there are some."""
        return measured if self.trained is None else self.trained.chosen_of(measured)

    def original(self, measured: Original) -> Original:
        """The model that the parts of the last step are cut out of."""
        return self.originals(measured)[-1]

    def originals(self, measured: Original) -> list[Original]:
        """The model that the parts of each step are cut out of."""
        if self.trained is not None:
            return [self.trained.original(measured)] * len(self.steps)
        stages, found = iter(self.between), [measured]
        for step in self.steps[1:]:
            found.append(next(stages) if step.part == TRAINING else found[-1])
        return found

    def most_of_file(self, target: SizeTarget) -> float | None:
        """The most megabytes of the file of eight bits; None where the model in float32 meets the target."""
        return target.megabytes if self.steps[-1].eight_bit else None

    def variables(self) -> dict[str, xr.DataArray]:
        """The result variables of the gates."""
        return {} if self.trained is None else variables(self.trained.log_alphas, self.steps[-1].size)

    def facts(self) -> dict[str, Any]:
        """The epochs of the gates and their expected price, as times the target."""
        if self.trained is None:
            return {}
        return {"gates": {**self.trained.trained_for, "expected_price": self.trained.excess}}
