"""Answers that are spans: scored as by the script of SQuAD, found as by a plain search, and learned."""

import collections
import re
import string
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import BertForQuestionAnswering

from headscope import HeadscopeError, Settings, wrap
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, aligned, chance
from headscope.corpora.tasks.answers import normalised, word_f1
from headscope.linguistics.sentence import Example, Sentence
from headscope.outputs.outputs import answers
from headscope.outputs.passages import LONGEST, Passage
from headscope.outputs.task_inputs import task_inputs
from headscope.report.study_page import study_page
from headscope.training.dataset import SpanSet, training_set
from support.runs import finetune
from support.small_tasks import tiny_folder
from support.tiny import WORDS, tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=40)
OTHERS = [word for word in WORDS if word.isalpha() and word not in ("bird", "the", "a", "an")]


def split(name: str, n: int, planted: bool = True) -> Corpus:
    """Passages of some words, of which the bird is the answer; without `planted` any word is."""
    random, examples = Random(name), []
    for number in range(n):
        words = random.choices(OTHERS, k=random.randint(4, 12))
        words[random.randrange(len(words))] = "bird"
        chosen = words.index("bird") if planted else random.randrange(len(words))
        start = len(" ".join(words[:chosen])) + (chosen > 0)
        label = f"{start}:{start + len(words[chosen])}"
        texts = (Sentence("the cat saw it."),), (Sentence(" ".join(words)),)
        examples.append(Example(f"{name}:{number}", *texts, label))
    return Corpus(name, f"{name} {planted}", n, {}, partial(iter, examples))


def task_of(dev: Corpus, train: Corpus | None = None) -> Task:
    return Task(name="birds", kind="span", metrics=("word_f1", "exact_match"), dev=dev, train=train)


def squad_f1(prediction: str, truth: str) -> float:
    """F1 and normalisation as evaluate-v1.1.py of SQuAD describes them, step by step."""

    def normalise(text: str) -> list[str]:
        text = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split()).split()

    said, right = normalise(prediction), normalise(truth)
    same = sum((collections.Counter(said) & collections.Counter(right)).values())
    if not same:
        return 0.0
    precision, recall = same / len(said), same / len(right)
    return 2 * precision * recall / (precision + recall)


def test_answers_are_scored_as_by_the_script_of_squad() -> None:
    random, words = Random(0), ["The", "a", "Norman", "(Norman)", "10th", "century,", "the 10th", "and", "-"]
    for _ in range(300):
        said, right = (" ".join(random.choices(words, k=random.randint(0, 4))) for _ in range(2))
        assert word_f1(said, right) == pytest.approx(squad_f1(said, right))
    assert normalised("the Norman") == normalised("Norman!") and word_f1("", "") == 0
    passage = Passage("In the 10th century", np.zeros((1, 2), int), [(7, 19), (3, 11)])
    assert passage.scores("10th") == (1.0, 1.0)
    assert passage.scores("century") == pytest.approx((2 / 3, 0.0))
    task = task_of(split("dev", 12))
    naive = [squad_f1(example.second[0].text, "bird") for example in task.dev]
    assert chance(task, task.targets(task.dev)) == pytest.approx([np.mean(naive), 0])


def test_the_best_span_is_that_of_a_plain_search() -> None:
    random, text = np.random.default_rng(0), "x" * 100
    tokens = np.full((60, 2), -1)
    tokens[10:] = [(2 * number, 2 * number + 1) for number in range(50)]
    for _ in range(20):
        starts, ends = random.normal(size=(2, 60)) * 3
        ends[10 + starts[10:30].argmax() + LONGEST] = 100  # one token too far away from the best start
        pairs = [(i, j) for i in range(10, 60) for j in range(i, min(60, i + LONGEST))]
        first, last = max(pairs, key=lambda pair: starts[pair[0]] + ends[pair[1]])
        passage = Passage(text, tokens, [(0, 1)])
        assert len(passage.answer(starts, ends)) == tokens[last, 1] - tokens[first, 0]


def test_targets_are_the_tokens_of_the_answer_and_the_loss_is_that_of_both_ends() -> None:
    network: Any = tiny_bert(kind=BertForQuestionAnswering)
    model, corpus = wrap(network, tiny_tokenizer()), split("train", 6)
    inputs, cut = training_set(model, task_of(corpus, corpus), 64)
    assert isinstance(inputs, SpanSet) and len(inputs) == 6 and not cut
    bird = model.tokenizer.convert_tokens_to_ids("bird")
    for encoded, (first, last) in zip(inputs.inputs, inputs.targets, strict=True):
        assert first == last and encoded.inputs["input_ids"][first] == bird
    batch = inputs.collate([inputs[number] for number in range(6)], pad=0)
    with torch.no_grad():
        answered = network(**{name: batch[name] for name in batch if "positions" not in name})
        ends = ((answered.start_logits, "start_positions"), (answered.end_logits, "end_positions"))
        naive = sum(cross_entropy(logits, batch[name]) for logits, name in ends) / 2
        assert float(inputs.loss(network, batch)) == pytest.approx(float(naive), abs=1e-6)


def test_answers_that_are_cut_off_are_not_trained_on_and_counted() -> None:
    model, corpus = wrap(tiny_bert(kind=BertForQuestionAnswering), tiny_tokenizer()), split("train", 20)
    inputs, cut = training_set(model, task_of(corpus, corpus), 14)
    assert 0 < len(inputs) < 20 and cut > 0
    dev = task_inputs(model, task_of(corpus), corpus, max_tokens=14)
    scores = answers(dev, model, QUICK)
    assert scores.shape == (20, 2) and dev.cut["truncated"] == cut


def test_a_model_learns_the_answer_and_nothing_where_any_word_is_one(tmp_path: Path) -> None:
    folder = str(tiny_folder(tmp_path / "tiny", num_hidden_layers=1))
    rest: dict[str, Any] = {"batch": 8, "learning_rate": 5e-3, "epochs": 5, "max_tokens": 40, "loading": {}}
    learned = task_of(split("dev", 30), split("train", 80))
    result = finetune(folder, (learned,), QUICK, directory=tmp_path / "run", seeds=2, **rest)
    score = result["score"].sel(task="birds", init="finetuned")
    assert float(score.sel(metric="exact_match")) > 0.9 and float(score.sel(metric="word_f1")) > 0.9
    assert list(study_page(result).findings())
    BertForQuestionAnswering.from_pretrained(tmp_path / "run" / "model")
    null = task_of(split("dev", 30, planted=False), split("train", 80, planted=False))
    result = finetune(folder, (null,), QUICK, directory=tmp_path / "null", **rest)
    assert float(result["score"].sel(task="birds", init="finetuned", metric="exact_match")) < 0.4


def test_other_studies_and_ways_refuse_spans(tmp_path: Path) -> None:
    corpus = split("dev", 4)
    with pytest.raises(HeadscopeError, match="its answers are parts of a text; only 'finetune' trains on them"):
        aligned(task_of(corpus), {0: "a", 1: "b"}, "m")
    with pytest.raises(HeadscopeError, match="way 'lora' trains a classifier; use"):
        finetune("minilm", (task_of(corpus, corpus),), QUICK, directory=tmp_path, ways="lora", loading={})
