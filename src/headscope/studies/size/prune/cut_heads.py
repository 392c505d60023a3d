"""Cut heads out of a model: a smaller model with the outputs of the original one with these heads zeroed."""

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Bool
from torch import nn
from transformers import PreTrainedModel

from headscope.capture.eager import check_inputs
from headscope.capture.self_check import check, furthest
from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError
from headscope.models.head_slicing import sharing, slice_heads, uncuttable
from headscope.models.heads import existing
from headscope.models.model import Model
from headscope.models.pruned_checkpoint import KEY, pruning_of, unpruned

# Largest rounding difference from the masked model, relative to its largest output.
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 5e-2}


def prune(model: Model, remove: Bool[np.ndarray, "layer head"]) -> Model:
    """Cut the rows and columns of heads out of a copy of a model.

    Michel et al. 2019 (section 4) and Voita et al. 2019 mask pruned heads; here they are removed.
    The outputs for a short padded batch are compared with those of the model with the same heads zeroed.

    * `remove`: the heads to remove, in the present numbering of the model; of those that share keys and values all or
      none. A pruned model numbers its heads from 1 again; its configuration lists the removed heads of the original.

    Raises `HeadscopeError`, with the reason, for a model whose heads cannot be cut out; `ValueError` for an array
    of another shape.

    >>> from headscope import load
    >>> model, remove = load("minilm"), np.zeros((6, 12), dtype=bool)
    >>> remove[0, 3:] = True
    >>> prune(model, remove).capture.heads
    (3, 12, 12, 12, 12, 12)
    """
    heads, shared = model.capture.heads, sharing(model)
    stay = existing(heads) & ~remove
    if not stay.any():
        raise HeadscopeError(f"model '{model.name}' would have no head left; remove fewer")
    refuse_uncuttable(model, shared)
    groups = stay.reshape(len(heads), -1, shared)
    if (groups.any(-1) != groups.all(-1)).any():
        refuse_uncuttable(model, 1)
    network = copy.deepcopy(model.network)
    slice_heads(network, heads, [np.flatnonzero(row).tolist() for row in stay])
    if reason := _difference(model, remove, network):
        raise _refusal(model, reason, np.flatnonzero(~stay.any(1)).tolist())
    left = (pruning_of(network.config) or unpruned(heads)).without(remove).as_config()
    if left["removed"]:
        setattr(network.config, KEY, left)
    return replace(model, network=network, capture=check(network), sha256="")


def refuse_uncuttable(model: Model, together: int) -> None:
    """Raise `HeadscopeError` for a model out of which `together` neighbouring heads at a time cannot be cut."""
    if (reason := uncuttable(model, together)) and together % sharing(model):
        kind = model.network.config.model_type
        raise HeadscopeError(
            f"model type '{kind}': {reason}, and single ones cannot be cut out; remove whole groups (--unit kv)"
        )
    if reason:
        raise _refusal(model, reason)


def _refusal(model: Model, reason: str, empty: Sequence[int] = ()) -> HeadscopeError:
    kind = model.network.config.model_type
    if empty:
        return HeadscopeError(
            f"layer {empty[0] + 1} would have no head left, which model type '{kind}' does not support ({reason}); "
            "keep at least one in each layer"
        )
    return HeadscopeError(f"model type '{kind}' cannot be pruned: {reason}; disable its heads instead (ablate)")


@torch.inference_mode()
def _difference(model: Model, remove: np.ndarray, network: PreTrainedModel) -> str | None:
    """Difference of a pruned network from the model with the same heads zeroed, or None if outputs are equal.

    Peaked attention enlarges rounding, so outputs that differ are compared once more in double precision.
    """
    inputs = check_inputs(model.network)
    try:
        with quiet(), model.changed(remove, "zero"):
            expected = model.network(**inputs)[0]
        with quiet():
            ours = network(**inputs)[0]
    except Exception as error:  # any failure of the model's own code with fewer heads, or in double precision
        return f"{type(error).__name__}: {error}".splitlines()[0]
    if ours.shape != expected.shape:
        return f"its outputs would have the shape {tuple(ours.shape)} instead of {tuple(expected.shape)}"
    difference = furthest(ours, expected, inputs["attention_mask"].bool())
    if difference <= TOLERANCE[network.dtype] * max(1.0, expected.abs().amax().item()):
        return None
    if network.dtype != torch.float64:
        return _difference(replace(model, network=_double(model.network)), remove, _double(network))
    return f"its outputs would differ by {difference:.1e} from those with the heads zeroed"


def _double(network: PreTrainedModel) -> PreTrainedModel:
    """A copy in double precision, which some accelerators lack."""
    copied = copy.deepcopy(network)
    nn.Module.to(copied, "cpu", torch.float64)
    return copied
