"""Networks that accelerate has spread over devices, memory and disk (`device_map` of transformers).

Its hooks carry the inputs of each layer to the layer's device. Weights that wait in memory or on disk have values only
while their layer runs; else they are on the device `meta`.
"""

from hashlib import sha256
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel


def is_spread(network: nn.Module) -> bool:
    """Whether a network is spread, rather than all on one device."""
    return hasattr(network, "_hf_hook")


def home(network: PreTrainedModel) -> torch.device:
    """The device of a network's inputs and outputs; the device of its weights if it is not spread."""
    return torch.device(vars(network)["_hf_hook"].execution_device) if is_spread(network) else network.device


def stored(network: nn.Module, name: str, weight: Tensor) -> Tensor:
    """A weight of a network, read from where it is kept if it has no values now."""
    if not weight.is_meta:
        return weight
    path, _, parameter = name.rpartition(".")
    module: Any = network.get_submodule(path)
    return module._hf_hook.weights_map[parameter]


def weights_hash(network: nn.Module) -> str:
    """The SHA-256 of the names and weights of a network that was never in a file, without a copy of them."""
    digest = sha256()
    for name, weight in sorted(network.state_dict().items()):
        digest.update(name.encode())
        digest.update(stored(network, name, weight).to("cpu").contiguous().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def hook_as_whole(part: nn.Module, network: PreTrainedModel) -> None:
    """Make a part of a spread network return its outputs to the device of its inputs, as the whole does."""
    if is_spread(network):
        from accelerate.hooks import AlignDevicesHook, add_hook_to_module

        add_hook_to_module(part, AlignDevicesHook(home(network), io_same_device=True))


def place_like(network: PreTrainedModel, other: PreTrainedModel) -> None:
    """Place a network in memory as another of its kind is placed; what the other has on disk stays in memory."""
    devices = getattr(other, "hf_device_map", {})
    if not is_spread(other) or not devices:
        nn.Module.to(network, home(other))
        return
    from accelerate import dispatch_model

    devices = {name: "cpu" if device == "disk" else device for name, device in devices.items()}
    skipped: Any = other._skip_keys_device_placement
    dispatch_model(network, devices, home(other), skip_keys=skipped)
