"""Simple models know what one sentence, words, pairs of words or embeddings tell, and nothing of noise."""

from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import headscope
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, score
from headscope.linguistics.sentence import Example, Sentence
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units
from headscope.studies.training.finetune.baseline_scores import baseline_scores, gains
from headscope.studies.training.finetune.baselines import baseline_outputs, pairs_of, words_of
from support.small_tasks import counts
from support.tiny import WORDS, tiny_bert, tiny_tokenizer

NOUNS = [word for word in WORDS if word.isalpha()][:6]


def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


def pairs(rule: Any, n: int, seed: int, name: str) -> Corpus:
    """Pairs of sentences of three words; `rule` gives their label."""
    random, examples = Random(seed), []
    for number in range(n):
        first, second = (random.choices(NOUNS, k=3) for _ in range(2))
        label = "yes" if rule(first, second, random) else "no"
        examples.append(
            Example(f"{name}:{number}", (Sentence(" ".join(first)),), (Sentence(" ".join(second)),), label=label)
        )
    return Corpus(name, f"{name}-{seed}", n, {}, partial(iter, examples))


def task_of(rule: Any, n: int = 400) -> Task:
    dev, train = pairs(rule, 200, 1, "dev"), pairs(rule, n, 2, "train")
    return Task(
        name="pairs", kind="classification", labels=("no", "yes"), metrics=("accuracy", "f1"), dev=dev, train=train
    )


def accuracies(task: Task) -> dict[str, float]:
    targets = task.targets(task.dev)
    return {name: float(score("accuracy", made, targets)) for name, made in baseline_outputs(task, model()).items()}


def test_one_sentence_alone_knows_what_stands_in_it() -> None:
    known = accuracies(task_of(lambda first, second, random: NOUNS[0] in second))
    assert known["second sentence"] > 0.95 and known["bag of words"] > 0.85
    assert known["first sentence"] < 0.7 < known["mean embeddings"]


def test_pairs_of_words_know_what_neither_sentence_tells() -> None:
    def same(first: list[str], second: list[str], random: Random) -> bool:
        return first[0] == second[0]

    def alike(first: list[str], second: list[str], random: Random) -> bool:
        second[:] = first[:1] * 3 if random.random() < 0.5 else NOUNS[NOUNS.index(first[0]) - 1 :][:1] * 3
        first[:] = first[:1] * 3
        return same(first, second, random)

    known = accuracies(task_of(alike))
    assert known["pairs of words"] == 1
    assert max(known["first sentence"], known["second sentence"]) < 0.65


def test_shuffled_labels_are_not_known() -> None:
    known = accuracies(task_of(lambda first, second, random: random.random() < 0.5))
    assert set(known) == {"bag of words", "pairs of words", "first sentence", "second sentence", "mean embeddings"}
    assert all(abs(value - 0.5) < 0.12 for value in known.values())


def test_a_single_sentence_has_no_pairs_and_scores_are_regressed() -> None:
    task = counts(n_dev=60, n_train=200)
    outputs, targets = baseline_outputs(task, model()), task.targets(task.dev)
    assert set(outputs) == {"bag of words", "mean embeddings"}
    assert all(made.shape == (60, 1) for made in outputs.values())
    assert float(score("pearson", outputs["bag of words"], targets)) > 0.7


def test_words_and_pairs_are_those_of_a_plain_loop() -> None:
    task = task_of(lambda first, second, random: NOUNS[0] in second, 60)
    for read, name in ((words_of, "bag of words"), (pairs_of, "pairs of words")):
        texts = {part: [tuple(s[0].text for s in one.segments) for one in corpus] for part, corpus in
                 (("train", task.training()), ("dev", task.dev))}  # fmt: skip
        seen = [word for one in texts["train"] for word in sorted(set(read(one)))]
        vocabulary = sorted(word for word in set(seen) if seen.count(word) > 1)
        rows = {
            part: np.array([[1.0] + [float(word in read(one)) for word in vocabulary] for one in of_part])
            for part, of_part in texts.items()
        }
        targets = task.targets(task.training())
        made = baseline_outputs(task, model())[name]
        expected = [
            np.log(LogisticRegression(C=strength, max_iter=1000).fit(rows["train"], targets).predict_proba(rows["dev"]))
            for strength in (0.01, 0.1, 1.0)
        ]
        assert min(float(np.abs(made - one).max()) for one in expected) < 1e-3


@pytest.mark.parametrize("label", ["yes", "no"])
def test_a_train_split_of_one_class_gives_that_class(label: str) -> None:
    task = task_of(lambda first, second, random: label == "yes", 12)
    for made in baseline_outputs(task, model()).values():
        assert set(made.argmax(-1).tolist()) == {task.labels.index(label)}


def test_a_task_without_a_train_split_has_no_simple_models() -> None:
    task = task_of(lambda first, second, random: True, 4)
    assert baseline_outputs(Task(**{**task.__dict__, "train": None}), model()) == {}


def test_gains_are_of_the_same_examples_and_resamples() -> None:
    task = task_of(lambda first, second, random: NOUNS[0] in second, 40)
    targets = task.targets(task.dev)
    draws = poisson_draws(task.dev.units, 0, 100)
    outputs = baseline_outputs(task, model())
    scored = baseline_scores(task, outputs, targets, draws)
    one = scored["second sentence"]
    same = gains(task, one.value, one.resamples, one)
    most = 1 - 0.025 ** (1 / equal_units(task.dev.units))
    assert same["baseline_gain"].tolist() == [0, 0]
    assert same["baseline_gain_ci"] == pytest.approx(np.array([[-most, most]] * 2))
    other = gains(task, one.value, one.resamples, scored["first sentence"])
    assert other["baseline_gain"][0] == pytest.approx(one.value[0] - scored["first sentence"].value[0])
    assert (other["baseline_gain_ci"][0] > 0).all()
