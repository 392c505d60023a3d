"""Weights are read from safetensors inside the folder, hashed as they are read, complete and finite."""

import hashlib
import json
from collections.abc import Callable
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertForSequenceClassification

from headscope.capture.transformers_logging import quiet
from headscope.models import load
from headscope.models.checkpoint import locate
from support.loading import edit, refusal
from support.tiny import save_tiny, tiny_bert, tiny_vocabulary

INDEX, SINGLE = "model.safetensors.index.json", "model.safetensors"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with quiet():
        return save_tiny(tmp_path / "model")


def sharded(folder: Path, name: Callable[[int], str] = lambda number: f"part-{number}.safetensors") -> None:
    """Split the weights into two shards with an index."""
    weights = load_file(folder / SINGLE)
    (folder / SINGLE).unlink()
    names = {key: name(number % 2) for number, key in enumerate(sorted(weights))}
    for file in set(names.values()):
        save_file({key: weights[key] for key in names if names[key] == file}, folder / file, {"format": "pt"})
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": names}))


def index_of(folder: Path, file: object) -> None:
    """An index that names one file for all weights, beside a file of another name."""
    weights = load_file(folder / SINGLE)
    (folder / SINGLE).rename(folder / "x.safetensors")
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(weights, file)}))


@pytest.mark.parametrize(
    "file", ["evil.bin", "../valid/model.safetensors", "/etc/x.safetensors", "a\\b.safetensors", 3]
)
def test_an_index_names_safetensors_inside_the_folder_alone(folder: Path, never: Callable, file: object) -> None:
    with quiet():
        save_tiny(folder.parent / "valid")
    torch.save(load_file(folder / SINGLE), folder / "evil.bin")
    index_of(folder, file)
    never("torch.load")
    assert refusal(folder) == (
        f"model '{folder}': {INDEX} names {str(file)!r}; only *.safetensors inside the folder are read"
    )


@pytest.mark.parametrize("text", ["[1]", "{}", '{"weight_map": 3}', "{", "[" * 100_000, '{"weight_map": {"a": []}}'])
def test_an_index_without_a_map_is_refused(folder: Path, text: str) -> None:
    (folder / SINGLE).unlink()
    (folder / INDEX).write_text(text)
    assert "has no weight_map" in refusal(folder)


def test_a_missing_shard_is_refused(folder: Path) -> None:
    sharded(folder)
    (folder / "part-1.safetensors").unlink()
    assert f"file 'part-1.safetensors' of {INDEX} is missing" in refusal(folder)


def test_the_hash_is_of_the_files_that_are_read(folder: Path) -> None:
    single = hashlib.sha256((folder / SINGLE).read_bytes()).hexdigest()
    save_file({"a": torch.zeros(1)}, folder / "another.safetensors")
    assert load(str(folder)).sha256 == single
    sharded(folder)
    parts = b"".join((folder / f"part-{number}.safetensors").read_bytes() for number in (0, 1))
    assert load(str(folder)).sha256 == hashlib.sha256(parts).hexdigest()


def test_a_located_checkpoint_is_loaded(folder: Path) -> None:
    located = locate(str(folder))
    assert load(located).sha256 == located.sha256
    assert load(located).name == str(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused_with_their_place(folder: Path, value: float) -> None:
    weights = load_file(folder / SINGLE)
    weights["embeddings.word_embeddings.weight"][17, 3] = value
    save_file(weights, folder / SINGLE, {"format": "pt"})
    said = refusal(folder)
    assert "1 numbers of the weight embeddings.word_embeddings.weight" in said and "[18, 4], counted from 1" in said


def test_a_weight_too_large_for_the_number_format_is_refused(folder: Path) -> None:
    weights = load_file(folder / SINGLE)
    weights["pooler.dense.weight"][0, 0] = 1e6
    save_file(weights, folder / SINGLE, {"format": "pt"})
    assert "pooler.dense.weight are not finite in float16" in refusal(folder, dtype="float16")
    load(str(folder))


@pytest.mark.parametrize("head", [False, True])
def test_fewer_layers_than_the_checkpoint_are_refused(tmp_path: Path, head: bool) -> None:
    with quiet():
        save_tiny(tmp_path, tiny_bert(kind=BertForSequenceClassification))
    edit(tmp_path / "config.json", num_hidden_layers=2)
    assert "16 weights are in the checkpoint and not in the model (" in refusal(tmp_path, head=head)
    assert "output.LayerNorm.bias, ...); correct config.json" in refusal(tmp_path, head=head)


def test_a_head_that_is_not_used_is_no_reason_to_refuse(tmp_path: Path) -> None:
    with quiet():
        save_tiny(tmp_path, tiny_bert(kind=BertForSequenceClassification))
    assert load(str(tmp_path)).capture.heads == (4, 4, 4)


MOST_HEADS: list[Any] = [[10**9] * 3, [-1, 4, 4], [], [4] * 20_000, [10_000] * 11, [float("inf")] * 3]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"transformers_weights": "x.safetensors.index.json"},
            "transformers_weights in config.json names other weights",
        ),
        *(({"model_type": kind}, "model_type in config.json is") for kind in (["bert"], {"a": 1}, 3)),
        *(
            ({"headscope_pruning": {"heads": heads, "removed": {}}}, "in config.json is no list of removed heads")
            for heads in MOST_HEADS
        ),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(folder: Path, changes: dict[str, Any], said: str) -> None:
    edit(folder / "config.json", **changes)
    assert said in refusal(folder)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", "[" * 100_000, "config.json is no JSON object"),
        ("adapter_config.json", "{}", "adapter_config.json would not be read; merge the adapter"),
        ("tokenizer_config.json", '{"model_max_length": "long"}', "model_max_length"),
    ],
)
def test_a_file_that_cannot_be_is_refused(folder: Path, name: str, content: str, said: str) -> None:
    (folder / name).write_text(content)
    assert said in refusal(folder)


@pytest.mark.parametrize("path", [("model", "vocab", "garden"), ("post_processor", "special_tokens", "[SEP]", "ids")])
def test_a_token_id_beyond_the_embedding_is_refused(folder: Path, path: tuple[str, ...]) -> None:
    stored = json.loads((folder / "tokenizer.json").read_text())
    inner = reduce(getitem, path[:-1], stored)
    inner[path[-1]] = [31000] if path[-1] == "ids" else 31000
    (folder / "tokenizer.json").write_text(json.dumps(stored))
    assert f"has the token id 31000, the embedding ends at {len(tiny_vocabulary()) - 1}" in refusal(folder)


def test_heads_that_transformers_would_not_remove_are_refused(folder: Path) -> None:
    edit(folder / "config.json", pruned_heads={"0": [1]})
    assert "config.json removes heads (pruned_heads: {'0': [1]})" in refusal(folder)
    edit(folder / "config.json", pruned_heads={})
    assert load(str(folder)).capture.heads == (4, 4, 4)


@pytest.mark.parametrize(
    ("dtype", "name"),
    [(torch.int8, "I8"), (torch.complex64, "C64"), (torch.bool, "BOOL"), (torch.float8_e4m3fn, "F8_E4M3")],
)
def test_weights_that_would_be_converted_are_refused(folder: Path, dtype: torch.dtype, name: str) -> None:
    weights = load_file(folder / SINGLE)
    key = "encoder.layer.0.attention.self.query.weight"
    weights[key] = weights[key].to(dtype)
    save_file(weights, folder / SINGLE, {"format": "pt"})
    assert f"1 weights are stored as {name} ({key}, ...), not as one of F64, F32" in refusal(folder)


def test_whole_numbers_that_are_no_weights_are_read(folder: Path) -> None:
    """Positions, as older versions of transformers saved them."""
    weights = load_file(folder / SINGLE) | {"embeddings.position_ids": torch.arange(64)[None]}
    save_file(weights, folder / SINGLE, {"format": "pt"})
    assert load(str(folder)).capture.heads == (4, 4, 4)


def test_weights_are_in_memory_and_not_pages_of_their_file(folder: Path) -> None:
    model, path = load(str(folder)), str(folder / SINGLE)
    assert path not in Path("/proc/self/maps").read_text()
    (folder / SINGLE).write_bytes(b"")  # reading a page of a file that was cut ends the process
    assert all(torch.isfinite(weight).all() for weight in model.network.parameters())


def test_an_error_of_removed_heads_names_the_folder(folder: Path) -> None:
    edit(folder / "config.json", headscope_pruning={"heads": [4, 4, 4], "removed": {"9": [1]}})
    assert "(there are no heads [1] in layer 9); prune the original" in refusal(folder)
