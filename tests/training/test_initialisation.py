"""What training starts from: which weights are the checkpoint's, which are new, which learn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, BartConfig, BertForSequenceClassification

import headscope
from headscope import HeadscopeError
from headscope.capture.transformers_logging import quiet
from headscope.models.checkpoint import locate
from headscope.models.heads import existing
from headscope.models.pruned_folder import save, write
from headscope.studies.size.prune.cut_heads import prune
from headscope.training import initial
from headscope.training.initialisation import set_for_training
from support.adapted import adapted
from support.small_tasks import birds, counts, tiny_folder
from support.tiny import save_tiny, tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_folder(tmp_path_factory.mktemp("tiny"))


def weights(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: weight.detach() for name, weight in network.named_parameters()}


@pytest.mark.parametrize("init", ["pretrained", "finetuned", "frozen"])
def test_encoder_is_the_checkpoints_and_the_classifier_is_new(folder: Path, init: str) -> None:
    start = initial(locate(str(folder)), birds(), init, seed=0)
    assert start.new == ("classifier.bias", "classifier.weight")
    stored = weights(AutoModel.from_pretrained(folder))
    found = weights(start.network.base_model)
    assert found.keys() == stored.keys()
    assert all(torch.equal(found[name], stored[name]) for name in stored)
    learning = {name for name, parameter in start.network.named_parameters() if parameter.requires_grad}
    assert learning == (set(start.new) if init == "frozen" else set(weights(start.network)))


def test_random_start_has_nothing_of_the_checkpoint(folder: Path) -> None:
    start = initial(locate(str(folder)), birds(), "random", seed=0)
    stored, found = weights(AutoModel.from_pretrained(folder)), weights(start.network.base_model)
    drawn = [name for name in stored if stored[name].ndim > 1]
    assert drawn and not any(torch.equal(found[name], stored[name]) for name in drawn)
    assert found["encoder.layer.0.output.dense.weight"].std() == pytest.approx(0.02, rel=0.1)
    assert set(start.new) == set(weights(start.network))


def test_what_is_new_depends_on_the_seed_alone(folder: Path) -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    networks = (initial(locate(str(folder)), birds(), "frozen", seed).network for seed in (0, 0, 1))
    one, again, other = (weights(network)["classifier.weight"] for network in networks)
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_classifier_of_the_checkpoint_is_not_taken_over(tmp_path: Path) -> None:
    save_tiny(tmp_path, tiny_bert(kind=BertForSequenceClassification))
    found = weights(initial(locate(str(tmp_path)), birds(), "pretrained", seed=0).network)
    stored = weights(BertForSequenceClassification.from_pretrained(tmp_path))
    assert not torch.equal(found["classifier.weight"], stored["classifier.weight"])
    assert torch.equal(found["bert.pooler.dense.weight"], stored["bert.pooler.dense.weight"])


def test_missing_pooler_is_new_and_learns_when_frozen(tmp_path: Path) -> None:
    network = tiny_bert()
    network.pooler = None  # type: ignore[assignment]
    start = initial(locate(str(save_tiny(tmp_path, network))), birds(), "frozen", seed=0)
    pooler = {"bert.pooler.dense.bias", "bert.pooler.dense.weight"}
    assert pooler < set(start.new)
    assert all(start.network.get_parameter(name).requires_grad for name in pooler)


def test_outputs_are_named_by_the_task(folder: Path) -> None:
    config = initial(locate(str(folder)), birds(), "finetuned", seed=0).network.config
    assert config.id2label == {0: "no", 1: "yes"}
    assert config.label2id == {"no": 0, "yes": 1}
    assert config.problem_type == "single_label_classification"
    config = initial(locate(str(folder)), counts(), "finetuned", seed=0).network.config
    assert (config.num_labels, config.problem_type) == (1, "regression")


def test_a_decoder_pads_with_its_end(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.pad_token, tokenizer.eos_token = None, "[SEP]"
    save_tiny(tmp_path, tiny_gpt2(pad_token_id=None), tokenizer)
    start = initial(locate(str(tmp_path)), birds(), "finetuned", seed=0)
    assert start.network.config.pad_token_id == start.pad == tokenizer.eos_token_id


def test_what_cannot_be_trained_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="init 'fresh' is unknown; use one of finetuned, pretrained"):
        initial(locate(str(folder)), birds(), "fresh", seed=0)
    tokenizer = tiny_tokenizer()
    tokenizer.pad_token = None
    save_tiny(tmp_path / "unpadded", tokenizer=tokenizer)
    with pytest.raises(HeadscopeError, match=r"no padding token; set one \(pad_token\)"):
        initial(locate(str(tmp_path / "unpadded")), birds(), "finetuned", seed=0)
    sizes: dict[str, Any] = {
        "encoder_layers": 1,
        "decoder_layers": 1,
        "d_model": 24,
        "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24,
    }
    heads: dict[str, Any] = {
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "vocab_size": len(tiny_tokenizer()),
    }
    save_tiny(tmp_path / "bart", tiny_network(BartConfig(**sizes, **heads, max_position_embeddings=64)))
    with pytest.raises(HeadscopeError, match="is an encoder-decoder; use an encoder"):
        initial(locate(str(tmp_path / "bart")), birds(), "finetuned", seed=0)


@pytest.mark.parametrize("init", ["finetuned", "random"])
def test_a_pruned_folder_keeps_its_removed_heads(folder: Path, init: str, tmp_path: Path) -> None:
    model = headscope.load(str(folder))
    remove = np.zeros(existing(model.capture.heads).shape, dtype=bool)
    remove[0, 0] = True
    save(prune(model, remove), tmp_path / "pruned")
    start = initial(locate(str(tmp_path / "pruned")), birds(), init, seed=0)
    stored, found = headscope.load(str(tmp_path / "pruned")), weights(start.network.base_model)
    assert {name: weight.shape for name, weight in weights(stored.network).items() if name in found} == {
        name: weight.shape for name, weight in found.items()
    }
    kept = weights(stored.network)
    assert all(torch.equal(found[name], kept[name]) for name in found) == (init == "finetuned")
    with quiet():
        write(start.model, tmp_path / "tuned")
        again = headscope.load(str(tmp_path / "tuned"), head=True)
    assert again.capture.heads == stored.capture.heads
    torch.testing.assert_close(weights(again.network), weights(start.network))
    assert (tmp_path / "tuned" / "modeling_pruned.py").is_file()


def test_an_adapter_is_merged_before_training(tmp_path: Path) -> None:
    with quiet():
        adapted(tmp_path, tiny_bert())
        network = initial(locate(str(tmp_path / "adapter")), birds(), "finetuned", seed=0).network
        merged = headscope.load(str(tmp_path / "adapter")).network
        base = headscope.load(str(tmp_path / "base")).network
    query = "encoder.layer.0.attention.self.query.weight"
    assert torch.equal(network.base_model.get_parameter(query), merged.get_parameter(query))
    assert not torch.equal(network.base_model.get_parameter(query), base.get_parameter(query))


def test_dropout_of_a_training_leaves_the_configuration() -> None:
    network = tiny_bert()
    before = network.config.hidden_dropout_prob
    set_for_training(network, 0.25, torch.device("cpu"))
    assert {module.p for module in network.modules() if isinstance(module, torch.nn.Dropout)} == {0.25}
    assert network.config.hidden_dropout_prob == before != 0.25
    assert network.config._attn_implementation == "eager"
