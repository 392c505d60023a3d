"""Raw attention of texts: that of the eager model, labelled; words as in a naive loop."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import HeadscopeError, Model
from headscope.front import attentions as module
from support.tiny import tiny_bert, tiny_tokenizer

TEXT, PAIR = "the old cat", ("the dog", "a cat saw it")


@pytest.fixture
def model() -> Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


def eager(model: Model, text: str, pair: str | None = None) -> np.ndarray:
    """The maps of the eager model: [layer, head, query, key]."""
    network = tiny_bert(attn_implementation="eager")
    network.load_state_dict(model.network.state_dict())
    inputs = model.tokenizer(text, pair, return_tensors="pt")
    with torch.inference_mode():
        return torch.cat(network.eval()(**inputs, output_attentions=True).attentions).numpy()


def test_it_is_that_of_the_eager_model_with_its_tokens(model: Model) -> None:
    (single,), (pair,) = headscope.attentions(model, TEXT), headscope.attentions(model, [PAIR])
    np.testing.assert_allclose(single, eager(model, TEXT), atol=1e-5)
    np.testing.assert_allclose(pair, eager(model, *PAIR), atol=1e-5)
    assert single["query"].values.tolist() == ["[CLS]", "the", "old", "cat", "[SEP]"] == single["key"].values.tolist()
    assert single["layer"].values[0] == single["head"].values[0] == 1 and single.dtype == np.float32


def test_between_words_it_is_that_of_a_naive_loop(model: Model, tmp_path) -> None:
    rows = ["1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_", "2\tcatdog\t_\tNOUN\t_\t_\t0\troot\t_\t_"]
    (tmp_path / "one.conllu").write_text("\n".join(["# text = the catdog", *rows, "", ""]), encoding="utf-8")
    (words,) = headscope.attentions(model, tmp_path / "one.conllu", words=True)
    tokens = eager(model, "the catdog")
    pieces = model.tokenizer("the catdog").tokens()
    places = [[0], [len(pieces) - 1], [1], list(range(2, len(pieces) - 1))]
    assert words["query"].values.tolist() == ["[CLS]", "[SEP]", "the", "catdog"]
    for row, queries in enumerate(places):
        for column, keys in enumerate(places):
            expected = tokens[:, :, queries][..., keys].sum(-1).mean(-1)
            np.testing.assert_allclose(words[:, :, row, column], expected, atol=1e-5)


def test_it_is_made_when_it_is_asked_for(model: Model, never) -> None:
    several = headscope.attentions(model, [TEXT, TEXT])
    next(several)
    never("headscope.front.attentions.maps_of_inputs")


@pytest.mark.parametrize(
    ("texts", "options", "line"),
    [
        (["the cat", "the cat " * 300], {}, "text 2 has no token, or more than the"),
        ("the cat", {"words": True}, "text 1 has no words; read a treebank"),
    ],
)
def test_what_has_no_attention_is_named(model: Model, texts: object, options: dict, line: str) -> None:
    with pytest.raises(HeadscopeError, match=line):
        list(headscope.attentions(model, texts, **options))


def test_maps_beyond_memory_are_refused(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    with pytest.raises(HeadscopeError, match=r"text 1: its maps take .* use headscope\.profile"):
        next(headscope.attentions(model, "the cat"))


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # of peft
def test_calls_of_other_libraries_work_or_name_the_remedy(model: Any, tmp_path) -> None:
    """The calls that users of Python make without reading, some with wrong types."""
    from peft import LoraConfig, get_peft_model
    from transformers import pipeline

    texts: Any = ["the old cat", "a dog saw it"] * 3
    tokenizer = model.tokenizer
    tokenizer.save_pretrained(tmp_path)
    expected = headscope.profile(model, texts)["entropy"].values
    assert headscope.wrap(model.network, tmp_path).max_tokens == model.max_tokens
    adapted = get_peft_model(deepcopy(model.network), LoraConfig(target_modules=["query"]))
    for called in (
        lambda: headscope.profile(model.network, texts, tokenizer=str(tmp_path)),
        lambda: headscope.profile(pipeline("feature-extraction", model=model.network, tokenizer=tokenizer), texts),
        lambda: headscope.profile(adapted, texts, tokenizer=tokenizer),
    ):
        np.testing.assert_allclose(called()["entropy"], expected, atol=1e-6)
    for called, remedy in {
        (lambda: model.attentions(texts)): "call headscope.attentions\\(model, texts\\)",
        (lambda: model.profile(texts)): "call headscope.profile\\(model, texts\\)",
        (lambda: model.config): "its transformers model is model.network",
        (lambda: headscope.wrap(model, tokenizer)): "a Model is no PreTrainedModel",
        (lambda: headscope.load(model.network)): "wrap\\(model, tokenizer\\)",
        (lambda: headscope.profile(model, "The cat sat.")): "give a text in a list",
        (lambda: headscope.profile(model, texts, limit=3)): "headscope.read\\(corpus, limit=...\\)",
        (lambda: headscope.compare(xr.Dataset(), xr.Dataset(), texts)): "takes two results, and no corpus",
        (lambda: headscope.show(model, texts)): "give one text",
        (lambda: headscope.profile(model.network, texts, tokenizer="/no/such")): "name a folder that save_pretrained",
        (lambda: headscope.load("minilm", dtype=torch.int8)): "dtype 'int8' is unknown",
        (lambda: headscope.__getattr__("load_result")): "there are: load, open_result, save_result",
    }.items():
        with pytest.raises((HeadscopeError, TypeError, AttributeError), match=remedy):
            called()
