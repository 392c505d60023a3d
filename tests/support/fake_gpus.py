"""Devices without hardware: tensors that say they are on one, and fail where two of them meet, as on real GPUs.

>>> with fake_gpus():
...     first, second = torch.ones(2, device=FIRST), torch.ones(2).to(SECOND)
...     print(first.device, second.device, (first + 1).tolist())
...     first + second
Traceback (most recent call last):
RuntimeError: aten.add.Tensor with tensors on meta:1 and meta:2
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from accelerate import dispatch_model
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from transformers import PreTrainedModel

# For devices of other kinds torch wants hardware, or code of their makers.
GPUS = FIRST, SECOND = torch.device("meta:1"), torch.device("meta:2")
CPU = torch.device("cpu")
MOVES = {torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default}
# Their indices may come from the processor, too.
INDEXING = {torch.ops.aten.index.Tensor, torch.ops.aten.index_put.default, torch.ops.aten.index_put_.default}
TENSOR = torch.tensor


class Placed(Tensor):
    """A tensor whose numbers are in memory, and which says that it is elsewhere."""

    held: Tensor
    is_meta = False  # it has numbers

    @staticmethod
    def __new__(cls, held: Tensor, device: torch.device) -> "Placed":
        """The tensor `held`, said to be on `device`."""
        layout = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        made = Tensor._make_wrapper_subclass(cls, held.shape, device=device, **layout)
        made.held = held
        return made

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(_indices(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(_indices(index), value)

    def tolist(self) -> Any:
        """As of a tensor of torch's own class."""
        return self.cpu().tolist()

    def __repr__(self, **kwargs: Any) -> str:
        return f"Placed({self.held}, {self.device})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """See `_call`."""
        return _call(func, args, kwargs or {})


class Placing(TorchDispatchMode):
    """Makes tensors on these devices where torch is asked for them."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """See `_call`."""
        return _call(func, args, kwargs or {})


def _call(func: Callable, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call `func` with the numbers in memory; its results are on the device of its tensors, or on the wanted one.

    Raises `RuntimeError` for tensors of two devices; a single number may come from the processor, as with CUDA.
    """
    given = [tensor for tensor in tree_flatten((args, kwargs))[0] if isinstance(tensor, Tensor)]
    elsewhere = [tensor.device for tensor in given if isinstance(tensor, Placed)]
    free = [tensor for tensor in args[1] if isinstance(tensor, Tensor)] if func in INDEXING else []
    devices = {tensor.device for tensor in given if tensor.ndim and not any(tensor is other for other in free)}
    devices = {*elsewhere, *devices} if elsewhere else set()
    if len(devices) > 1 and func not in MOVES:
        raise RuntimeError(f"{func} with tensors on {' and '.join(sorted(map(str, devices)))}")
    wanted = kwargs.get("device")
    device = torch.device(wanted) if wanted is not None else next(iter(elsewhere), CPU)
    if func is torch.ops.aten.copy_.default:
        device = args[0].device
    if wanted is not None and device in GPUS:
        kwargs = kwargs | {"device": CPU} | ({"pin_memory": False} if "pin_memory" in kwargs else {})
    result = func(*tree_map(_held, args), **tree_map(_held, kwargs))
    if device not in GPUS:
        return result
    given_back = {id(tensor.held): tensor for tensor in given if isinstance(tensor, Placed)}  # by functions in place

    def placed(value: Any) -> Any:
        return given_back[id(value)] if id(value) in given_back else _placed(value, device)

    return tree_map(placed, result)


def _placed(value: Any, device: torch.device) -> Any:
    return Placed(value, device) if isinstance(value, Tensor) else value


def _indices(index: Any) -> Any:
    """The index with tensors for its lists, of which torch would make tensors without asking the mode."""
    if isinstance(index, tuple):
        return tuple(map(_indices, index))
    return TENSOR(index) if isinstance(index, list) else index


def _held(value: Any) -> Any:
    return value.held if isinstance(value, Placed) else value


def _from_numbers(numbers: Any, *, device: Any = None, **kwargs: Any) -> Tensor:
    """As `torch.tensor`, which asks no mode."""
    if device is None or torch.device(device) not in GPUS:
        return TENSOR(numbers, device=device, **kwargs)
    return TENSOR(numbers, device=CPU, **kwargs).to(device)


@contextmanager
def fake_gpus() -> Iterator[None]:
    """Within this context there are `GPUS`; instead of inference mode, which fails with them, no gradients."""
    without_gradients = patch("torch._C._InferenceMode", lambda mode: torch.no_grad())
    with without_gradients, patch("torch.tensor", _from_numbers), Placing():
        yield


def on_both(network: PreTrainedModel) -> PreTrainedModel:
    """Put all layers but the first on `SECOND`, and the rest on `FIRST`."""
    devices = dict[str, str | int | torch.device]()
    for name in network.state_dict():
        layer = re.match(r".*?\.\d+(?=\.)", name)
        path = layer[0] if layer else name.rpartition(".")[0]
        devices[path] = SECOND if layer and not path.endswith(".0") else FIRST
    dispatch_model(network, devices, main_device=FIRST)
    return network
