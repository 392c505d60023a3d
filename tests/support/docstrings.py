"""Examples of docstrings share the built-in model: it is read and checked once, and each gets a copy of its weights."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from torch import nn

from headscope.models import loading
from headscope.models.checkpoint import locate

STEPS = ("_network", "check", "load_tokenizer", "read_as")


@pytest.fixture(autouse=True)
def shared_model(request: pytest.FixtureRequest) -> Iterator[None]:
    """Within an example the steps of `models.load` give what they gave for the built-in model before."""
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(request.node, pytest.DoctestItem):
            for name in STEPS:
                patch.setattr(loading, name, _once(getattr(loading, name)))
        yield


@cache
def _once(step: Callable[..., Any]) -> Callable[..., Any]:
    results: dict[object, Any] = {}

    def call(model: Any, *args: Any, **options: Any) -> Any:
        folder = getattr(model, "name_or_path", getattr(model, "folder", model))  # of a network, a checkpoint, a name
        if str(folder) not in ("minilm", str(locate("minilm").folder)):
            return step(model, *args, **options)
        key = (type(model), getattr(model, "dtype", ""), str(options))
        if key not in results:
            results[key] = step(model, *args, **options)
        return deepcopy(results[key]) if isinstance(results[key], nn.Module) else results[key]

    return call
