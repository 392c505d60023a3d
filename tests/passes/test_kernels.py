"""The number of operators of a pass: on an accelerator each is a kernel that is launched."""

from collections import Counter
from typing import Any

import pytest
from torch.utils._python_dispatch import TorchDispatchMode

import headscope
from headscope import catalog
from headscope.capture import softmax
from headscope.measures import SURFACE
from headscope.passes.forward import observing
from headscope.passes.observing import MeasureObserver
from headscope.testing.hand_made import tokens
from support.tiny import tiny_bert, tiny_tokenizer

MOST = 40
NO_KERNELS = {f"aten::{name}" for name in ("new_empty", "promote_types", "dropout", "detach_")}


class Launches(TorchDispatchMode):
    """Counts operators that compute; those that return views of their inputs do not."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> object:
        if not func.is_view and func._schema.name not in NO_KERNELS:
            self.names.append(func._schema.name)
        return func(*args, **(kwargs or {}))


def launches(layers: int) -> list[str]:
    """The operators of a batch with every measure of `profile`, after a batch that has prepared what is shared."""
    model = headscope.wrap(tiny_bert(num_hidden_layers=layers), tiny_tokenizer())
    inputs = [tokens("coopoos", [("noun", 2)], [("verb_to_subject", 1, 2)], 0), tokens("coos", index=1)]
    observer = MeasureObserver({name: catalog.load("measures", name) for name in SURFACE})
    with observing(model, observer) as observe, Launches() as counted:
        observe(inputs)
    return counted.names


def test_a_layer_launches_few_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "on_processor", lambda tensor: False)
    few, many = launches(2), launches(5)
    by_layer = Counter(many) - Counter(few)
    assert 10 * 3 < by_layer.total() <= MOST * 3, by_layer
