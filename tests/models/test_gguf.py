"""GGUF files are read as the models that they were made from; whatever in them is not read is refused by name."""

import struct
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headscope import results
from headscope.errors import HeadscopeError
from headscope.models import gguf_model, load
from headscope.models.checkpoint import locate
from headscope.models.gguf_file import gguf_file
from headscope.storage.limits import MOST_ENTRIES
from headscope.training.beginning import run_environment
from support.cli import run_command
from support.loading import edit, refusal
from support.tiers import paired
from support.tiny import byte_tokenizer
from support.written_gguf import NETWORKS, save_bytes, tiny_decoder, without_weights, write_gguf

TEXT = "The cat sat down."


def states(network, text: str = TEXT) -> tuple[torch.Tensor, torch.Tensor]:
    """The states and the attention of each layer, of eager attention."""
    network.set_attn_implementation("eager")
    with torch.inference_mode():
        ids = torch.tensor([byte_tokenizer()(text)["input_ids"]])
        output = network.base_model(ids, output_hidden_states=True, output_attentions=True)
    return torch.stack(output.hidden_states), torch.stack(output.attentions)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return save_bytes(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "model.gguf", "qwen3", tiny_decoder("qwen3"))


@pytest.mark.parametrize(("architecture", "quantised"), paired(NETWORKS, [False, True]))
def test_states_and_attention_are_those_of_the_model(architecture, quantised, folder, tmp_path) -> None:
    network = tiny_decoder(architecture)
    path = write_gguf(tmp_path / "model.gguf", architecture, network, quantised=quantised)
    with patch.object(gguf_model, "MOST_NUMBERS", 512):  # weights have several parts
        model = load(str(path), tokenizer=folder)
    for found, expected in zip(states(model.network), states(network), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-5 * float(expected.abs().max()))
    with_head = load(str(path), tokenizer=folder, head=True)
    ids = torch.arange(20)[None]
    with torch.inference_mode():
        torch.testing.assert_close(with_head.network(ids).logits, network(ids).logits, rtol=1e-4, atol=1e-4)


def test_the_command_gives_the_numbers_of_the_model_and_says_how_it_is_quantised(folder, tmp_path) -> None:
    """The mean attention to the first token and the entropy, added up row by row over the attention of the model."""
    network, texts = tiny_decoder("gemma3"), ["The cat sat down.", "Nobody saw it, and it left."]
    path = write_gguf(tmp_path / "model.gguf", "gemma3", network, quantised=True)
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    words = ("profile", path, tmp_path / "texts.txt", "--kind", "text", "--tokenizer", folder, "-o", tmp_path / "out")
    assert run_command(*words, "--no-figures").exit_code == 0
    result = results.read(tmp_path / "out")
    expected = np.zeros((7, 4))
    for text in texts:
        attention = states(network, text)[1][:, 0].double().numpy()
        for layer in range(7):
            for head in range(4):
                rows = [-(row[row > 0] * np.log(row[row > 0])).sum() for row in attention[layer, head]]
                expected[layer, head] += np.mean(rows) / len(texts)
    np.testing.assert_allclose(result["entropy"].values, expected, atol=1e-5)
    assert result.attrs["quantisation"] == "Q8_0: 50 weights Q8_0, 43 weights F32"
    assert "Q8_0: 50 weights Q8_0" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_its_own_tokenizer_is_read_where_no_other_is_named(tmp_path: Path) -> None:
    tokenizer = byte_tokenizer(merges=[("t", "h"), ("th", "e")])
    path = write_gguf(tmp_path / "model.gguf", "qwen3", tiny_decoder("qwen3"), tokenizer)
    model, text = load(str(path)), "See the cat's “2,023” naïve Straße."
    assert model.tokenizer(text)["input_ids"] == tokenizer(text)["input_ids"]


def test_frequencies_of_llama_3_are_those_of_its_rope_type(folder: Path, tmp_path: Path) -> None:
    scaled = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    scaled |= {"original_max_position_embeddings": 32, "rope_theta": 5_000.0}
    network: Any = tiny_decoder("llama", rope_parameters=scaled)
    plain = 5_000.0 ** -(torch.arange(0, 32, 2) / 32)
    factors = (plain / network.base_model.rotary_emb.inv_freq).numpy()
    path = write_gguf(tmp_path / "model.gguf", "llama", network, weights={"rope_freqs.weight": factors})
    model = load(str(path), tokenizer=folder)
    torch.testing.assert_close(states(model.network)[0], states(network)[0], rtol=1e-4, atol=1e-4)


def test_linear_scaling_is_that_of_the_file(folder: Path, tmp_path: Path) -> None:
    scaled = {"rope_type": "linear", "factor": 4.0, "rope_theta": 5_000.0}
    network = tiny_decoder("llama", rope_parameters=scaled)
    keys = {"rope__scaling__type": "linear", "rope__scaling__factor": 4.0}
    path = write_gguf(tmp_path / "model.gguf", "llama", network, **keys)
    torch.testing.assert_close(
        states(load(str(path), tokenizer=folder).network)[0], states(network)[0], rtol=1e-4, atol=1e-4
    )


ORIGINAL = "; name the folder of the model that the file was made from"


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"attention__head_count": 8}, "llama.attention.head_count is 8 (256 rows), and the number of rows of "
         "blk.0.attn_q.weight is 128"),
        ({"attention__head_count_kv": 4}, "llama.attention.head_count_kv is 4 (128 rows), and the number of rows of "
         "blk.0.attn_k.weight is 64"),
        ({"attention__value_length": 16}, "llama.attention.key_length is 32, and head_dim of its configuration is 16"),
        ({"attention__sliding_window": 4}, "llama.attention.sliding_window is 4 and is not read"),
        ({"block_count": 3}, "llama.block_count is 3, and the number of layers in it is 2"),
        ({"rope__scaling__type": "yarn"}, "llama.rope.scaling.type is yarn and is not read"),
        ({"expert_count": 4}, "llama.expert_count is 4 and is not read"),
        ({"embedding_length": None}, "the file does not state llama.embedding_length"),
    ],
)  # fmt: skip
def test_what_the_file_states_otherwise_is_refused_with_the_key_and_both_values(keys, line, folder, tmp_path) -> None:
    network = tiny_decoder("llama")
    path = write_gguf(tmp_path / "model.gguf", "llama", network, **keys)
    assert line + ORIGINAL in refusal(path, tokenizer=folder)


def test_the_configuration_beside_the_tokenizer_must_be_of_the_same_model(tmp_path: Path) -> None:
    network = tiny_decoder("gemma3", query_pre_attn_scalar=16)
    network.config.save_pretrained(tmp_path / "original")
    folder = save_bytes(tmp_path / "original")
    path = write_gguf(tmp_path / "model.gguf", "gemma3", network)
    said = refusal(path, tokenizer=folder)
    assert "query_pre_attn_scalar by the file is 32" in said and f"of '{folder}' is 16{ORIGINAL}" in said
    edit(folder / "config.json", query_pre_attn_scalar=32)
    locate(str(path), tokenizer=folder)


def test_what_is_not_read_is_refused_by_name(folder: Path, file: Path, tmp_path: Path) -> None:
    other = without_weights(tmp_path / "other.gguf", "phi3")
    assert "'phi3' are not read, but those of gemma, gemma2, gemma3," in refusal(other, tokenizer=folder)
    more = write_gguf(
        tmp_path / "more.gguf", "qwen3", tiny_decoder("qwen3"), weights={"blk.0.x.weight": np.ones(4, np.float32)}
    )
    assert "its weight blk.0.x.weight is not read" in refusal(more, tokenizer=folder)
    assert f"name its file {file.name}" in refusal(file.parent)
    assert refusal("missing.gguf").startswith("model 'missing.gguf' does not exist; check the path")
    assert "is no folder with a tokenizer" in refusal(file, tokenizer=tmp_path / "nothing")
    with pytest.raises(HeadscopeError, match="a GGUF file is read, not trained"):
        run_environment(str(file), tmp_path / "out")


def test_a_missing_package_is_one_line_with_the_remedy(file: Path, folder: Path, monkeypatch) -> None:
    monkeypatch.setattr("headscope.catalog.find_spec", lambda module: None)
    assert (
        refusal(file, tokenizer=folder)
        == f"GGUF files need gguf: uv pip install -p '{sys.executable}' 'headscope[gguf]'"
    )


@pytest.mark.parametrize("at", [8, 16])
def test_counts_beyond_the_bounds_are_refused(at: int, file: Path) -> None:
    """The counts of weights and of keys, which follow the version."""
    content = file.read_bytes()
    file.write_bytes(content[:at] + struct.pack("<Q", MOST_ENTRIES + 1) + content[at + 8 :])
    said = refusal(file)
    assert said.startswith(f"model '{file}' is not a complete GGUF file") and said.endswith("download it again")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(data, file: Path) -> None:
    content = file.read_bytes()
    at = data.draw(st.integers(0, 1_500))
    changed = data.draw(st.binary(min_size=1, max_size=8))
    cut = data.draw(st.sampled_from([len(content), 1_000, at]))
    damaged = file.with_name("damaged.gguf")
    damaged.write_bytes((content[:at] + changed + content[at + len(changed) :])[:cut])
    try:
        gguf_file(damaged, "x")
        locate(str(damaged))
    except HeadscopeError as error:
        assert "\n" not in str(error)
