"""What becomes of single held-out examples: those that are answered otherwise, and groups that lose more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool

from headscope.corpora.tasks import Task
from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.passes.settings import Settings
from headscope.studies.shrink import groups
from headscope.studies.shrink.answers import Outputs
from headscope.studies.shrink.changed_examples import changed_examples, changed_share
from headscope.studies.shrink.vocabulary import read_otherwise, with_new_unknown


@dataclass(frozen=True)
class HeldOut:
    """Held-out examples as the whole model and the saved one read and answer them.

    * `units`: the number of what is resampled as a whole, for each example.
    * `read`: the inputs of both models; `answered`: their outputs.
    """

    examples: Sequence[Example]
    units: Sequence[int]
    models: tuple[Model, Model]
    read: tuple[Sequence[Encoded], Sequence[Encoded]]
    answered: tuple[Outputs, Outputs]

    def changed(self, task: Task | None, seed: int) -> list[dict[str, Any]]:
        """The examples that are answered otherwise, see `changed_examples`."""
        return changed_examples(task, self.examples, *self.answered, seed)

    def variables(self, task: Task | None, settings: Settings) -> dict[str, xr.DataArray]:
        """What groups of inputs lose, and of a classification the share of changed predictions."""
        targets = None if task is None else task.targets(task.dev)
        losses = groups.input_losses(task, *self.answered, targets, settings.seed)
        drawn = settings.seed, settings.resamples
        found = groups.variables(losses, self._groups(task), self.units, task, *drawn)
        if task is not None and task.kind == "classification":
            one, other = (outputs.argmax(-1) for outputs in self.answered)
            found |= changed_share(one != other, self.units, *drawn)
        return found

    def _groups(self, task: Task | None) -> dict[str, Bool[np.ndarray, " example"]]:
        """Groups by length, by what the smaller vocabulary does to them, and by class."""
        marks = {
            "inputs read in other pieces": read_otherwise(*self.models, *self.read),
            "inputs with pieces that became unknown": with_new_unknown(*self.models, *self.read),
        }
        classes = () if task is None else task.labels
        labels = [str(example.label) for example in self.examples]
        if task is not None and "dev" in task.pseudo_labelled:
            marks |= {f"inputs that are answered {name}": np.array(labels) == name for name in classes}
            classes = ()
        return groups.input_groups([*map(len, self.read[0])], marks, labels, classes)
