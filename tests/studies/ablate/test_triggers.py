"""Triggers: the planted word and no other, first-order scores of a naive loop, and whole pieces alone."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import BertForSequenceClassification

import headscope
from headscope import Settings
from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.report.study_page import study_page
from headscope.studies.size.ablate.trigger_search import ClassTexts, whole_pieces, with_words
from headscope.studies.size.ablate.triggers import by_triggers
from support.planted_task import planted_classifier, planted_task
from support.tiny import byte_tokenizer, tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=50)
OPTIONS: dict[str, Any] = {"importance": False, "perturbations": False, "triggers": 1}


def measured(network: Any, task: Task, words: int) -> dict[str, Any]:
    model = headscope.wrap(network, tiny_tokenizer())
    return by_triggers(model, task, task_outputs(task_inputs(model, task, task.dev), QUICK), words, QUICK)


@pytest.mark.parametrize("words", [1, 2])
def test_the_planted_word_is_found_and_flips_all_of_its_class_and_none_of_the_other(words: int) -> None:
    made = measured(planted_classifier(noise=0), planted_task(), words)
    no, yes = (made["trigger_flip"].sel(flipped_class=name) for name in ("no", "yes"))
    assert "bird" in str(no["trigger"].item()).split() and float(no) == 1
    assert float(yes) == 0
    assert float(made["random_flip"].sel(flipped_class="no")) < 0.2
    lead = made["trigger_lead_ci"].sel(flipped_class="no", bound="lower")
    assert float(lead) > 0.5 and int(made["trigger_lead_n_examples"].sel(flipped_class="no")) > 5


def naive(network: Any, texts: ClassTexts, trigger: list[int], position: int) -> np.ndarray:
    """The change of the mean loss with a small step towards each word, one example and one word at a time."""
    network, rises = deepcopy(network).double(), []
    tokenizer: Any = tiny_tokenizer()
    table = network.get_input_embeddings().weight
    own = texts.pieces.words[trigger[position]]
    for word in texts.pieces.words:
        step = 1e-5 * (table[tokenizer.vocab[word]] - table[tokenizer.vocab[own]])
        total = 0.0
        for example in texts.examples:
            segments = [" ".join(sentence.text for sentence in segment) for segment in example.segments]
            words = " ".join(texts.pieces.words[number] for number in trigger)
            inputs = tokenizer(
                *segments[:-1], f"{words} {segments[-1]}", return_tensors="pt", return_token_type_ids=True
            )
            ids = inputs.pop("input_ids")
            token = 1 + position + (len(tokenizer(segments[0])["input_ids"]) - 1 if segments[1:] else 0)
            for sign in (1, -1):
                states = network.get_input_embeddings()(ids).detach()
                states[0, token] += sign * step
                logits = network(inputs_embeds=states, **inputs).logits[0]
                total -= sign * float(logits.detach().log_softmax(-1)[texts.label]) / 2e-5
        rises.append(total / len(texts.examples))
    return np.array(rises)


@pytest.mark.parametrize(("paired", "position"), [(False, 0), (False, 1), (True, 1)])
def test_first_order_scores_are_those_of_a_naive_loop_over_all_words(paired: bool, position: int) -> None:
    network, task = tiny_bert(3, BertForSequenceClassification), planted_task(6)
    examples = list(task.dev)[:2]
    if paired:
        second = (Sentence("the old cat sat.", words=((0, 3), (4, 7), (8, 11), (12, 15))),)
        examples = [replace(example, first=second, second=example.first) for example in examples]
    model = headscope.wrap(network, tiny_tokenizer())
    texts = ClassTexts(model, task, examples, 1, whole_pieces(model.tokenizer), QUICK)
    expected, scores = naive(network, texts, [5, 9], position), texts.first_order([5, 9], position)
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    assert np.argsort(-scores).tolist() == np.argsort(-expected).tolist()


def test_words_stand_before_a_text_and_before_the_second_of_a_pair() -> None:
    first, second = (Sentence("It rained."),), (Sentence("We stayed."),)
    alone, pair = (with_words(example, ["a", "cat"]) for example in (Example("1", first), Example("2", first, second)))
    assert [sentence.text for sentence in alone.first] == ["a cat", "It rained."]
    assert [sentence.text for sentence in pair.second] == ["a cat", "We stayed."] and pair.first == first


def test_only_words_that_are_read_as_one_piece_again_are_tried() -> None:
    pieces = whole_pieces(tiny_tokenizer())
    assert {"bird", "the", "a"} <= set(pieces.words)
    assert not {"s", "ing", "##ing", ".", "UNK", "[MASK]"} & set(pieces.words) - {"s"}
    assert all(tiny_tokenizer()(word, add_special_tokens=False)["input_ids"] == [piece]
               for word, piece in zip(pieces.words, pieces.later.tolist(), strict=True))  # fmt: skip


def test_a_vocabulary_with_blanks_in_its_pieces_has_two_for_a_word() -> None:
    tokenizer = byte_tokenizer([("c", "a"), ("ca", "t"), ("\u0120", "cat"), ("\u0120", "a")])
    pieces = whole_pieces(tokenizer)
    assert sorted(pieces.words) == ["a", "cat"]
    first, later = pieces.first[pieces.words.index("cat")], pieces.later[pieces.words.index("cat")]
    assert tokenizer.convert_ids_to_tokens([int(first), int(later)]) == ["cat", "\u0120cat"]


def test_a_task_without_classes_is_refused(tmp_path: Path) -> None:
    model = headscope.wrap(planted_classifier(), tiny_tokenizer())
    scores = replace(planted_task(), kind="regression", labels=())
    with pytest.raises(HeadscopeError, match="--triggers flips classes, and task 'birds' has none; leave it out"):
        headscope.ablate(model, scores, QUICK, directory=tmp_path, **OPTIONS)


def test_the_page_of_the_planted_model_claims_it_and_that_of_random_weights_does_not(tmp_path: Path) -> None:
    task, topics = planted_task(60), []
    for number, network in enumerate((planted_classifier(), tiny_bert(3, BertForSequenceClassification))):
        model = headscope.wrap(network, tiny_tokenizer())
        result: Any = headscope.ablate(model, task, QUICK, directory=tmp_path / str(number), **OPTIONS)
        assert "trigger_flip" in result and "prediction_kept" not in result
        page = study_page(result)
        topics.append([finding.topic for finding in page.highlights() if finding.verdict == "holds"])
    assert "A few words before texts flip the answers of a class" in topics[0]
    assert not [topic for topic in topics[1] if "words" in topic]
