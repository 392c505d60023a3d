"""The maps of a text against eager attention, for several families, in memory and in a file."""

import gc
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from headscope import models
from headscope.corpora.parsing.words import words
from headscope.encoding.batch import Rows
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.models import Model
from headscope.passes.batches import collator
from headscope.viewer import text_maps as module
from headscope.viewer.text_maps import TextMaps, text_maps
from headscope.viewer.text_tokens import TextTokens, text_tokens
from headscope.viewer.tiles import LEVELS, TILE
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_config, tiny_network

TEXT = "The old cat slept by the river, and the dogs weren't there. It was a small town."
LONG = {"max_position_embeddings": 400}
FAMILIES = ["bert", "distilbert", "modernbert", "deberta-v2", "roberta", "t5", "bart", "gpt2", "llama", "bloom"]


def family(kind: str) -> PreTrainedModel:
    return tiny_network(tiny_config(kind, vocab_size=len(tiny_vocabulary()), pad_token_id=0))


def wrapped(network: PreTrainedModel, most: int = 64) -> Model:
    return models.wrap(network, tiny_tokenizer(most))


def eager(model: Model, text: TextTokens) -> list[np.ndarray]:
    """The attention of transformers' eager model."""
    inputs = collator(model)([text.encoded]).inputs
    model.network.set_attn_implementation("eager")
    with torch.inference_mode():
        attentions = model.network(**inputs, output_attentions=True).attentions
    return [attention[0].float().numpy() for attention in attentions]


def assert_close(maps: TextMaps, expected: list[np.ndarray]) -> None:
    for layer, heads in enumerate(expected, 1):
        for head, attention in enumerate(heads, 1):
            tile = maps.tile(layer, head, 0, 0, 0)
            expected_tile = attention[:TILE, :TILE]
            bound = attention[:TILE].max(1, keepdims=True) / LEVELS + 1e-6
            assert (abs(tile.attention - expected_tile) <= bound).all(), (layer, head)


@pytest.mark.parametrize("kind", FAMILIES)
def test_tiles_are_eager_attention_within_a_255th_of_the_row(kind: str) -> None:
    model = wrapped(family(kind))
    text = text_tokens(model.tokenizer, 64, TEXT, "It rained.")
    assert_close(text_maps(model, text), eager(model, text))


@pytest.mark.parametrize("network", [tiny_bert, tiny_gpt2])
def test_a_long_text_in_a_file_has_the_same_maps(
    network: Callable[..., PreTrainedModel],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = wrapped(network(**(LONG if network is tiny_bert else {"n_positions": 400})), 400)
    text = text_tokens(model.tokenizer, 400, TEXT * 30)
    assert text.cut and len(text) == 400
    in_memory = text_maps(model, text)
    request.getfixturevalue("in_files")
    in_file = text_maps(model, text)
    assert in_file.in_file and not in_memory.in_file
    np.testing.assert_array_equal(in_memory.levels, in_file.levels)
    assert_close(in_file, eager(model, text))
    assert os.listdir(tmp_path) == []  # deleted already, so that no crash leaves it behind


@pytest.fixture
def in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAPS_IN_MEMORY", 1000)


def test_the_file_goes_with_the_maps(in_files: None) -> None:
    model = wrapped(tiny_bert())
    gc.collect()  # maps of other tests
    before = _deleted_files()
    maps = text_maps(model, text_tokens(model.tokenizer, 64, TEXT))
    assert len(_deleted_files()) == len(before) + 1
    del maps
    gc.collect()
    assert len(_deleted_files()) == len(before)


def _deleted_files() -> list[str]:
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if "headscope-" in line or ("(deleted)" in line and "/tmp" in line)]


def test_a_full_disk_is_one_line(in_files: None, full_disk: Callable) -> None:
    full_disk("os.posix_fallocate")
    model = wrapped(tiny_bert())
    with pytest.raises(HeadscopeError, match="No space left on device; write a shorter text"):
        text_maps(model, text_tokens(model.tokenizer, 64, TEXT))


def test_attention_that_is_not_finite_is_refused() -> None:
    model = wrapped(tiny_bert())
    with torch.no_grad():
        model.network.encoder.layer[1].attention.self.query.weight.fill_(torch.nan)  # type: ignore[union-attr]
    with pytest.raises(HeadscopeError, match="not finite"):
        text_maps(model, text_tokens(model.tokenizer, 64, TEXT))


def test_words_are_summed_as_keys_and_averaged_as_queries() -> None:
    model = wrapped(tiny_bert())
    spans = words(TEXT)
    (aligned,) = Words(model.tokenizer, 64, aligned=True).encode([Example("1", (Sentence(TEXT, words=spans),))])
    text = text_tokens(model.tokenizer, 64, TEXT)
    batch, attentions = collator(model)([aligned]), eager(model, text)
    inner = [number for number, word in enumerate(text.words) if word.span]
    assert len(inner) == len(spans)
    for layer, attention in enumerate(attentions, 1):
        rows = Rows(torch.from_numpy(attention)[None], batch, slice(0, 1), slice(0, len(text)))
        for head in range(1, 5):
            ours = text_maps(model, text).between_words(layer, head).attention[np.ix_(inner, inner)]
            expected = rows.between_words[0, head - 1].numpy()
            most = max(len(word.tokens) for word in text.words)
            np.testing.assert_allclose(ours, expected, atol=(most + 1) / LEVELS)
