"""Changed examples: what is changed and what stays, and examples that cannot be changed are left out."""

from functools import partial

import pytest

from headscope.corpora import Corpus
from headscope.corpora.tasks.perturbations import PERTURBATIONS, perturbed
from headscope.linguistics.sentence import Example, Sentence, segment_text

TREE = Sentence(
    "The old cat saw a bird.",
    words=((0, 3), (4, 7), (8, 11), (12, 15), (16, 17), (18, 22), (22, 23)),
    heads=(3, 3, 4, 0, 6, 4, 4),
    deprel=("det", "amod", "nsubj:pass", "root", "det", "obj", "punct"),
)


def changed(name: str, *examples: Example) -> dict[str, tuple[str, ...]]:
    made, numbers = perturbed(Corpus("c", "0", len(examples), {}, partial(iter, examples)), name, 0)
    assert [examples[number].id for number in numbers] == [example.id for example in made]
    return {example.id: tuple(map(segment_text, example.segments)) for example in made}


PAIR = Example(
    "pair", (Sentence("It was cold today."),), (Sentence("We were warm."), Sentence("It rained.")), label="a"
)
SINGLE = Example("single", (Sentence("It rained."),), label="b")


def test_words_are_shuffled_within_their_sentence_and_the_mark_stays() -> None:
    first, second = changed("words shuffled", PAIR)["pair"]
    assert sorted(first.rstrip(".").split()) == sorted("It was cold today".split()) and first.endswith(".")
    assert first != "It was cold today." and second.count(".") == 2
    assert changed("words shuffled", Example("one", (Sentence("Rain."),))) == {}


def test_a_negation_stands_behind_the_first_auxiliary_of_the_last_segment() -> None:
    made = changed("negation added", PAIR, SINGLE)
    assert made == {"pair": ("It was cold today.", "We were not warm. It rained.")}
    assert changed("negation added", Example("no", (Sentence("It was not cold."),))) == {}


def test_a_sentence_of_a_pair_is_emptied() -> None:
    assert changed("second sentence emptied", PAIR, SINGLE) == {"pair": ("It was cold today.",)}
    assert changed("first sentence emptied", PAIR, SINGLE) == {"pair": ("We were warm. It rained.",)}


def test_subject_and_object_go_with_what_depends_on_them() -> None:
    tree = Example("tree", (TREE,))
    assert changed("subject removed", tree, SINGLE) == {"tree": ("saw a bird .",)}
    assert changed("object removed", tree, SINGLE) == {"tree": ("The old cat saw .",)}


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_labels_and_numbers_stay(name: str) -> None:
    made, numbers = perturbed(Corpus("c", "0", 2, {}, partial(iter, (SINGLE, PAIR))), name, 1)
    assert [example.label for example in made] == ["ba"[number] for number in numbers]
    assert made.n_examples == len(numbers)
