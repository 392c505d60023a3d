"""Importances of one's own texts: those of the study, labelled, with what they explain."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, BertForSequenceClassification, GPT2LMHeadModel

import headscope
from headscope import HeadscopeError, Model
from headscope.studies.words.attributions.methods import METHODS
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

TEXT = "the cat saw the bird"


@pytest.fixture(scope="module")
def classifier() -> Model:
    labels = {"id2label": {0: "bad", 1: "good"}, "label2id": {"bad": 0, "good": 1}}
    network = tiny_bert(0, BertForSequenceClassification, **labels)
    return headscope.wrap(network, tiny_tokenizer())


def test_each_is_that_of_all_methods_with_the_class_that_is_explained(classifier: Model) -> None:
    (everything,) = headscope.importances(classifier, TEXT)
    assert everything["attribution"].values.tolist() == [*METHODS] and everything.dtype == np.float64
    assert everything["token"].values.tolist() == ["[CLS]", *TEXT.split(), "[SEP]"]
    (gradients,) = headscope.importances(classifier, TEXT, "gradient_input")
    np.testing.assert_array_equal(gradients, everything.sel(attribution="gradient_input"))
    with torch.no_grad():
        logits: Any = classifier.network(**classifier.tokenizer(TEXT, return_tensors="pt")).logits[0].softmax(-1)
    name = ["bad", "good"][int(logits.argmax())]
    assert gradients.attrs["differentiated"] == f"logarithm of the {gradients.attrs['target']}"
    assert gradients.attrs["prediction"] == f"{name} (probability {float(logits.max()):.2f})"
    assert max(everything.attrs["completeness_error"]) < 0.01 and "completeness_error" not in gradients.attrs


def test_integrated_gradients_of_a_representation_add_up_to_what_is_said_to_be_differentiated() -> None:
    encoder = headscope.wrap(tiny_bert(0), tiny_tokenizer())
    (tokens,) = headscope.importances(encoder, TEXT, "integrated_gradients")
    assert tokens.attrs["differentiated"].startswith("length of the text's representation along that of the whole")
    inputs = encoder.tokenizer([TEXT, " ".join(["[MASK]"] * len(TEXT.split()))], return_tensors="pt")
    with torch.no_grad():
        full, blank = encoder.network(**inputs).last_hidden_state.mean(1)
    lost = full.norm() - full @ blank / full.norm()
    np.testing.assert_allclose(tokens.sum("token"), lost, atol=0.02 * float(abs(tokens).sum("token").max()))


def test_words_have_the_sum_of_their_tokens(classifier: Model) -> None:
    (tokens,), (words,) = (
        headscope.importances(classifier, "the catdog", "value_gradient", words=chosen) for chosen in (False, True)
    )
    assert words["token"].values.tolist() == ["[CLS]", "the", "catdog", "[SEP]"]
    np.testing.assert_allclose(words[:, 2], tokens[:, 2:-1].sum("token"), rtol=1e-6)


def test_words_are_explained_at_the_mask_or_after_the_text() -> None:
    masked = headscope.wrap(tiny_bert(0, BertForMaskedLM), tiny_tokenizer())
    with pytest.raises(HeadscopeError, match=r"the text has no masked word; write \[MASK\] in the text"):
        next(headscope.importances(masked, TEXT))
    causal = headscope.wrap(tiny_gpt2(0, GPT2LMHeadModel), tiny_tokenizer())
    for model, text in ((masked, "the [MASK] saw the bird"), (causal, TEXT)):
        (array,) = headscope.importances(model, text, "gradient_input")
        inputs = model.tokenizer(text, return_tensors="pt")
        is_mask = inputs["input_ids"][0] == model.tokenizer.mask_token_id
        position = int(is_mask.nonzero()[0]) if model is masked else -1
        with torch.no_grad():
            network: Any = model.network
            best = int(network(input_ids=inputs["input_ids"]).logits[0, position].argmax())
        assert array.attrs["prediction"].startswith(str(model.tokenizer.convert_ids_to_tokens(best)).removeprefix("##"))


def test_an_unknown_method_is_named(classifier: Model) -> None:
    with pytest.raises(HeadscopeError, match="method 'gradient_inputs' is unknown; did you mean 'gradient_input'"):
        next(headscope.importances(classifier, TEXT, "gradient_inputs"))
