"""Pairs of the shortcuts: each heuristic is true of its pairs, labels are balanced, and no hypothesis tells them."""

import re
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from headscope import HeadscopeError
from headscope.corpora.tasks import chance, read
from headscope.corpora.tasks.shortcuts import LEXICON, OTHER, TEMPLATES, judge_of, shortcut_pairs

PAIRS = shortcut_pairs()


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_each_heuristic_is_true_of_its_pairs_and_of_no_pair_with_other_words() -> None:
    for pair in PAIRS:
        hypothesis, premise = words(pair.hypothesis), words(pair.premise)
        if pair.heuristic == OTHER:
            assert set(hypothesis) & set(premise) <= {"the"} and not pair.entailed, pair
        else:
            assert Counter(hypothesis) <= Counter(premise) | Counter({"the": 9}), pair
        if pair.heuristic in ("subsequence", "constituent"):
            assert f" {' '.join(hypothesis)} " in f" {' '.join(premise)} ", pair


def test_fifteen_cases_each_way_and_equal_numbers() -> None:
    cases = Counter((template.heuristic, template.entailed) for template in TEMPLATES)
    assert set(cases.values()) == {5} and len(cases) == 6
    counts = Counter((pair.heuristic, pair.case, pair.entailed) for pair in PAIRS if pair.heuristic != OTHER)
    assert len(counts) == 30 and set(counts.values()) == {40}
    assert Counter(pair.heuristic == OTHER for pair in PAIRS) == {False: 1200, True: 300}
    assert [pair.case for pair in PAIRS if pair.same and not pair.entailed] == []


def test_pairs_are_the_same_in_every_run_and_hardly_repeated() -> None:
    assert shortcut_pairs() == PAIRS and shortcut_pairs(3)[0] == PAIRS[0]
    texts = [(pair.premise, pair.hypothesis) for pair in PAIRS]
    assert len(set(texts)) > 0.97 * len(texts)


def test_no_word_of_the_hypothesis_tells_the_label() -> None:
    chosen = [pair for pair in PAIRS if pair.heuristic != OTHER]
    entailed = Counter(word for pair in chosen if pair.entailed for word in words(pair.hypothesis))
    other = Counter(word for pair in chosen if not pair.entailed for word in words(pair.hypothesis))
    for noun in LEXICON["noun"]:
        assert 0.6 < (entailed[noun] + entailed[f"{noun}s"]) / other[noun] < 1.6, noun
    nouns = [" ".join(word.rstrip("s") for word in words(pair.hypothesis)) for pair in chosen]
    features = CountVectorizer(vocabulary=LEXICON["noun"]).fit_transform(nouns)
    scores = cross_val_score(LogisticRegression(), features, [pair.entailed for pair in chosen], cv=5)
    assert abs(float(np.mean(scores)) - 0.5) < 0.06


def test_outputs_are_judged_by_the_name_of_the_one_that_says_yes() -> None:
    passive = next(pair for pair in PAIRS if pair.same)
    clause = next(pair for pair in PAIRS if pair.entailed and not pair.same)
    outputs = np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]])
    entails = judge_of([passive, clause], {0: "contradiction", 1: "entailment", 2: "neutral"}, "m")(outputs)
    assert entails.tolist() == [[3, 1], [3, 1]]  # the larger of contradiction and neutral says no
    same = judge_of([passive, clause], {0: "0", 1: "1"}, "m")(outputs[:, :2])
    assert same.tolist() == [[3, 1], [1, 3]]  # the second pair is entailed, but no paraphrase
    with pytest.raises(HeadscopeError, match="labels LABEL_0, LABEL_1, none of which says"):
        judge_of([passive], {0: "LABEL_0", 1: "LABEL_1"}, "m")


def test_the_task_needs_no_files_and_its_limit_is_that_of_a_case() -> None:
    task = read("shortcuts", limit=4)
    assert task.kind == "shortcuts" and len(task.pairs) == task.dev.n_examples == 30 * 5
    assert chance(task, task.targets(task.dev))[0] == pytest.approx(0.6)  # always no
    assert len({example.id for example in task.dev}) == task.dev.n_examples
