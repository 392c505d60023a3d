"""How a folder of sentence-transformers makes an embedding of the states of a text."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Shaped
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import normalize
from transformers import PreTrainedModel

from headscope.errors import HeadscopeError

States = Float[Tensor, "example token width"]
Real = Shaped[Tensor, "example token"]
Vectors = Float[Tensor, "example number"]


def mean_state(states: States, real: Real) -> Vectors:
    """The mean over the real tokens of each example, as sentence-transformers makes embeddings.

    >>> mean_state(torch.tensor([[[1.0], [2.0], [9.0]]]), torch.tensor([[True, True, False]]))
    tensor([[1.5000]])
    """
    states = states.to(torch.promote_types(states.dtype, torch.float32))
    weights = real[..., None].to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1)


def _state_at(states: States, places: Tensor) -> Vectors:
    return states[torch.arange(len(states), device=states.device), places]


# Ways of pooling, in the order in which older versions put several one after the other.
POOLING: dict[str, Callable[[States, Real], Vectors]] = {
    "first": lambda states, real: _state_at(states, real.int().argmax(1)),
    "max": lambda states, real: states.masked_fill(~real.bool()[..., None], -torch.inf).amax(1),
    "mean": mean_state,
    "mean_sqrt_len": lambda states, real: mean_state(states, real) * real.sum(1, keepdim=True).to(states.dtype).sqrt(),
    "weighted_mean": lambda states, real: mean_state(states, real.to(states.dtype) * real.to(states.dtype).cumsum(1)),
    "last": lambda states, real: _state_at(states, real.shape[1] - 1 - real.flip(1).int().argmax(1)),
}
# Their names in versions 2 to 6 of sentence-transformers.
NAMES = {"cls": "first", "cls_token": "first", "max": "max", "max_tokens": "max", "mean": "mean", "mean_tokens": "mean"}
NAMES |= {"mean_sqrt_len_tokens": "mean_sqrt_len", "weightedmean": "weighted_mean"}
NAMES |= {"weightedmean_tokens": "weighted_mean", "lasttoken": "last"}
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    f"torch.nn.modules.{kind.__module__.rpartition('.')[2]}.{kind.__name__}": kind()
    for kind in (nn.Identity, nn.Tanh, nn.ReLU, nn.GELU, nn.Sigmoid, nn.SiLU)
}


@dataclass(frozen=True, eq=False)
class Dense:
    """A linear map of an embedding with an activation, beside what enters it where there is a `residual` map."""

    weight: Float[Tensor, "out in"]
    bias: Float[Tensor, " out"] | None
    activation: Callable[[Tensor], Tensor]
    residual: Float[Tensor, "out in"] | None = None

    def __call__(self, vectors: Vectors) -> Vectors:
        weight, bias, residual = (
            None if part is None else part.to(vectors) for part in (self.weight, self.bias, self.residual)
        )
        outputs = self.activation(nn.functional.linear(vectors, weight, bias))  # type: ignore[arg-type]
        return outputs if residual is None else outputs + vectors @ residual.mT


@dataclass(frozen=True, eq=False)
class SentenceModules:
    """What makes an embedding of last states, in float32 at least: pooling, then linear maps and normalisations."""

    pooling: tuple[str, ...] = ("mean",)
    layers: tuple[Callable[[Vectors], Vectors], ...] = ()

    def __call__(self, states: States, real: Real) -> Vectors:
        states = states.to(torch.promote_types(states.dtype, torch.float32))
        vectors = torch.cat([POOLING[way](states, real) for way in self.pooling], dim=-1)
        for layer in self.layers:
            vectors = layer(vectors)
        return vectors

    @property
    def direction(self) -> "SentenceModules":
        """The same without a normalisation at the end, which changes no cosine and leaves a gradient no length."""
        return replace(self, layers=self.layers[:-1]).direction if self.layers[-1:] == (_normalised,) else self


MEAN = SentenceModules()


def sentence_modules(network: PreTrainedModel) -> SentenceModules:
    """What makes an embedding of the states of a network: the modules of its folder; see `modules_in`."""
    return modules_in(Path(str(network.name_or_path)))


def modules_in(folder: Path) -> SentenceModules:
    """The modules of a folder; the mean for a folder without modules.

    Only safetensors weights are read, and activations of `ACTIVATIONS`.

    Raises `HeadscopeError` for modules, ways of pooling or activations that are not read.
    """
    listed = folder / "modules.json"
    try:
        stored = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []
        modules = [(str(module["type"]).rpartition(".")[2], str(module["path"])) for module in stored]
        options = {path: _options(folder / path, path) for _, path in modules}
        pooling, layers = ("mean",), list[Callable[[Vectors], Vectors]]()
        for kind, path in modules:
            if kind == "Pooling":
                pooling = _pooling(folder, options[path])
            elif kind == "Dense":
                layers.append(_dense(folder, path, options[path]))
            elif kind == "Normalize":
                layers.append(_normalised)
            elif kind not in ("Transformer", "Dropout"):
                raise HeadscopeError(
                    f"'{folder}': the module '{kind}' of sentence-transformers is not read; give a --task"
                )
    except (ValueError, TypeError, LookupError, AttributeError, OSError, SafetensorError) as error:
        raise HeadscopeError(
            f"'{folder}': its modules of sentence-transformers cannot be read; save it again"
        ) from error
    return SentenceModules(pooling, tuple(layers))


def _normalised(vectors: Vectors) -> Vectors:
    return normalize(vectors, dim=-1)


def _options(folder: Path, path: str) -> dict[str, Any]:
    """The options of a module, {} without any."""
    if Path(path).name != path:
        raise ValueError("a module outside of the folder")
    file = folder / "config.json"
    return json.loads(file.read_text(encoding="utf-8")) if path and file.is_file() else {}


def _pooling(folder: Path, options: dict[str, Any]) -> tuple[str, ...]:
    """The ways of pooling of a configuration: one key with names, or a key for each."""
    stated = options.get("pooling_mode")
    start = "pooling_mode_"
    if stated:
        names = [stated] if isinstance(stated, str) else list(map(str, stated))
    else:
        names = [key.removeprefix(start) for key, on in options.items() if key.startswith(start) and on]
        names.sort(key=lambda name: list(POOLING).index(NAMES[name]) if name in NAMES else -1)
    if not all(name in NAMES for name in names):
        raise HeadscopeError(
            f"'{folder}': it pools states by {' and '.join(names)}, which is not read; use a model that pools by "
            f"{', '.join(POOLING)}, or give a --task"
        )
    return tuple(NAMES[name] for name in names) or ("mean",)


def _dense(folder: Path, path: str, options: dict[str, Any]) -> Dense:
    activation = str(options.get("activation_function", "torch.nn.modules.activation.Tanh"))
    names = {str(options.get(name) or "sentence_embedding") for name in ("module_input_name", "module_output_name")}
    if activation not in ACTIVATIONS or names != {"sentence_embedding"}:
        raise HeadscopeError(
            f"'{folder}': its Dense has {activation[:80]!r} of {', '.join(sorted(names))[:80]}, which is not read; "
            "give a --task"
        )
    weights = load_file(folder / path / "model.safetensors")
    weight = weights["linear.weight"]
    residual = weights.get("residual.weight", torch.eye(len(weight))) if options.get("use_residual") else None
    return Dense(weight, weights.get("linear.bias"), ACTIVATIONS[activation], residual)
