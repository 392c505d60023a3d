"""Predictions with heads disabled equal those of the model that is changed by hand."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, BertForSequenceClassification, GPT2LMHeadModel

from headscope import models, read
from headscope.ablation.strategies import head_means
from headscope.errors import HeadscopeError
from headscope.models.heads import parse
from headscope.viewer.interventions import Interventions
from headscope.viewer.nearest_sentences import first_inputs
from headscope.viewer.text_tokens import text_tokens
from support.tiny import tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_config

SENTENCES = ["The old cat sat.", "A dog ran by the river.", "He said that she walked.", "It was a small town."]


def interventions(kind: type | None = None, **config: Any) -> Interventions:
    network = tiny_bert(**({"kind": kind} if kind else {}), **config)
    return Interventions(models.wrap(network, tiny_tokenizer()), read(SENTENCES))


def encoded(subject: Interventions, text: str, second: str | None = None):
    return text_tokens(subject.model.tokenizer, 64, text, second).encoded


def logits(subject: Interventions, text: str) -> torch.Tensor:
    network: Any = subject.model.network
    inputs = subject.model.tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        return network(**inputs).logits[0]


@pytest.mark.parametrize("mode", ["uniform", "zero", "mean"])
def test_masked_words_are_those_of_the_changed_model(mode: Any) -> None:
    subject = interventions(BertForMaskedLM)
    text, disabled = "The [MASK] sat on the [MASK].", parse("1-2,3-*", subject.model.capture.heads)
    assert subject.kind == "mask"
    assert subject.corpus is not None
    means = head_means(subject.model, first_inputs(subject.model, subject.corpus)) if mode == "mean" else None
    with subject.model.changed(disabled, mode, means):
        expected = logits(subject, text)[[2, 6]].softmax(-1)
    after = subject.without(encoded(subject, text), disabled, mode)
    assert [one.title for one in after] == ["[MASK] 1", "[MASK] 2"]
    for one, probability in zip(after, expected, strict=True):
        best = probability.argsort(descending=True)[:8].tolist()
        assert [word for word, _ in one.items] == subject.model.tokenizer.convert_ids_to_tokens(best)
        np.testing.assert_allclose([value for _, value in one.items], probability[best], atol=1e-6)
    before = subject.predictions(encoded(subject, text))
    assert before != after and before == subject.predictions(encoded(subject, text))


def test_next_words_are_those_of_the_changed_model() -> None:
    subject = Interventions(models.wrap(tiny_gpt2(kind=GPT2LMHeadModel), tiny_tokenizer()))
    text, disabled = "The cat sat on the", parse("1-2,2-*", subject.model.capture.heads)
    assert subject.kind == "next" and subject.task_labels == []
    with subject.model.changed(disabled, "zero"):
        expected = logits(subject, text)[5].softmax(-1)  # [CLS] and five words come before; [SEP] follows
    (after,) = subject.without(encoded(subject, text), disabled, "zero")
    assert after.title == "next word"
    best = expected.argsort(descending=True)[:8].tolist()
    assert [word for word, _ in after.items] == subject.model.tokenizer.convert_ids_to_tokens(best)
    np.testing.assert_allclose([value for _, value in after.items], expected[best], atol=1e-6)
    assert [after] != subject.predictions(encoded(subject, text))


def test_a_text_without_a_masked_word_is_refused_with_the_remedy() -> None:
    subject = interventions(BertForMaskedLM)
    with pytest.raises(HeadscopeError, match=r"write \[MASK\] in the text"):
        subject.predictions(encoded(subject, "The cat sat."))


def test_probabilities_of_a_task() -> None:
    subject = interventions(BertForSequenceClassification, id2label={0: "no", 1: "maybe", 2: "yes"})
    assert subject.kind == "task" and subject.task_labels == ["no", "maybe", "yes"]
    (result,) = subject.predictions(encoded(subject, "The cat sat."))
    expected = dict(zip(subject.task_labels, logits(subject, "The cat sat.").softmax(-1).tolist(), strict=True))
    assert dict(result.items) == pytest.approx(expected, abs=1e-6)
    assert [value for _, value in result.items] == pytest.approx(sorted(expected.values(), reverse=True), abs=1e-6)


def test_value_of_a_regression() -> None:
    subject = interventions(BertForSequenceClassification, id2label={0: "similarity"})
    (result,) = subject.predictions(encoded(subject, "The cat sat.", "A dog ran."))
    assert [label for label, _ in result.items] == ["similarity"]


@pytest.mark.parametrize("network", [tiny_bert, tiny_gpt2])
def test_nearest_sentences_are_those_of_a_naive_search(network: Any) -> None:
    tokenizer = tiny_tokenizer()
    subject = Interventions(models.wrap(network(), tokenizer), read(SENTENCES))

    def vector(text: str) -> torch.Tensor:
        with torch.inference_mode():
            return subject.model.network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0)

    text = "The cat sat by the river."
    cosines = {one: torch.cosine_similarity(vector(text), vector(one), dim=0).item() for one in SENTENCES}
    (result,) = subject.predictions(encoded(subject, text))
    assert [one for one, _ in result.items] == sorted(cosines, key=lambda one: -cosines[one])
    assert dict(result.items) == pytest.approx(cosines, abs=1e-5)
    (after,) = subject.without(encoded(subject, text), parse("*-*", subject.model.capture.heads), "zero")
    assert dict(after.items) != pytest.approx(cosines, abs=1e-3)


def test_sentences_are_placed_with_all_heads_even_if_the_first_call_disables_some() -> None:
    first, second = interventions(), interventions()
    text, disabled = encoded(first, "The cat sat."), parse("*-*", (4, 4, 4))
    first.predictions(text)
    (one,), (other,) = first.without(text, disabled, "zero"), second.without(text, disabled, "zero")
    assert dict(one.items) == pytest.approx(dict(other.items), abs=1e-6)


def test_mean_without_a_corpus_is_refused() -> None:
    subject = Interventions(models.wrap(tiny_bert(), tiny_tokenizer()))
    with pytest.raises(HeadscopeError, match="--corpus"):
        subject.predictions(encoded(subject, "The cat sat."))


def test_heads_that_share_keys_and_windows_are_described() -> None:
    sizes = {"num_attention_heads": 4, "num_key_value_heads": 2, "sliding_window": 8}
    network = tiny_network(tiny_config("mistral", vocab_size=len(tiny_vocabulary()), **sizes))
    described = Interventions(models.wrap(network, tiny_tokenizer()), None).description
    assert (described["query_groups"], described["windows"]) == ([2, 2], [7, 7])
    assert "query_groups" not in interventions().description
