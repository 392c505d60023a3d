"""Ridge regressions of a task of values, in all spaces and with all penalties."""

import numpy as np
import torch

from headscope.studies.layers.features import outputs
from headscope.studies.layers.groups import CaseGroup
from headscope.studies.layers.ridge import ridge
from headscope.studies.layers.texts import PARTS
from headscope.studies.layers.trained_task import ClassifierSettings, GroupVectors, TrainedTask


def train_values(group: CaseGroup, given: GroupVectors, settings: ClassifierSettings) -> list[TrainedTask]:
    """Train on the values of a group, which has one task."""
    (answers,) = group.answers
    right = {part: torch.from_numpy(answers.numbers[part]).to(given.choose) for part in PARTS}
    centre = right["train"].mean()
    weights = ridge(given.train, right["train"] - centre, settings.penalties)  # [space, penalty, dim]
    errors = {
        part: (outputs(weights, each) + centre - right[part]).square()
        for part, each in (("choose", given.choose), ("report", given.report))
    }
    base = {part: (right[part] - centre).square() for part in PARTS}
    best = errors["choose"].mean(-1).argmin(1)  # [space]
    spaces = torch.arange(len(best), device=best.device)
    choice = 1 - errors["choose"][spaces, best].sum(-1) / base["choose"].sum()
    loss = errors["report"][spaces, best].T
    return [
        TrainedTask(
            loss.double().cpu().numpy(),
            base["report"].double().cpu().numpy(),
            choice.cpu().numpy(),
            np.array(settings.penalties)[best.cpu().numpy()],
            np.full(len(best), np.nan),
            np.nan,
        )
    ]
