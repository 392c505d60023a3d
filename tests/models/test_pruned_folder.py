"""A pruned folder is an ordinary model for transformers and sentence-transformers, and for headscope as before."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    BertForSequenceClassification,
    PreTrainedModel,
    pipeline,
)

import headscope
from headscope import Model
from headscope.capture.transformers_logging import quiet
from headscope.models.heads import existing
from headscope.models.prediction_heads import no_words, with_words_head
from headscope.models.pruned_folder import save
from headscope.studies.size.prune.cut_heads import prune
from support import tiny_families
from support.tiers import in_turn
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_family

TEXTS = ["The cat sat by the river.", "A dog!"]


pytestmark = pytest.mark.usefixtures("code_cache")


def pruned(network: PreTrainedModel) -> Model:
    """Without two heads of the first layer and one of the second."""
    model = headscope.wrap(network, tiny_tokenizer())
    remove = np.zeros(existing(model.capture.heads).shape, dtype=bool)
    remove[0, [0, 2]] = remove[1, 1] = True
    return prune(model, remove)


@torch.inference_mode()
def outputs(network: Any) -> torch.Tensor:
    return network(**tiny_tokenizer()(TEXTS, padding=True, return_tensors="pt"))[0]


FAMILIES = "bert roberta distilbert deberta-v2 modernbert gpt2 mpnet electra xlm gpt_neox bart".split()


@pytest.mark.parametrize("family", in_turn(FAMILIES))
def test_transformers_loads_it_in_sdpa_with_the_same_outputs(family: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(tiny_families.SIZES, "vocab_size", len(tiny_vocabulary()))
    model = pruned(tiny_family(family))
    with quiet():
        save(model, tmp_path / "model")
        network = AutoModel.from_pretrained(tmp_path / "model", trust_remote_code=True).eval()
    assert network.config._attn_implementation == ("sdpa" if network._supports_sdpa else "eager")
    ours = outputs(model.network)
    torch.testing.assert_close(outputs(network), ours, atol=1e-5 * max(1.0, ours.abs().max().item()), rtol=0)
    assert headscope.load(str(tmp_path / "model")).capture.heads == model.capture.heads


def test_a_classifier_keeps_its_labels_and_works_in_a_pipeline(tmp_path: Path) -> None:
    named = {"id2label": {0: "no", 1: "yes"}, "label2id": {"no": 0, "yes": 1}}
    model = pruned(tiny_bert(kind=BertForSequenceClassification, **named))
    folder = tmp_path / "model"
    with quiet():
        save(model, folder, "## Scores\n")
        network = AutoModelForSequenceClassification.from_pretrained(folder, trust_remote_code=True).eval()
        classify = pipeline("text-classification", model=str(folder), trust_remote_code=True, device="cpu")
    torch.testing.assert_close(outputs(network), outputs(model.network), atol=1e-5, rtol=0)
    expected = outputs(model.network).softmax(-1).max(-1)
    answers = classify(TEXTS)
    assert [answer["label"] for answer in answers] == [("no", "yes")[number] for number in expected.indices]
    np.testing.assert_allclose([answer["score"] for answer in answers], expected.values, atol=1e-5)
    text = (folder / "README.md").read_text()
    assert "| 1 | 4 | 1, 3 |" in text and "0. no" in text and "1. yes" in text and "## Scores" in text
    assert "3 of 12 attention heads were removed" in text


def test_it_stays_an_ordinary_model_when_it_is_saved_again(tmp_path: Path) -> None:
    model = pruned(tiny_bert(kind=BertForSequenceClassification))
    with quiet():
        save(model, tmp_path / "model")
        loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model", trust_remote_code=True)
        loaded.save_pretrained(tmp_path / "again")
        network = AutoModelForSequenceClassification.from_pretrained(tmp_path / "again", trust_remote_code=True).eval()
        tiny_tokenizer().save_pretrained(tmp_path / "again")
    torch.testing.assert_close(outputs(network), outputs(model.network), atol=1e-5, rtol=0)
    assert headscope.load(str(tmp_path / "again"), head=True).capture.heads == model.capture.heads


def test_it_can_be_pruned_once_more(tmp_path: Path) -> None:
    with quiet():
        save(pruned(tiny_bert()), tmp_path / "once")
    once = headscope.load(str(tmp_path / "once"))
    remove = np.zeros(existing(once.capture.heads).shape, dtype=bool)
    remove[2, 3] = True
    twice = prune(once, remove)
    with quiet():
        save(twice, tmp_path / "twice")
        network = AutoModel.from_pretrained(tmp_path / "twice", trust_remote_code=True).eval()
    torch.testing.assert_close(outputs(network), outputs(twice.network), atol=1e-5, rtol=0)
    assert json.loads((tmp_path / "twice" / "config.json").read_text())["headscope_pruning"]["removed"] == {
        "1": [1, 3], "2": [2], "3": [4]
    }  # fmt: skip


def test_a_folder_from_before_loads_in_headscope(tmp_path: Path) -> None:
    """Without the modelling file, and with removed heads alone in its configuration."""
    model = pruned(tiny_bert())
    with quiet():
        save_tiny(tmp_path, model.network)
    assert not (tmp_path / "modeling_pruned.py").exists()
    assert set(json.loads((tmp_path / "config.json").read_text())["headscope_pruning"]) == {"heads", "removed"}
    loaded = headscope.load(str(tmp_path))
    torch.testing.assert_close(outputs(loaded.network), outputs(model.network), atol=1e-5, rtol=0)


def test_code_in_the_folder_of_a_pruned_model_is_never_run(tmp_path: Path) -> None:
    """Not where a model is loaded again with its head for words, either; a stranger may have written the key."""
    folder, ran = tmp_path / "model", tmp_path / "ran"
    with quiet():
        save(pruned(tiny_bert(kind=AutoModelForMaskedLM)), folder)
    lines = [
        f"open({str(ran)!r}, 'w').close()",
        "from transformers import BertConfig",
        "class Config(BertConfig):",
        "    pass",
    ]
    (folder / "evil.py").write_text("\n".join(lines))
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = config.get("auto_map", {}) | {
        "AutoConfig": "evil.Config",
        "AutoTokenizer": ["evil.Config", None],
    }
    (folder / "config.json").write_text(json.dumps(config))
    for remote_code in (False, True):
        headscope.load(str(folder), remote_code=remote_code)
    assert not no_words(with_words_head(headscope.load(str(folder))))
    assert not ran.exists()


def test_a_model_with_all_of_its_heads_has_no_code_of_its_own(tmp_path: Path) -> None:
    with quiet():
        save(headscope.wrap(tiny_bert(), tiny_tokenizer()), tmp_path / "model")
    assert not (tmp_path / "model" / "modeling_pruned.py").exists()
    assert "auto_map" not in json.loads((tmp_path / "model" / "config.json").read_text())
    assert set(load_file(tmp_path / "model" / "model.safetensors")) == set(tiny_bert().state_dict())


def test_modules_of_sentence_transformers_are_carried_over(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    start = save_tiny(tmp_path / "start")
    (start / "modules.json").write_text(
        json.dumps(
            [
                {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                {"idx": 2, "name": "2", "path": "../outside", "type": "sentence_transformers.models.Normalize"},
            ]
        )
    )
    (start / "1_Pooling").mkdir()
    (start / "1_Pooling" / "config.json").write_text(
        '{"word_embedding_dimension": 24, "pooling_mode_mean_tokens": true}'
    )
    (tmp_path / "outside").mkdir()
    model = headscope.load(str(start))
    remove = np.zeros((3, 4), dtype=bool)
    remove[1, :2] = True
    smaller = prune(model, remove)
    with quiet():
        save(smaller, tmp_path / "model")
    assert not (tmp_path / "model" / "outside").exists()
    modules = json.loads((tmp_path / "model" / "modules.json").read_text())
    (tmp_path / "model" / "modules.json").write_text(json.dumps(modules[:2]))
    with quiet():
        sentences = library.SentenceTransformer(str(tmp_path / "model"), trust_remote_code=True, device="cpu")
    expected = outputs(smaller.network)[0].mean(0)
    np.testing.assert_allclose(sentences.encode(TEXTS[:1])[0], expected, atol=1e-5)
    assert "SentenceTransformer" in (tmp_path / "model" / "README.md").read_text()


def test_the_card_has_what_the_hub_asks_for(tmp_path: Path) -> None:
    original = tmp_path / "original"
    save_tiny(original, tiny_bert(kind=BertForSequenceClassification))
    header = "---\nlicense: apache-2.0\nlanguage:\n- en\n- de\ntags: [x]\nlicense_link: a\n---\nlicense: mit\n"
    (original / "README.md").write_text(header, encoding="utf-8")
    model = headscope.load(str(original), head=True)
    card = (save(model, tmp_path / "copy") / "README.md").read_text(encoding="utf-8")
    lines = ["license: apache-2.0", "language:", "- en", "- de", "tags:", "- headscope", "---"]
    assert card.splitlines()[:10] == ["---", "library_name: transformers", "pipeline_tag: text-classification", *lines]
    named = replace(model, name="owner/name", revision="abc")
    assert "\nbase_model: owner/name\n" in (save(named, tmp_path / "of-hub") / "README.md").read_text(encoding="utf-8")
    (original / "README.md").write_text("---\nlicense: [a, &b {c: *b}]\n---", encoding="utf-8")
    assert "license" not in (save(model, tmp_path / "odd") / "README.md").read_text(encoding="utf-8")
