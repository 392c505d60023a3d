"""A model whose layers are stacked half way is a shallow one before, and two copies of it on each other then."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import BertConfig, BertForMaskedLM, TrainerState

import headscope
from headscope import Settings
from headscope.errors import HeadscopeError
from headscope.studies.training.pretrain.plan import PretrainingPlan
from headscope.studies.training.pretrain.stacking import Stacking
from headscope.training import RunRecord
from support.claim_texts import repeated
from support.killed import Killed, kill
from support.small_tasks import tiny_folder

SIZES: dict[str, Any] = {"vocab_size": 20, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16}
SIZES |= {"max_position_embeddings": 8, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def below(name: str) -> str:
    """The name of the weight of the lower two layers from which a weight of four layers is copied."""
    return re.sub(r"layer\.(\d)", lambda layer: f"layer.{int(layer[1]) % 2}", name)


def stacked_by_hand(shallow: BertForMaskedLM, rate: Any) -> tuple[BertForMaskedLM, Any]:
    """Four layers with the weights of two, twice, and an optimiser with their moments."""
    deep, weights = BertForMaskedLM(BertConfig(**SIZES, num_hidden_layers=4)), dict(shallow.named_parameters())
    deep.load_state_dict({name: shallow.state_dict()[below(name)] for name in deep.state_dict()})
    optimizer = torch.optim.AdamW(deep.parameters(), lr=0.01)
    for name, weight in deep.named_parameters():
        optimizer.state[weight] = deepcopy(rate.state[weights[below(name)]])
    return deep, optimizer


def test_it_trains_as_a_naive_loop_over_a_shallow_and_then_a_deep_model() -> None:
    torch.manual_seed(0)
    network = BertForMaskedLM(BertConfig(**SIZES, num_hidden_layers=4))
    naive = BertForMaskedLM(BertConfig(**SIZES, num_hidden_layers=2))
    naive.load_state_dict({name: network.state_dict()[name] for name in naive.state_dict()})
    upper = network.bert.encoder.layer[2].state_dict()
    start = {name: weight.clone() for name, weight in upper.items()}
    stacking, state, losses = Stacking(network, 9), TrainerState(), []
    optimizers = [torch.optim.AdamW(model.parameters(), lr=0.01) for model in (network, naive)]
    stacking.on_train_begin(None, state, None)
    for step in range(1, 10):
        ids = torch.randint(20, (4, 8))
        for model, optimizer in zip((network, naive), optimizers, strict=True):
            optimizer.zero_grad()
            loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if step <= 4:
            assert all(torch.equal(weight, start[name]) for name, weight in upper.items()), "upper layers moved"
        state.global_step = step
        stacking.on_step_end(None, state, None, optimizer=optimizers[0])
        if step == 4:
            naive, optimizers[1] = stacked_by_hand(naive, optimizers[1])
    np.testing.assert_allclose(losses[::2], losses[1::2], atol=1e-6)
    lower = network.bert.encoder.layer[0].state_dict()
    assert not any(torch.equal(weight, upper[name]) for name, weight in lower.items() if weight.ndim > 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_folder(tmp_path_factory.mktemp("tiny"), num_hidden_layers=1))


def pretrained(folder: str, directory: Path, **given: Any) -> xr.Dataset:
    options = {"ways": "tokens", "seeds": 1, "batch": 16, "epochs": 2, "max_tokens": 16, "shapes": "2x2x8"} | given
    settings = Settings(resamples=20)
    return headscope.pretrain(
        repeated(0, 80), settings, vocabulary=folder, directory=directory, stacked=True, **options
    )


def test_it_stands_beside_the_deep_model_and_its_course_has_the_lower_half_twice(folder: str, tmp_path: Path) -> None:
    given = {"batch": 4, "epochs": 5, "learning_rate": 1e-2, "masked": 0.15, "shapes": "2x2x32"}
    result = pretrained(folder, tmp_path, **given)
    assert result["way"].values.tolist() == ["tokens", "tokens stacked"]
    assert float(result["frequency_gain"].min()) > 0.4
    steps = result["step"].values
    heads = RunRecord(tmp_path / "runs" / "tokens-stacked-0").heads()
    lower, upper = np.split(heads["focus"], 2, axis=1)
    assert np.array_equal(lower[steps < steps[-1] // 2], upper[steps < steps[-1] // 2])
    assert not np.allclose(lower[-1], upper[-1])
    noise = pretrained(folder, tmp_path / "noise", shuffle=True, **given)
    assert float(noise["frequency_gain"].max()) < 0.05


@pytest.mark.parametrize("call", [3, 7])
def test_an_interrupted_run_ends_with_the_same_weights(
    folder: str, tmp_path: Path, checkpoints: None, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    finished = pretrained(folder, tmp_path / "finished")
    with monkeypatch.context() as patch:
        kill(patch, RunRecord, "keep_checkpoint", 9 + call)
        with pytest.raises(Killed):
            pretrained(folder, tmp_path / "killed")
    assert not (tmp_path / "killed" / "models" / "tokens-stacked-0").exists()
    resumed = pretrained(folder, tmp_path / "killed")
    assert resumed.drop_vars("train_seconds").equals(finished.drop_vars("train_seconds"))
    weights = [tmp_path / name / "models" / "tokens-stacked-0" / "model.safetensors" for name in ("finished", "killed")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_an_odd_number_of_layers_is_refused() -> None:
    with pytest.raises(HeadscopeError, match=r"shape '3x4x64': 3 layers are no two halves to stack; use e\.g\. 4x4x64"):
        _ = PretrainingPlan(shapes="2x4x64,3x4x64", stacked=True).models
