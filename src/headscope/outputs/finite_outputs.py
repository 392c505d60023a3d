"""Refusal of outputs that are not finite."""

import torch
from torch import Tensor

from headscope.errors import HeadscopeError


def refuse_non_finite(model_name: str, outputs: Tensor) -> None:
    """Raise `HeadscopeError` if an output of a model is not finite."""
    if not torch.isfinite(outputs).all():
        raise HeadscopeError(
            f"model '{model_name}' gives outputs that are not finite; use --dtype float32, or another model"
        )
