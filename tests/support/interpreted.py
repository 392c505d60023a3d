"""Triton's interpreter, which runs the kernels of a GPU on a processor; without triton its tests are skipped."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

from headscope import Model
from headscope.capture import fused_statistics


def refuse_without_triton() -> None:
    """Skip the tests of a module without triton, or fail where HEADSCOPE_STRICT is 1."""
    if find_spec("triton") is None:
        reason = "no triton, whose interpreter runs the kernels here; pip install triton"
        if os.environ.get("HEADSCOPE_STRICT") == "1":
            pytest.fail(reason)
        pytest.skip(reason, allow_module_level=True)


@contextmanager
def fused(*models: Model) -> Iterator[None]:
    """Within this context kernels run on this processor, for models that forget what they knew of it."""
    fused_statistics.DEVICES.add("cpu")
    try:
        _forget(models)
        yield
    finally:
        fused_statistics.DEVICES.discard("cpu")
        _forget(models)


def _forget(models: tuple[Model, ...]) -> None:
    for model in models:
        vars(model).pop("needs_map", None)
