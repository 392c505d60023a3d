"""The saved model in bfloat16: the same folder, loaded in half the bytes."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import xarray as xr

from headscope.models import Model
from headscope.outputs.size_and_speed import megabytes
from headscope.studies.size.shrink.held_out import Evidence
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.prices import Shapes, by_round


def scored(
    judge: Judge, evidence: Evidence, smaller: Model, shapes: Shapes
) -> tuple[dict[str, xr.DataArray], dict[str, Any]]:
    """Scores on held-out texts, megabytes and milliseconds in bfloat16; nothing of a model that is no float32 one.

    A machine that cannot run it says so, and has none of them.
    """
    if smaller.network.dtype != torch.float32:
        return {}, {}
    half = replace(smaller, network=deepcopy(smaller.network).to(torch.bfloat16))  # type: ignore[arg-type]
    try:
        outputs = judge.outputs(half, evidence.inputs)
        milliseconds = 1000 * np.median(by_round(shapes, [half])[:, :, 0], 0)
    except RuntimeError as error:
        judge.settings.on_notice(f"bfloat16 is not measured: this machine cannot run it ({str(error)[:100]})")
        return {}, {}
    arrays = judge.variables([evidence.before, outputs], "bfloat16_score", "bfloat16_gain")
    return arrays, {"bfloat16": {"megabytes": megabytes(half), "milliseconds": milliseconds.tolist()}}
