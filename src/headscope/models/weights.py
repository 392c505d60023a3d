"""The weights of a checkpoint: safetensors alone, inside its folder, whole and finite."""

import json
from collections.abc import Container, Iterable, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headscope.errors import HeadscopeError

if TYPE_CHECKING:
    from torch import nn

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
# Buffers of older versions of transformers, which newer ones compute.
COMPUTED = ("position_ids", "token_type_ids", "inv_freq", "masked_bias", "attn.bias", "attention.bias")
FLOATS = ("F64", "F32", "F16", "BF16")


class StoredWeight(NamedTuple):
    """A weight in a file; `dtype`: as safetensors names it, such as F32."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def numbers(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


def weight_files(folder: Path, name: str) -> tuple[Path, ...]:
    """The safetensors files that transformers reads: `model.safetensors`, else the shards of its index, by name.

    Raises `HeadscopeError` if there is none, or the index names anything but `*.safetensors` inside the folder.
    """
    if (folder / SINGLE).is_file():
        return (folder / SINGLE,)
    if not (folder / INDEX).is_file():
        pickled = ", ".join(sorted(path.name for path in folder.glob("*.bin")))
        raise HeadscopeError(
            f"model '{name}' has no .safetensors weights{f', but {pickled}' if pickled else ''}; "
            "load it with transformers where you trust it and save_pretrained it again"
        )
    files = _shards(folder / INDEX, name)
    for file in files:
        if not isinstance(file, str) or Path(file).name != file or "\\" in file or not file.endswith(".safetensors"):
            raise HeadscopeError(
                f"model '{name}': {INDEX} names {str(file)[:80]!r}; only *.safetensors inside the folder are read"
            )
        if not (folder / file).is_file():
            raise HeadscopeError(f"model '{name}': file '{file}' of {INDEX} is missing; download the model again")
    return tuple(folder / file for file in files)


def _shards(index: Path, name: str) -> list[Any]:
    try:
        stored = json.loads(index.read_text(encoding="utf-8"))
        return sorted(set(stored["weight_map"].values()), key=str)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HeadscopeError(
            f"model '{name}': {INDEX} has no weight_map ({type(error).__name__}); download the model again"
        ) from error


def stored_weights(paths: Iterable[Path]) -> dict[str, StoredWeight]:
    """The weights in files, by name. Raises `safetensors.SafetensorError` if a file is cut, or has no valid header."""
    from safetensors import safe_open  # here, since to find the files of a model needs no library

    weights = {}
    for path in paths:
        path.open("rb").close()  # of a file that may not be read safetensors says that there is none
        with safe_open(path, "np") as file:
            for name in file.keys():
                part = file.get_slice(name)
                weights[name] = StoredWeight(part.get_dtype(), tuple(part.get_shape()))
    return weights


def refuse_report(name: str, network: Any, report: dict[str, Any], *, head: bool, later: Container[str] = ()) -> None:
    """Raise `HeadscopeError` for weights that are missing, of another size, or unused within the layers.

    * `report`: the loading info of `from_pretrained`, which only logs them; `later`: weights that an adapter brings.
    * `head`: the model is used with its task head, so that a missing pooler matters.
    """
    missing = sorted(key for key in report["missing_keys"] if (head or "pooler" not in key) and key not in later)
    sizes = sorted(str(key[0] if isinstance(key, tuple) else key) for key in report["mismatched_keys"])
    sizes = [key for key in sizes if key not in later]
    for keys, problem, remedy in (
        (missing, "missing from the checkpoint", "they would be random: name a complete checkpoint"),
        (sizes, "of another size than in config.json", "they would be random: name a complete checkpoint"),
        (_unused(network, report["unexpected_keys"]), "in the checkpoint and not in the model", "correct config.json"),
    ):
        if keys:
            raise HeadscopeError(f"model '{name}': {len(keys)} weights are {problem} ({keys[0]}, ...); {remedy}")


def refuse_types(name: str, network: Any, stored: Mapping[str, StoredWeight]) -> None:
    """Raise `HeadscopeError` for stored weights that are no real floating-point numbers: they would be converted."""
    last = {path.rpartition(".")[2] for path, _ in network.named_parameters()} | {"gamma", "beta"}
    odd = sorted(
        key
        for key, weight in stored.items()
        if weight.dtype not in FLOATS and key.rpartition(".")[2] in last and not key.endswith(COMPUTED)
    )
    if odd:
        raise HeadscopeError(
            f"model '{name}': {len(odd)} weights are stored as {stored[odd[0]].dtype} ({odd[0]}, ...), not as one of "
            f"{', '.join(FLOATS)}; they would be read as other numbers: save the model in one of these"
        )


def _unused(network: Any, keys: Iterable[str]) -> list[str]:
    """Keys within the lists of layers that the model has, such as those of a layer too many."""
    from torch import nn

    lists = {f"{path}." for path, module in network.base_model.named_modules() if isinstance(module, nn.ModuleList)}
    start = f"{network.base_model_prefix}."
    return sorted(
        key for key in keys if key.removeprefix(start).startswith(tuple(lists)) and not key.endswith(COMPUTED)
    )


def refuse_non_finite(name: str, network: "nn.Module") -> None:
    """Raise `HeadscopeError`, with the place, if a weight is infinite or not a number."""
    import torch  # here, since to find the files of a model needs no torch

    from headscope.capture.spread import stored

    for path, parameter in network.named_parameters():
        weight = stored(network, path, parameter)
        # The ends of a weight tell without a copy of it: NaN is both.
        if weight.numel() and not torch.stack(torch.aminmax(weight)).isfinite().all():
            finite = torch.isfinite(weight)
            index = [number + 1 for number in (~finite).nonzero()[0].tolist()]
            raise HeadscopeError(
                f"model '{name}': {int((~finite).sum())} numbers of the weight {path} are not finite in "
                f"{str(weight.dtype).removeprefix('torch.')} (the first at {index}, counted from 1); "
                "download or train the model again"
            )


def hold_in_memory(network: "nn.Module") -> None:
    """Copy weights on the processor into memory: until then they are pages of their file, which may change or be cut.

    Where a file is cut, the operating system ends a process that reads such a page.
    """
    for values in (*network.parameters(), *network.buffers()):
        if values.device.type == "cpu":
            values.data = values.data.clone()
