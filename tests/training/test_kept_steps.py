"""Kept steps of a training that are damaged, or of another network, are refused."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import headscope
from headscope import HeadscopeError
from headscope.storage.hashes import FILE
from headscope.training.steps import KeptSteps, StepKeeper
from support.tiny import tiny_bert, tiny_tokenizer


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """The folder of two steps."""
    model = headscope.wrap(tiny_bert(num_hidden_layers=1), tiny_tokenizer())
    keeper = StepKeeper(tmp_path / "steps", model, (1, 2))
    for step in (1, 2):
        with torch.no_grad():
            next(model.network.parameters()).add_(0.5)
        keeper.on_step_end(None, SimpleNamespace(global_step=step), None)
    return tmp_path / "steps"


def without_one(tensors: dict[str, Any]) -> dict[str, Any]:
    return dict(list(tensors.items())[1:])


def a_number(tensors: dict[str, Any]) -> dict[str, Any]:
    return tensors | {name: tensor.flatten()[:1].clone() for name, tensor in list(tensors.items())[:1]}


def other_type(tensors: dict[str, Any]) -> dict[str, Any]:
    return {name: tensor.float() for name, tensor in tensors.items()}


def another_name(tensors: dict[str, Any]) -> dict[str, Any]:
    return {f"{name}.other": tensor for name, tensor in tensors.items()}


@pytest.mark.parametrize("change", [without_one, a_number, other_type, another_name])
@pytest.mark.parametrize("digests", [True, False])
def test_a_step_with_other_tensors_is_refused(steps: Path, change: Any, digests: bool) -> None:
    save_file(change(load_file(steps / "step-2.safetensors")), steps / "step-2.safetensors")
    if not digests:  # as of a folder that another program wrote
        (steps / FILE).unlink()
    with pytest.raises(HeadscopeError, match=r"step-2.safetensors' is damaged.*remove it"):
        kept = KeptSteps(steps)
        start, moving = (headscope.load(str(kept.start)) for _ in range(2))
        for step in kept.paths:
            kept.put(moving, start, step)


@pytest.mark.parametrize("name", ["step-1.safetensors", "start/model.safetensors"])
def test_a_flipped_bit_is_noticed(steps: Path, name: str) -> None:
    path = steps / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(HeadscopeError, match=rf"{name.partition('/')[0]}' is damaged"):
        KeptSteps(steps)


def test_steps_that_do_not_fit_on_the_disk_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=10_000))
    model = headscope.wrap(tiny_bert(num_hidden_layers=1), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match=r"20 steps take .* GB, and .* keep fewer by --keep-steps"):
        StepKeeper(tmp_path, model, range(20))
