"""Adapters of peft are merged into their base model, or refused in one line."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import normalizers
from transformers import BertForMaskedLM, BertForSequenceClassification

from headscope.capture.transformers_logging import quiet
from headscope.models import load
from headscope.models.checkpoint import locate
from support.adapted import adapted
from support.loading import edit, refusal
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer


@pytest.mark.parametrize("kind", [None, BertForSequenceClassification, BertForMaskedLM])
def test_the_merged_model_computes_what_peft_computes(kind: Any, tmp_path: Path) -> None:
    options = {"task_type": "SEQ_CLS"} if kind is BertForSequenceClassification else {}
    with quiet():
        theirs = adapted(tmp_path, tiny_bert(kind=kind) if kind else tiny_bert(), **options)
    ours, base = (load(str(tmp_path / name), device="cpu") for name in ("adapter", "base"))
    inputs = {"input_ids": torch.tensor([[2, 30, 40, 50, 3]])}
    with torch.inference_mode():
        expected = theirs(**inputs, output_hidden_states=True).hidden_states[-1]
        states = ours.network(**inputs).last_hidden_state
        assert not torch.allclose(states, base.network(**inputs).last_hidden_state, atol=1e-3)
    torch.testing.assert_close(states, expected, rtol=1e-5, atol=1e-5)
    assert type(ours.network) is type(base.network)
    assert ours.name == str(tmp_path / "adapter") and ours.sha256 not in ("", base.sha256)


def test_a_head_for_masked_words_keeps_its_adapter(tmp_path: Path) -> None:
    with quiet():
        theirs = adapted(tmp_path, tiny_bert(kind=BertForMaskedLM))
    inputs = {"input_ids": torch.tensor([[2, 30, 40, 50, 3]])}
    with torch.inference_mode():
        logits = load(str(tmp_path / "adapter"), head=True, device="cpu").network(**inputs).logits
        torch.testing.assert_close(logits, theirs(**inputs).logits, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n_stored", [3, 2])
def test_an_adapter_brings_its_own_classifier(n_stored: int, tmp_path: Path) -> None:
    with quiet():
        base = tiny_bert() if n_stored == 3 else tiny_bert(kind=BertForSequenceClassification)
        save_tiny(tmp_path / "stored", base)
        classifier = BertForSequenceClassification.from_pretrained(
            tmp_path / "stored", num_labels=3, ignore_mismatched_sizes=True
        )
        theirs = adapted(tmp_path, classifier, task_type="SEQ_CLS")
        (tmp_path / "base").rename(tmp_path / "unused")
        (tmp_path / "stored").rename(tmp_path / "base")
        ours = load(str(tmp_path / "adapter"), head=True, device="cpu")
    inputs = {"input_ids": torch.tensor([[2, 30, 40, 50, 3]])}
    with torch.inference_mode():
        torch.testing.assert_close(ours.network(**inputs).logits, theirs(**inputs).logits, rtol=1e-5, atol=1e-5)
    assert ours.network.config.num_labels == 3


def test_a_pooler_that_no_file_has_is_refused(tmp_path: Path) -> None:
    with quiet():
        save_tiny(tmp_path / "stored", tiny_bert(kind=BertForMaskedLM))
        classifier = BertForSequenceClassification.from_pretrained(tmp_path / "stored")
        adapted(tmp_path, classifier, task_type="SEQ_CLS")
        (tmp_path / "base").rename(tmp_path / "unused")
        (tmp_path / "stored").rename(tmp_path / "base")
    assert "2 weights are missing" in refusal(tmp_path / "adapter", head=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with quiet():
        adapted(tmp_path, tiny_bert())
    return tmp_path


def test_the_hash_is_of_base_and_adapter(folder: Path) -> None:
    before = locate(str(folder / "adapter")).sha256
    edit(folder / "adapter" / "adapter_config.json", lora_alpha=16)
    assert locate(str(folder / "adapter")).sha256 != before


def test_without_peft_one_line_says_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    assert refusal(folder / "adapter").endswith(" install 'headscope[adapters]'")


def test_pickled_adapters_are_refused(folder: Path) -> None:
    (folder / "adapter" / "adapter_model.safetensors").rename(folder / "adapter" / "adapter_model.bin")
    assert "no adapter_model.safetensors; save it with safetensors" in refusal(folder / "adapter")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"peft_type": "PROMPT_TUNING"}, "an adapter of type 'PROMPT_TUNING' cannot be merged"),
        ({"peft_type": ["LORA"]}, "cannot be merged into weights"),
        ({"base_model_name_or_path": None}, "names no base model; set base_model_name_or_path to a folder or a hub"),
        ({"base_model_name_or_path": 3}, "names no base model"),
        ({"base_model_name_or_path": "./nowhere/x"}, "is no folder and no hub name"),
        ({"target_modules": ["query"]}, "weights of the adapter do not fit its base model"),
        ({"target_modules": ["query", "value", "key"]}, "weights of the adapter do not fit its base model"),
        ({"r": 3}, "the adapter cannot be merged"),
    ],
)
def test_what_is_wrong_with_an_adapter_is_one_line(folder: Path, changes: dict[str, object], message: str) -> None:
    edit(folder / "adapter" / "adapter_config.json", **changes)
    assert message in refusal(folder / "adapter")


def test_an_adapter_of_itself_is_refused(folder: Path) -> None:
    edit(folder / "adapter" / "adapter_config.json", base_model_name_or_path=str(folder / "adapter"))
    assert "is an adapter of an adapter" in refusal(folder / "adapter")


def test_weights_of_an_adapter_that_are_no_numbers_are_refused(folder: Path) -> None:
    path = folder / "adapter" / "adapter_model.safetensors"
    weights = load_file(path)
    next(iter(weights.values()))[0, 0] = torch.nan
    save_file(weights, path)
    assert "are not finite" in refusal(folder / "adapter")


@pytest.mark.parametrize("text", ["[1]", "{", "[" * 5000])
def test_a_configuration_that_is_no_object_is_refused(folder: Path, text: str) -> None:
    (folder / "adapter" / "adapter_config.json").write_text(text)
    assert "adapter_config.json is no JSON object" in refusal(folder / "adapter")


def test_places_that_are_no_folder_are_one_line_and_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("gone").symlink_to("nowhere")
    Path("loop").symlink_to("loop")
    for name, kind in {
        "pipe": "a pipe or a device",
        "/dev/null": "a pipe or a device",
        "gone": "a link to nothing",
    }.items():
        assert refusal(Path(name)) == f"model '{name}' is {kind}; name the folder of a model"
    assert "is a link to nothing" in refusal(Path("loop"))
    assert "is no folder" in refusal(Path("~nobody-here/x"))


def test_a_pipe_among_the_files_of_a_model_is_refused(tmp_path: Path) -> None:
    with quiet():
        save_tiny(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    os.mkfifo(tmp_path / "tokenizer_config.json")
    assert refusal(tmp_path) == f"model '{tmp_path}': 'tokenizer_config.json' is no plain file; remove it"


def test_the_tokenizer_of_an_adapter_is_read(tmp_path: Path) -> None:
    with quiet():
        adapted(tmp_path, tiny_bert())
    before = locate(str(tmp_path / "adapter")).settings().sha256
    own: Any = tiny_tokenizer()
    own.backend_tokenizer.normalizer = normalizers.Replace("dog", "cat")
    own.save_pretrained(tmp_path / "adapter")
    adapter, base = (load(str(tmp_path / name), device="cpu") for name in ("adapter", "base"))
    assert adapter.tokenizer("a dog")["input_ids"] == base.tokenizer("a cat")["input_ids"]
    assert locate(str(tmp_path / "adapter")).settings().sha256 != before
