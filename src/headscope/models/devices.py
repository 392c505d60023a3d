"""Devices and number formats by name."""

import torch

from headscope.errors import HeadscopeError

DEVICES = ("cpu", "cuda", "mps", "xpu")
DTYPES = ("float32", "bfloat16", "float16", "float64")


def device_of(name: str | None) -> torch.device:
    """The device of a name; None means a GPU if there is one.

    Raises `HeadscopeError` for an unknown or missing device.
    """
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    if name.partition(":")[0] not in DEVICES:
        raise HeadscopeError(f"device '{name}' is unknown; use one of {', '.join(DEVICES)}, or cuda:1")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise HeadscopeError(f"device '{name}' cannot be used here ({reason}); use cpu") from error


def dtype_of(name: str) -> torch.dtype:
    """The number format of a name.

    Raises `HeadscopeError` for a name outside `DTYPES`.

    >>> dtype_of("bfloat16")
    torch.bfloat16
    """
    if name not in DTYPES:
        raise HeadscopeError(f"dtype '{name}' is unknown; use one of {', '.join(DTYPES)}")
    return getattr(torch, name)
