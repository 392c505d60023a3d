"""Pages name the special tokens that a model has: [CLS] and [SEP] only where it was trained with them."""

import json
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from tokenizers.processors import TemplateProcessing
from transformers import AutoModelForCausalLM, LlamaConfig

import headscope
from headscope import Settings
from headscope.encoding.encoded import special_names
from headscope.figures.labels import label, special_tokens
from headscope.report.cards.model_results import model_of
from headscope.report.result_page import write
from headscope.report.study_page import study_page
from headscope.viewer.saved_index import model_numbers
from support.tiny import byte_tokenizer, tiny_bert, tiny_network, tiny_tokenizer

TEXTS = ["The cat sat, and the dog ran.", "She saw a bird.", "It was old. He left.", "A small town, by the river."] * 3


def decoder_tokenizer(template: str) -> Any:
    """A tokenizer that puts tokens around a text by a template."""
    tokenizer: Any = byte_tokenizer()
    tokenizer.add_special_tokens({"bos_token": "<bos>", "eos_token": "<eos>"})
    numbers = [(name, tokenizer.convert_tokens_to_ids(name)) for name in ("<bos>", "<eos>")]
    tokenizer._tokenizer.post_processor = TemplateProcessing(single=template, special_tokens=numbers)
    return tokenizer


@pytest.fixture(scope="module")
def decoder() -> xr.Dataset:
    tokenizer = decoder_tokenizer("<bos> $A")
    config = LlamaConfig(vocab_size=300, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                         num_key_value_heads=2, intermediate_size=16, max_position_embeddings=64)  # fmt: skip
    network: Any = tiny_network(config, 0, AutoModelForCausalLM).base_model
    return headscope.profile(headscope.wrap(network, tokenizer), TEXTS, Settings(resamples=20))


def test_the_names_of_special_tokens_are_those_in_an_input() -> None:
    assert special_names(tiny_tokenizer()) == {"cls": "[CLS]", "sep": "[SEP]"}
    assert special_names(decoder_tokenizer("<bos> $A")) == {"cls": "<bos>", "sep": ""}
    assert special_names(decoder_tokenizer("$A <eos>")) == {"cls": "", "sep": "<eos>"}
    assert special_names(byte_tokenizer()) == {"cls": "", "sep": ""}


@pytest.mark.always
def test_the_page_of_a_decoder_speaks_of_its_own_first_token(decoder: xr.Dataset, tmp_path: Path) -> None:
    assert json.loads(decoder.attrs["special_tokens"]) == {"cls": "<bos>", "sep": ""}
    page = write(decoder, tmp_path, formats=()).read_text(encoding="utf-8")
    assert "[CLS]" not in page and "[SEP]" not in page
    assert "&lt;bos&gt;" in page and "<bos>" not in page
    findings = {finding.topic: finding.text for finding in study_page(decoder).findings()}
    assert "attention to <bos>" in findings["Start token"] and "inputs have no separator" in findings["Separators"]
    assert "<bos> in the last layer" not in findings  # it sees itself alone
    kinds = model_numbers(model_of(decoder))
    assert kinds["names"]["cls"] == "<bos>" and "<bos>" in kinds["meanings"]["cls"]


def test_a_page_of_bert_stays(tmp_path: Path) -> None:
    result = headscope.profile(headscope.wrap(tiny_bert(), tiny_tokenizer()), TEXTS, Settings(resamples=20))
    topics = [finding.topic for finding in study_page(result).findings()]
    assert "[CLS] in the last layer" in topics
    unnamed = result.copy()
    unnamed.attrs.pop("special_tokens")
    assert [finding.topic for finding in study_page(unnamed).findings()] == topics


@pytest.mark.parametrize("stored", ["[", "[1]", "3", '{"cls": null}', '{"cls": {"a": 1}}', "null"])
def test_a_strange_attribute_is_no_error(stored: str) -> None:
    with special_tokens({"special_tokens": stored}):
        assert label("token_class", "punct") == "punctuation" and label("token_class", "cls")
    assert label("token_class", "cls") == "[CLS]"
