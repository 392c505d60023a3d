"""Models of tests are there soon: a network is checked once, and examples of docstrings share the built-in model."""

import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from torch import nn
from transformers import PreTrainedModel

from headscope.capture.self_check import Capture, check
from headscope.models import loading
from headscope.models import model as wrapping
from headscope.models.checkpoint import locate

STEPS = ("_network", "check", "load_tokenizer", "read_as")
# What these tests are about is how models are checked.
CHECKING = ("tests/capture/", "tests/models/")
LARGEST, LARGE = 10**6, 3.0  # number of the weights of a tiny network; a weight that is not small
CHECKED: dict[object, Capture] = {}


@pytest.fixture(autouse=True, scope="session")
def checked_once() -> Iterator[None]:
    """The same tiny network, made or loaded again or with other small weights, is known to be captured exactly."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (loading, wrapping):
            patch.setattr(module, "check", _checked)
        yield


@pytest.fixture(autouse=True)
def shared_model(request: pytest.FixtureRequest) -> Iterator[None]:
    """Within an example the steps of `models.load` give what they gave for the built-in model before."""
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(request.node, pytest.DoctestItem):
            for name in STEPS:
                patch.setattr(loading, name, _once(getattr(loading, name)))
        yield


def _checked(network: PreTrainedModel) -> Capture:
    weights = [*network.parameters(), *network.buffers()]
    hooked = any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
    tiny = sum(weight.numel() for weight in weights) <= LARGEST and all(weight.is_cpu for weight in weights)
    if hooked or not tiny or os.environ["PYTEST_CURRENT_TEST"].startswith(CHECKING):
        return check(network)
    # Where a weight is not a number, no key is the same again; small weights let no check fail that others pass.
    small = all(weight.numel() == 0 or bool(weight.detach().float().abs().max() < LARGE) for weight in weights)
    known = [weight.shape if small else float(weight.detach().double().sum()) for weight in weights]
    key = (type(network), network.config.to_json_string(), network.training, str(network.dtype), *known)
    if key not in CHECKED:
        CHECKED[key] = check(network)
    return CHECKED[key]


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
