"""Devices and number formats by name."""

from typing import Any

import torch

from headscope.catalog import require
from headscope.errors import HeadscopeError

DEVICES = ("cpu", "cuda", "mps", "xpu")
DTYPES = ("float32", "bfloat16", "float16", "float64")
AUTO = "auto"


def device_of(name: str | None) -> torch.device:
    """The device of a name; None means a GPU if there is one.

    Raises `HeadscopeError` for an unknown or missing device, and for "auto", which is not one device.
    """
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    if is_auto(name):
        raise HeadscopeError(f"device '{name}' is for a model that is only read; to train one, name a single device")
    if name.partition(":")[0] not in DEVICES:
        raise HeadscopeError(f"device '{name}' is unknown; use one of {', '.join(DEVICES)}, {AUTO}, or cuda:1")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise HeadscopeError(f"device '{name}' cannot be used here ({reason}); use cpu") from error


def is_auto(name: str | None) -> bool:
    """Whether a name stands for all devices: "auto", or with a bound as in "auto:20GiB"."""
    return (name or "").partition(":")[0] == AUTO


def device_map(name: str) -> dict[str, Any]:
    """The options of `from_pretrained` that spread a model over the GPUs, then memory, then disk.

    * `name`: "auto", or with a bound on the weights on each GPU, as in "auto:20GiB"; without a GPU, on those in memory.

    Raises `HeadscopeError` for a bound that is no size, and without accelerate.
    """
    modeling = require("accelerate").utils.modeling
    bound = name.partition(":")[2]
    if name == AUTO:
        return {"device_map": AUTO}
    try:
        most = modeling.convert_file_size_to_int(bound)
    except ValueError as error:
        raise HeadscopeError(f"device '{name}': '{bound}' is no size; write one like auto:20GiB") from error
    room: dict[int | str, int] = modeling.get_max_memory()
    gpus = [device for device in room if device != "cpu"] or ["cpu"]
    return {"device_map": AUTO, "max_memory": room | {device: min(most, room[device]) for device in gpus}}


def dtype_of(name: str) -> torch.dtype:
    """The number format of a name.

    Raises `HeadscopeError` for a name outside `DTYPES`.

    >>> dtype_of("bfloat16")
    torch.bfloat16
    """
    if name not in DTYPES:
        raise HeadscopeError(f"dtype '{name}' is unknown; use one of {', '.join(DTYPES)}")
    return getattr(torch, name)
