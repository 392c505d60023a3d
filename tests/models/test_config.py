"""Sizes in config.json are held against the stored weights before memory is taken for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertForSequenceClassification

from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError
from headscope.models import config, load
from headscope.models.checkpoint import locate
from headscope.models.config import bounded, load_config
from headscope.training import initial
from support.loading import edit, refusal
from support.small_tasks import birds
from support.tiny import save_tiny, tiny_bert


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with quiet():
        return save_tiny(tmp_path / "model")


@pytest.mark.parametrize("key", ["max_position_embeddings", "type_vocab_size", "intermediate_size", "hidden_size"])
def test_a_size_beyond_the_weights_is_named(folder: Path, key: str) -> None:
    edit(folder / "config.json", **{key: 12_000_000})
    assert f"{key} in config.json is 12000000, and the longest side" in refusal(folder)


def test_nothing_is_allocated_for_a_size_that_is_refused(folder: Path) -> None:
    edit(folder / "config.json", intermediate_size=10**12)  # 96 TB
    assert "intermediate_size in config.json is 1000000000000" in refusal(folder)


@pytest.mark.parametrize("config", [{"num_labels": 10**5}, {"text_config": {"num_labels": 10**5}}])
def test_labels_beyond_the_weights_are_refused_before_naming(folder: Path, config: dict, never: Callable) -> None:
    edit(folder / "config.json", **config)
    never("transformers.AutoConfig.from_pretrained")
    assert "num_labels in config.json is 100000, and the longest side" in refusal(folder)


@pytest.mark.parametrize(
    "config",
    [{"num_hidden_layers": 9_999}, {"n_layer": 101}, {"encoder_layers": 101}, {"attention_types": [[["global"], 101]]}],
)
def test_layers_beyond_the_weights_are_refused_before_building(folder: Path, config: dict, never: Callable) -> None:
    edit(folder / "config.json", **config)
    never("transformers.AutoConfig.from_pretrained")
    assert f"model '{folder}': {next(iter(config))} in config.json is " in refusal(folder)


def test_few_layers_too_many_end_while_they_are_built(folder: Path) -> None:
    edit(folder / "config.json", num_hidden_layers=100)
    assert "more than 1220 arrays, and the weights are 55; correct" in refusal(folder)


def test_a_training_holds_the_sizes_against_the_weights_too(folder: Path) -> None:
    edit(folder / "config.json", intermediate_size=10**12)
    with pytest.raises(HeadscopeError, match=r"intermediate_size in config\.json is 1000000000000,"):
        initial(locate(str(folder)), birds(), "pretrained", 0)


def test_labels_of_a_model_whose_head_is_gone_are_no_reason_to_refuse(folder: Path) -> None:
    edit(folder / "config.json", num_labels=5_000)
    assert load(str(folder)).capture.heads == (4, 4, 4)


def test_a_weight_that_is_tied_or_loaded_counts_once(folder: Path, monkeypatch) -> None:
    checkpoint = locate(str(folder))
    numbers = sum(weight.numbers for weight in checkpoint.stored().values())
    monkeypatch.setattr(config, "TIMES", 1)
    monkeypatch.setattr(config, "MORE_NUMBERS", 200)  # buffers
    with bounded(checkpoint):
        network: Any = tiny_bert()
        for _ in range(3):
            network.embeddings.word_embeddings.weight = torch.nn.Parameter(
                network.embeddings.word_embeddings.weight + 1
            )
    assert sum(weight.numel() for weight in network.parameters()) == numbers


def test_outside_of_the_context_nothing_is_counted(folder: Path) -> None:
    with bounded(locate(str(folder))):
        pass
    assert torch.nn.Linear(10_000, 10_000, device="meta").weight.numel() == 10**8


def test_a_new_head_is_within_the_bound(folder: Path) -> None:
    config: Any = load_config(locate(str(folder)))
    with bounded(locate(str(folder))):
        assert BertForSequenceClassification(config).num_labels == 2
