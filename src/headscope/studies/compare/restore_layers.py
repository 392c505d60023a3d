"""Restore the lower layers of a fine-tuned model to their weights before training, and undo it.

Hao et al. 2019, after A Primer in BERTology (Rogers et al. 2020, section 5): restoring the weights of lower layers to
their original values does not dramatically hurt a fine-tuned model. Layers are those of the encoder. The Primer does
not mention embeddings; they are restored on request.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from headscope.errors import HeadscopeError
from headscope.models.model import Model

Parts = list[list[nn.Module]]


@contextmanager
def restoring(model: Model, source: Model, *, embeddings: bool = False) -> Iterator[Callable[[int], None]]:
    """Context of a function `restore(layer)` that puts the source's weights into a layer of the model, from 1.

    At the end of the context the model has its own weights again.

    * `embeddings`: restore the embeddings together with layer 1.

    Raises `HeadscopeError` if the layers cannot be identified, or the weights differ in names or sizes.
    """
    ours, theirs = (_parts(each, embeddings) for each in (model, source))
    for mine, other in zip(ours, theirs, strict=True):
        if _shapes(mine) != _shapes(other):
            raise HeadscopeError(
                f"model '{model.name}' cannot take the layers of '{source.name}': their weights have other names or "
                "sizes; name the model that it was trained from first"
            )
    before: dict[int, list[dict[str, Tensor]]] = {}

    def restore(layer: int) -> None:
        mine, other = ours[layer - 1], theirs[layer - 1]
        before.setdefault(layer, [_copied(module) for module in mine])
        _put(mine, [module.state_dict() for module in other])

    try:
        yield restore
    finally:
        for layer, weights in before.items():
            _put(ours[layer - 1], weights)


def _parts(model: Model, embeddings: bool) -> Parts:
    """The modules of each layer: one, or several in families with lists of parts (XLM)."""
    lists: dict[str, nn.ModuleList] = {}
    for path, module in model.network.base_model.named_modules():
        within = any(path.startswith(f"{outer}.") for outer in lists)
        if isinstance(module, nn.ModuleList) and len(module) == len(model.capture.heads) and not within:
            lists[path] = module
    if not lists:
        kind = model.network.config.model_type
        raise HeadscopeError(f"model type '{kind}': its layers cannot be identified; leave out --restore")
    parts = [list(modules) for modules in zip(*lists.values(), strict=True)]
    if embeddings:
        parts[0] += _embeddings(model)
    return parts


def _embeddings(model: Model) -> list[nn.Module]:
    """The modules below the first layer: the embedding module, or its tables."""
    base: Any = model.network.base_model
    word = base.get_input_embeddings()
    path = next(name for name, module in base.named_modules() if module is word)
    around = base.get_submodule(path.rpartition(".")[0])
    if any(isinstance(module, nn.ModuleList) for module in around.modules()):
        return [module for module in around.children() if isinstance(module, nn.Embedding)]
    return [around]


def _shapes(modules: list[nn.Module]) -> list[dict[str, torch.Size]]:
    return [{name: weight.shape for name, weight in module.state_dict().items()} for module in modules]


def _copied(module: nn.Module) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in module.state_dict().items()}


def _put(modules: list[nn.Module], weights: list[dict[str, Tensor]]) -> None:
    for module, states in zip(modules, weights, strict=True):
        module.load_state_dict(states)
