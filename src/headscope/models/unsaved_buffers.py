"""Buffers that no file holds, such as rotary frequencies, get the values that the model's class computes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as registration
from transformers import PreTrainedModel

from headscope.errors import HeadscopeError
from headscope.models.pruned_checkpoint import made_like

# The classes of these fill their buffers when a checkpoint is loaded, as the tests show for every family.
FILLING = {"torch", "transformers"}


def fill_buffers(network: PreTrainedModel, name: str) -> None:
    """Fill what a class computes and its checkpoint does not hold: buffers, and tensors that are no buffers.

    transformers builds a network without memory, and leaves it to `_init_weights` to fill such buffers. The code of a
    checkpoint seldom does, and its buffers have what lay in memory. So its class is built once more, where buffers
    have memory and parameters have none.

    Raises `HeadscopeError` for a tensor that is computed from weights.
    """
    if all(type(module).__module__.partition(".")[0] in FILLING for module in network.modules()):
        return
    with torch.random.fork_rng(devices=()), _default_dtype(network.dtype), _parameters_without_memory():
        torch.manual_seed(0)  # two loads are equal, where a buffer is drawn, too
        built = made_like(network)
    for path, module in network.named_modules():
        filled = built.get_submodule(path)
        for part, values in _unsaved(module):
            computed = getattr(filled, part)
            if computed.is_meta:
                raise HeadscopeError(
                    f"model '{name}': its code computes '{part}' of '{path or type(module).__name__}' from weights, "
                    "and no file holds it; make it a persistent buffer, and save the model again"
                )
            device = network.device if values.is_meta else values.device
            setattr(module, part, computed.to(device, values.dtype))


def _unsaved(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """The buffers of a module that are not in its state, and its other tensors without memory, by name."""
    for part in sorted(module._non_persistent_buffers_set):
        if (values := module._buffers[part]) is not None:
            yield part, values
    for part, values in list(vars(module).items()):
        if isinstance(values, Tensor) and values.is_meta:
            yield part, values


@contextmanager
def _parameters_without_memory() -> Iterator[None]:
    """Context in which the parameters of new modules have a shape, and no values."""

    def without(owner: nn.Module, part: str, values: nn.Parameter | None) -> Any:
        return None if values is None or values.is_meta else nn.Parameter(values.to("meta"), values.requires_grad)

    handle = registration.register_module_parameter_registration_hook(without)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
