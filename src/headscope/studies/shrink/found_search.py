"""What a search has found: its steps, and the model that the parts of each are cut out of."""

from dataclasses import dataclass
from typing import Any

import xarray as xr

from headscope.studies.shrink.gate_choice import TrainedGates
from headscope.studies.shrink.gate_variables import variables
from headscope.studies.shrink.sizes import Original
from headscope.studies.shrink.steps import Step


@dataclass(frozen=True)
class FoundSearch:
    """What a search, or gates, have found.

    * `reached`: whether the last step meets the target.
    * `trained`: the gates; None for a search, and where the target is met without.
    """

    reached: bool
    steps: list[Step]
    trained: TrainedGates | None = None

    def choice(self, measured: Original) -> Original:
        """The model before any training, whose neurons and heads are valued by the gates if there are some."""
        return measured if self.trained is None else self.trained.chosen_of(measured)

    def original(self, measured: Original) -> Original:
        """The model that the parts of the steps are cut out of."""
        return measured if self.trained is None else self.trained.original(measured)

    def variables(self) -> dict[str, xr.DataArray]:
        """The result variables of the gates."""
        return {} if self.trained is None else variables(self.trained.log_alphas, self.steps[-1].size)

    def facts(self) -> dict[str, Any]:
        """The epochs of the gates and their expected price, as times the target."""
        if self.trained is None:
            return {}
        return {"gates": {**self.trained.trained_for, "expected_price": self.trained.excess}}
