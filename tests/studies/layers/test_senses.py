"""Senses of words: the nearest training case beside scikit-learn and loops, what is planted, and what is not there."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import KNeighborsClassifier

import headscope
from headscope import Settings
from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, LabelledSpan, Sentence
from headscope.models.random_weights import untrained
from headscope.studies.layers.layers import study
from headscope.studies.layers.layers.groups import Units
from headscope.studies.layers.layers.measure import UnitDraws
from headscope.studies.layers.layers.sampling import TASKS, TaskCases, first_sense, sample
from headscope.studies.layers.layers.senses import MeasuredSenses, measured_senses, silhouettes
from headscope.studies.layers.layers.tasks import ProbeCase
from headscope.studies.layers.layers.texts import PARTS, split
from headscope.studies.layers.layers.unit_states import UnitStates
from support.claim_cases import carrying, claimed
from support.planted import looks_at_offset
from support.tiny import WORDS, tiny_bert, tiny_tokenizer

LEMMAS = {"bank": ("shore", "money"), "book": ("reserve", "volume", "law")}
SIZES = {"train": 40, "choose": 10, "report": 30}
WIDTH, SENSES = 8, TASKS["sense"].classes_of
RANDOM = headscope.wrap(tiny_bert(3), tiny_tokenizer())


def made(seed: int = 0) -> tuple[TaskCases, np.ndarray]:
    """Cases of two words in a text each, and their vectors [space, case]: space 2 holds the sense, space 0 nothing."""
    random = np.random.default_rng(seed)
    cases: dict[str, list[ProbeCase]] = {part: [] for part in PARTS}
    rows = []
    for part in PARTS:
        for _ in range(SIZES[part]):
            lemma = str(random.choice(sorted(LEMMAS)))
            sense = LEMMAS[lemma][int(random.integers(len(LEMMAS[lemma])) * random.integers(2))]
            senses = (sense, "other") if random.random() < 0.2 else (sense,)
            cases[part].append(ProbeCase(len(rows), ((0, 1),), senses, lemma))
            held = np.eye(WIDTH)[2 + LEMMAS[lemma].index(sense)] + 0.05 * random.normal(size=WIDTH)
            rows.append(np.stack([np.ones(WIDTH), random.normal(size=WIDTH), held]))
    classes = tuple(sorted(set(map(first_sense, cases["train"]))))
    return TaskCases(TASKS["sense"], cases, classes), np.stack(rows, axis=1).astype(np.float16)


def measured(cases: TaskCases, tables: np.ndarray, without: int | None = None) -> MeasuredSenses:
    units = Units()
    for part in PARTS:
        for case in cases.cases[part]:
            units.row(case.text, case.spans[0])
    filled = np.arange(tables.shape[1]) != without
    states = UnitStates(list(tables), filled, np.ones(tables.shape[1], int), {}, 0, 0)
    return measured_senses(cases, units, states, UnitDraws(range(tables.shape[1]), 0, 100))


def of_word(cases: TaskCases, part: str, word: str) -> list[ProbeCase]:
    return [case for case in cases.cases[part] if case.word == word]


def test_the_nearest_case_is_that_of_scikit_learn() -> None:
    cases, tables = made()
    senses = measured(cases, tables)
    for space in (1, 2):
        right = 0
        for word in LEMMAS:
            training, tested = of_word(cases, "train", word), of_word(cases, "report", word)
            vectors = tables[space].astype(np.float64)
            classifier = KNeighborsClassifier(1, metric="cosine", algorithm="brute")
            classifier.fit(vectors[[case.text for case in training]], list(map(first_sense, training)))
            guesses = classifier.predict(vectors[[case.text for case in tested]])
            right += sum(guess in SENSES(case) for guess, case in zip(guesses.tolist(), tested, strict=True))
        assert senses.task.score.mean[space] == pytest.approx(right / SIZES["report"])
    assert senses.task.score.mean[2] == 1 and senses.task.chosen == 2


def test_the_most_frequent_sense_by_a_loop_and_where_all_vectors_are_the_same() -> None:
    """Equal vectors, such as those of a vocabulary, say no more than the most frequent sense."""
    cases, tables = made()
    senses = measured(cases, tables)
    right = 0
    for word in LEMMAS:
        counts = Counter(map(first_sense, of_word(cases, "train", word)))
        right += sum(counts.most_common(1)[0][0] in SENSES(case) for case in of_word(cases, "report", word))
    assert senses.task.majority.mean[0] == senses.task.score.mean[0] == pytest.approx(right / SIZES["report"])
    assert senses.gain.mean[0] == 0 and senses.silhouette.mean[0] == 0
    assert senses.gain.mean[2] == pytest.approx(1 - right / SIZES["report"])


def test_silhouettes_are_those_of_scikit_learn() -> None:
    cases, tables = made()
    for space in (1, 2):
        values = []
        for word in LEMMAS:
            members = [case for part in PARTS for case in of_word(cases, part, word)]
            labels = list(map(first_sense, members))
            kept = [index for index, label in enumerate(labels) if labels.count(label) > 1]
            vectors = tables[space].astype(np.float64)[[members[index].text for index in kept]]
            values += [*silhouette_samples(vectors, [labels[index] for index in kept], metric="cosine")]
        senses = measured(cases, tables)
        assert senses.silhouette.count == len(values)
        assert senses.silhouette.mean[space] == pytest.approx(np.mean(values), abs=1e-4)
    assert senses.silhouette.mean[2] > 0.9 and abs(senses.silhouette.mean[1]) < 0.1


def test_senses_without_a_training_case_are_wrong_and_cases_without_a_vector_are_left_out() -> None:
    cases, tables = made()
    first, *rest = cases.cases["report"]
    changed = TaskCases(cases.task, {**cases.cases, "report": [first._replace(answer=("new",)), *rest]}, cases.classes)
    senses = measured(changed, tables)
    assert senses.unseen == 1 and senses.task.score.mean[2] == pytest.approx(1 - 1 / SIZES["report"])
    fewer = measured(changed, tables, without=first.text)
    assert fewer.unseen == 0 and fewer.task.report_cases == SIZES["report"] - 1 and fewer.task.score.mean[2] == 1


def corpus(seed: int, n: int = 400, shuffled: bool = False) -> Corpus:
    """Sentences with "the" and "old" and "bank", a shore after the one, money after the other; and a word of one sense.

    Which words a sentence has says nothing of its sense.
    """
    random, examples = Random(seed), []
    for number in range(n):
        before, other = random.sample(("the", "old"), 2)
        words = [word for word in random.sample(WORDS[:40], 6) if word not in ("the", "old", "bank", "tree")]
        words.insert(random.randrange(len(words)), other)
        at = random.randrange(len(words))
        words[at:at] = [before, "bank"]
        words.append("tree")
        sense = random.choice(("shore", "money")) if shuffled else "shore" if before == "the" else "money"
        starts = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
        spans = tuple((start, start + len(word)) for start, word in zip(starts, words, strict=False))
        labelled = (
            LabelledSpan(((at + 1, at + 2),), (sense,), lemma="bank.n"),
            LabelledSpan(((len(words) - 1, len(words)),), ("plant",), lemma="tree.n"),
        )
        text = Sentence(" ".join(words), spans, document=f"d{number // 4}", labelled=labelled)
        examples.append(Example(str(number), (text,)))
    return Corpus("senses", "0", n, {}, lambda: iter(examples), n_documents=n // 4)


def run(model: headscope.Model, data: Corpus, **options: Any) -> Any:
    return study.run(model, (data,), Settings(seed=2, resamples=200), **options)


def test_what_is_planted_is_claimed_and_random_weights_or_shuffled_senses_are_not() -> None:
    planted = headscope.wrap(carrying(looks_at_offset(-1), ["the"])(0), tiny_tokenizer())
    result = run(planted, corpus(0))
    assert result["task"].values.tolist() == ["sense"] and result["score_n_examples"].item() > 40
    assert float(result["score"].max()) == 1 and result["score_majority"].item() < 0.7
    assert int(result["unseen_senses"]) == 0 and result["seed"].values.tolist() == [2, 3, 4]
    topics = ("The sense of a word in its vector", "Clustering by sense")
    held = {topic for topic, verdict in claimed(result).items() if verdict == "holds"}
    assert held == {f"{topic} comes from training" for topic in topics}
    shuffled = corpus(0, shuffled=True)
    for model, data in ((untrained(planted, 9), corpus(0)), (RANDOM, shuffled), (planted, shuffled)):
        found = claimed(run(model, data))
        assert all(any(topic in name for name in found) for topic in topics)
        assert [topic for topic, verdict in found.items() if verdict == "holds"] == []


def test_cases_are_of_words_with_several_training_senses_some_of_each_word_in_turn() -> None:
    texts = split([corpus(0)], [], 0.2, 0)
    ((cases,), _) = sample(texts, [TASKS["sense"]], 1000, 0)
    assert {case.word for part in PARTS for case in cases.cases[part]} == {"bank.n"}
    assert cases.classes == ("money", "shore") and cases.rare == 0
    documents = [{texts.units[case.text] for case in cases.cases[part]} for part in ("train", "report")]
    assert not documents[0] & documents[1]


def test_words_with_one_sense_among_the_drawn_training_cases_are_left_out() -> None:
    cases = [ProbeCase(number, ((0, 1),), ("one",) if number % 3 else ("two", "one"), "a") for number in range(30)]
    task = replace(TASKS["sense"], cases=lambda *_: iter([*cases, ProbeCase(30, ((0, 1),), ("one", "two"), "b")]))
    ((sampled,), _) = sample(split([corpus(0)], [], 0.2, 0), [task], 40, 0)
    assert {part: len(some) for part, some in sampled.cases.items()} == {"train": 30, "choose": 10, "report": 30}


def test_a_sense_of_one_case_has_no_silhouette() -> None:
    clear, values = silhouettes(np.eye(5)[None], ["a", "b", "a", "c", "b"])
    assert clear.tolist() == [0, 1, 2, 4] and values.tolist() == [[0, 0, 0, 0]]
    assert [part.size for part in silhouettes(np.eye(3)[None], ["a", "a", "b"])] == [0, 0]


def test_what_is_refused() -> None:
    with pytest.raises(HeadscopeError, match=r"gives no task \(sense: no case; it needs spans labelled with senses"):
        run(RANDOM, headscope.read("sample"), tasks="sense")
    with pytest.raises(HeadscopeError, match="--remove sense: no measured task of words with classes; use none"):
        run(RANDOM, corpus(0), remove="sense")
