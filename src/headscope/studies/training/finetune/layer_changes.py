"""How far the layers moved in the trainings, and how much their attention changed for that.

Kovaleva et al. 2019, section 4.3: fine-tuning changes the last layers most. A review of the paper asks whether that is
only because their gradients are larger: so the change of attention stands beside the way of the weights.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headscope.statistics.runs import over_seeds
from headscope.training.recorders import KINDS, path_share
from headscope.training.run_record import TrainedOutputs

Values = dict[str, np.ndarray]


def layer_changes(trained: Sequence[TrainedOutputs]) -> Values:
    """The values of the trainings of one task and init, one a seed; without what was not recorded."""
    norms = [run.layer_norms for run in trained]
    if not all(norm.size for norm in norms):
        return {}
    paths = np.stack([path_share(run.layer_norms, len(run.train_loss)) for run in trained])  # [seed, layer]
    gradient = np.stack([norm[KINDS.index("gradient")] for norm in norms]).mean((0, 1))
    values = {"gradient_norm": gradient, "update_path": paths.mean(0)}
    changes = np.array([run.attention_change for run in trained if run.attention_change.size == paths.shape[1]])
    if len(changes) < len(trained):
        return values
    values |= {"attention_change": changes.mean(0)} | _ratios("last_layer_change", changes)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_update = np.where(paths > 0, changes / paths, np.nan)
    bounds = over_seeds(by_update)
    return (
        values
        | {"change_per_update": by_update.mean(0), "change_per_update_ci": bounds}
        | _ratios("last_layer_per_update", by_update)
    )


def _ratios(name: str, values: Float[np.ndarray, "seed layer"]) -> Values:
    """The logarithm of the last layer's value by the mean of the others, over seeds, with its interval."""
    if values.shape[1] < 2:
        return {}
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(values[:, -1]) - np.log(values[:, :-1].mean(1))
    if not np.isfinite(ratios).all():
        return {}
    return {name: ratios.mean(), f"{name}_ci": over_seeds(ratios)}
