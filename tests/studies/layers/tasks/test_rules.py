"""The cases of each task on sentences made by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headscope.linguistics.sentence import Mention, Sentence
from headscope.studies.layers.layers.sampling import TASKS, named
from headscope.studies.layers.layers.tasks.numbers import SHARES
from headscope.studies.layers.layers.texts import PARTS, Texts

# The old dogs that barked have seen her cat.
TEXT = "The old dogs that barked have seen her cat."
FORMS = ("The", "old", "dogs", "that", "barked", "have", "seen", "her", "cat", ".")
DOGS = Sentence(
    TEXT,
    words=tuple((TEXT.index(form), TEXT.index(form) + len(form)) for form in FORMS),
    upos=("DET", "ADJ", "NOUN", "PRON", "VERB", "AUX", "VERB", "PRON", "NOUN", "PUNCT"),
    heads=(3, 3, 7, 5, 3, 7, 0, 9, 7, 7),
    deprel=("det", "amod", "nsubj", "nsubj", "acl:relcl", "aux", "root", "nmod:poss", "obj", "punct"),
    mentions=(Mention("e1", 0, 5, "animal"), Mention("e1", 7, 8, "animal"), Mention("e2", 7, 9, "animal")),
    morphology=(
        "", "", "Number=Plur", "", "Tense=Past|VerbForm=Fin", "Tense=Pres|VerbForm=Fin", "VerbForm=Part", "",
        "Number=Sing", "",
    ),
    chunks=("B-NP", "I-NP", "I-NP", "B-NP", "B-VP", "B-VP", "I-VP", "B-NP", "I-NP", "O"),
)  # fmt: skip


def texts(*sentences: Sentence) -> Texts:
    made = Texts()
    numbers = [made.add(sentence) for sentence in sentences]
    made.order = {"train": numbers, "choose": [], "report": []}
    return made


def cases(task: str, *sentences: Sentence, seed: int = 0) -> list[tuple]:
    return [tuple(case) for case in TASKS[task].cases(texts(*sentences), "train", np.random.default_rng(seed))]


def answers(task: str) -> list[str]:
    return [str(case[2]) for case in cases(task, DOGS)]


def test_tasks_of_words_have_a_case_for_each_word() -> None:
    assert answers("part_of_speech") == list(DOGS.upos)
    assert answers("chunk") == list(DOGS.chunks)
    assert answers("token_index") == [str(index) for index in range(1, 11)]
    assert cases("part_of_speech", DOGS)[2] == (0, ((2, 3),), "NOUN", "dogs")


def test_ancestors_end_at_the_root() -> None:
    assert answers("parent") == ["NOUN", "NOUN", "VERB", "VERB", "NOUN", "VERB", "none", "NOUN", "VERB", "VERB"]
    assert answers("grandparent")[:5] == ["VERB", "VERB", "none", "NOUN", "VERB"]
    assert answers("great_grandparent")[3] == "VERB" and answers("great_grandparent")[0] == "none"


def test_pairs_of_dependencies() -> None:
    labels = cases("dependency_label", DOGS)
    assert labels[0] == (0, ((0, 1), (2, 3)), "det", "the")
    assert [case[2] for case in labels] == ["det", "amod", "nsubj", "nsubj", "acl", "aux", "nmod", "obj"]
    arcs = cases("dependency_arc", DOGS)
    assert [case[2] for case in arcs] == ["head", "other"] * 8
    for (_, right, _, _), (_, wrong, _, _) in zip(arcs[::2], arcs[1::2], strict=True):
        assert right[0] == wrong[0] and right[1] != wrong[1] != wrong[0]


def test_mentions() -> None:
    assert cases("entity", DOGS) == []  # none has a proper noun
    pairs = cases("coreference", DOGS)
    assert [(case[1], case[2]) for case in pairs] == [(((0, 5), (7, 8)), "same"), (((0, 5), (7, 9)), "other")]


def test_the_main_clause_among_other_candidates() -> None:
    assert [(case[1], case[2]) for case in cases("main_subject", DOGS)] == [
        (((2, 3),), "main"), (((3, 4),), "other"), (((7, 8),), "other"), (((8, 9),), "other"),
    ]  # fmt: skip
    assert cases("main_auxiliary", DOGS) == []  # there is one auxiliary


def test_sentences() -> None:
    assert cases("sentence_length", DOGS) == [(0, (), "9+", "")]
    assert answers("tree_depth") == ["3"]
    assert answers("subject_number") == ["plural"] and answers("object_number") == ["singular"]
    assert answers("tense") == ["present"]


def test_constituents_and_the_parts_of_the_top() -> None:
    parsed = replace(DOGS, phrases=((0, 10), (0, 5), (7, 9)), phrase_labels=("S", "NP", "NP"), top=("NP", "VP", "."))
    assert cases("constituent", parsed) == [
        (0, ((0, 10),), "S", "."), (0, ((0, 5),), "NP", "barked"), (0, ((7, 9),), "NP", "cat"),
    ]  # fmt: skip
    others = [replace(parsed, top=("NP", f"VP{number}")) for number in range(20)]
    answers = [case[2] for case in cases("top_constituents", parsed, parsed, *others)]
    assert answers[:2] == ["NP VP ."] * 2 and len(set(answers)) == 20 and answers.count("another") == 2


CLAUSES = Sentence(
    "He slept, but Ann ate.",
    ((0, 2), (3, 8), (8, 9), (10, 13), (14, 17), (18, 21), (21, 22)),
    ("PRON", "VERB", "PUNCT", "CCONJ", "PROPN", "VERB", "PUNCT"),
    (2, 0, 6, 6, 6, 2, 2),
    ("nsubj", "root", "punct", "cc", "nsubj", "conj", "punct"),
)


def test_coordinate_clauses_are_swapped_in_half_of_the_sentences() -> None:
    made = texts(*[CLAUSES] * 40)
    found = list(TASKS["coordination_inverted"].cases(made, "train", np.random.default_rng(0)))
    assert {(case.answer, made.sentences[case.text].text) for case in found} == {
        ("as written", "He slept, but Ann ate."), ("inverted", "Ann ate, but he slept."),
    }  # fmt: skip
    assert all(made.units[case.text] < 40 for case in found)


@pytest.mark.parametrize(
    "changed",
    [
        {"deprel": ("nsubj", "root", "punct", "cc", "obj", "conj", "punct")},  # the second has no subject
        {"deprel": ("obj", "root", "punct", "cc", "nsubj", "conj", "punct")},  # the first has none
        {"deprel": ("nsubj", "root", "punct", "cc", "nsubj", "parataxis", "punct")},
        {"deprel": ("nsubj", "root", "punct", "dep", "nsubj", "conj", "punct")},  # no conjunction
        {"heads": (2, 0, 6, 6, 2, 2, 2)},  # the name is of the first clause, within the second
        {"deprel": ("nsubj", "root", "punct", "cc", "nsubj", "conj", "advmod")},  # a part of the first follows
    ],
)
def test_other_sentences_have_no_two_clauses(changed: dict) -> None:
    assert cases("coordination_inverted", replace(CLAUSES, **changed)) == []


def test_word_content_needs_frequent_words() -> None:
    assert cases("word_content", *[DOGS] * 19) == []
    other = Sentence("A cat.", ((0, 1), (2, 5), (5, 6)), upos=("DET", "NOUN", "PUNCT"))
    found = cases("word_content", *[other] * 20, DOGS)
    assert [case[2] for case in found] == ["cat"] * 21


def test_shifted_sentences_swap_two_neighbours_and_nothing_else() -> None:
    made = texts(*[DOGS] * 40)
    all_cases = list(TASKS["order_shifted"].cases(made, "train", np.random.default_rng(0)))
    assert {case.answer for case in all_cases} == {"as written", "shifted"}
    for case in all_cases:
        text = made.sentences[case.text].text
        assert sorted(text) == sorted(TEXT) and (text == TEXT) == (case.answer == "as written")
        assert text.startswith("The") and text.endswith(".") and made.units[case.text] < 40


def test_an_odd_word_has_the_part_of_speech_and_morphology_of_the_word_that_it_replaces() -> None:
    wolves = Sentence("Six wolves left.", ((0, 3), (4, 10), (11, 15), (15, 16)), upos=("NUM", "NOUN", "VERB", "PUNCT"),
                      morphology=("", "Number=Plur", "Tense=Past|VerbForm=Fin", ""))  # fmt: skip
    made = texts(*[DOGS] * 30, wolves)
    all_cases = list(TASKS["odd_word"].cases(made, "train", np.random.default_rng(0)))
    odd = {made.sentences[case.text].text for case in all_cases if case.answer == "replaced"}
    assert odd == {TEXT.replace("dogs", "wolves"), TEXT.replace("barked", "left")}


def test_numbers_are_apart_in_the_three_parts() -> None:
    made = texts()
    values = {
        part: [float(str(case.answer)) for case in TASKS["number_value"].cases(made, part, np.random.default_rng(0))]
        for part in PARTS
    }
    assert sorted(value for part in PARTS for value in values[part]) == list(range(1000))
    assert {part: len(numbers) for part, numbers in values.items()} == {
        part: 1000 * share for part, share in SHARES.items()
    }
    for number, case in enumerate(TASKS["number_sum"].cases(made, "report", np.random.default_rng(0)), 1000):
        one, other = (int(form) for form in made.sentences[number].forms)
        assert case.answer == one + other and {one, other} <= set(map(int, values["report"]))


def answers_of(name: str) -> dict[str, list[tuple[str, Any]]]:
    """The numbers that a task asks for, as they are written, with their answers, by part."""
    made = texts()
    return {
        part: [
            (made.sentences[case.text].forms[case.spans[0][0]], case.answer)
            for case in TASKS[name].cases(made, part, np.random.default_rng(0))
        ]
        for part in PARTS
    }


@pytest.mark.parametrize("task", ["number_beyond", "number_sum_beyond"])
def test_beyond_the_range_larger_numbers_are_tested_than_trained(task: str) -> None:
    known = {part: [answer for _, answer in answers] for part, answers in answers_of(task).items()}
    assert max(known["train"] + known["choose"]) < min(known["report"])
    assert len(set(known["train"])) > 40 and len(set(known["report"])) > 40


def test_decimals_negatives_and_words_have_the_value_that_is_written() -> None:
    for name, read in (("number_decimal", float), ("number_negative", float)):
        for part, answers in answers_of(name).items():
            assert all(read(form) == answer for form, answer in answers), (name, part)
    assert min(answer for _, answer in answers_of("number_negative")["train"]) < -900
    words = answers_of("number_word")
    assert ("forty-two", 42.0) in words["train"] + words["choose"] + words["report"]
    assert not {form for form, _ in words["train"]} & {form for form, _ in words["report"]}


def test_the_largest_of_a_list_is_asked_beside_another_of_the_same_list() -> None:
    made = texts()
    cases = list(TASKS["number_largest"].cases(made, "report", np.random.default_rng(0)))
    assert [case.answer for case in cases[:4]] == ["largest", "another"] * 2
    for case in cases:
        forms = made.sentences[case.text].forms
        assert len(forms) == 5
        assert (int(forms[case.spans[0][0]]) == max(map(int, forms))) == (case.answer == "largest")


def test_numbers_that_have_to_be_named_are_not_among_all() -> None:
    names = {task.name for task in named("all")}
    assert "number_value" in names and "number_beyond" not in names
    assert [task.name for task in named("number_beyond,number_value")] == ["number_value", "number_beyond"]


GENERATED = ("number_largest",)


@pytest.mark.parametrize("task", [name for name, task in TASKS.items() if not task.is_value and name not in GENERATED])
def test_a_sentence_without_annotation_has_no_case(task: str) -> None:
    plain = Sentence("It rained.")
    assert cases(task, plain) == []
