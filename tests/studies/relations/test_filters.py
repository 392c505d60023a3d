"""Which links there are, and what each step of the paper's filter drops."""

from functools import partial

import pytest

from headscope import Corpus
from headscope.corpora import read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Link, Sentence
from headscope.studies.heads.relations import filters as module
from headscope.studies.heads.relations.filters import AS_CODED, NONE, PAPER, Limits, linked, parsed
from headscope.studies.heads.relations.link_kinds import link_kind, links_of, of_frames
from support.made_inputs import corpus_of as made_corpus
from support.made_inputs import spaced


def corpus_of(*sentences: Sentence) -> Corpus:
    examples = [Example(str(number), (sentence,)) for number, sentence in enumerate(sentences)]
    return made_corpus(examples)


def frame(words: int, *elements: tuple[tuple[int, ...], bool], target: tuple[int, ...] = (0,)) -> Sentence:
    """A sentence of so many words, its target the first, with these elements."""
    links = [Link("E", source, target, core) for source, core in elements]
    return spaced(" ".join("w" * words), *links)


FRAMES = {
    "kept": frame(12, ((2,), True), ((9, 10, 11), True)),
    "kept, its other element is none": frame(5, ((3,), True), ((1,), False), ((1, 2, 3, 4), False)),
    "without a link": frame(5),
    "split": frame(5, ((3,), True), target=(0, 2)),
    "no core": frame(5, ((3,), False)),
    "long": frame(13, ((3,), True)),
    "long element": frame(12, ((3,), True), ((5, 6, 7, 8), True)),
    "near": frame(12, ((3,), True), ((1,), True)),
    "at a distance of 2": frame(12, ((2,), True)),
    "long and near": frame(13, ((1,), True)),
}


def test_each_step_of_the_filter_drops_what_it_should_and_counts_it() -> None:
    kept, dropped = linked(corpus_of(*FRAMES.values()), "annotated", PAPER)
    assert [example.id for example in kept] == ["0", "1", "8"] and len(kept) == 3
    assert list(dropped.items()) == [
        ("sentences without a link", 1),
        ("sentences with a split target", 1),
        ("sentences without a core element", 1),
        ("sentences of more than 12 words", 2),
        ("sentences with an element of more than 3 words", 1),
        ("sentences with an element nearer than 2 words", 1),
    ]
    assert [link.source for example in kept for link in example.first[0].links] == [(2,), (9, 10, 11), (3,), (2,)]


def test_as_coded_a_distance_of_2_is_too_near() -> None:
    kept, _ = linked(corpus_of(*FRAMES.values()), "annotated", AS_CODED)
    assert [example.id for example in kept] == ["1"]


def test_without_limits_all_elements_are_links_but_of_a_word_to_itself() -> None:
    own = frame(4, ((0, 1), True), ((2,), False))
    kept, dropped = linked(corpus_of(*FRAMES.values(), own), "annotated", NONE)
    assert [example.id for example in kept] == ["0", "1", "3", "4", "5", "6", "7", "8", "9", "10"]
    assert dropped == {"sentences without a link": 1, "links of a word to itself": 1}


def test_of_other_links_each_goes_alone() -> None:
    links = [Link("x", (0,), (1,)), Link("x", (0,), (2,)), Link("x", (1, 2, 3), (5,))]
    sentences = (spaced("a b c d e f", *links), spaced("a b", links[0]), spaced("a b c d e f g", links[1]))
    kept, dropped = linked(corpus_of(*sentences), "annotated", Limits(6, 2, 2))
    assert [example.id for example in kept] == ["0"] and next(iter(kept)).first[0].links == (links[1],)
    assert dropped == {
        "sentences of more than 6 words": 1,
        "links of more than 2 words": 1,
        "links nearer than 2 words": 2,
    }


def test_a_large_corpus_is_read_again_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IN_MEMORY", 2)
    kept, dropped = linked(corpus_of(*FRAMES.values()), "annotated", PAPER)
    assert [example.id for example in kept] == [example.id for example in kept] == ["0", "1", "8"]
    assert dropped["sentences without a link"] == 1 and isinstance(kept.again, partial)
    assert kept.again.func is module._again and [example.id for example in kept.since(1)] == ["1", "8"]


def test_passes_read_what_is_left_of_a_corpus_that_is_not_in_memory(streamed: None) -> None:
    kept, dropped = linked(read("sample"), "pairs", Limits(12))
    assert dropped and [example.id for example in kept.since(3)] == [example.id for example in kept][3:]
    assert kept.n_documents == len({example.document for example in kept}) < read("sample").n_documents


@pytest.mark.parametrize("text", ["12,3", "12,3,2,1", "a,b,c", "0,3,2", "12,-3,2", "", "12;3;2"])
def test_limits_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(HeadscopeError, match=r"are not WORDS,SPAN,DISTANCE; write 12,3,2 or none"):
        parsed(text)


def test_limits_read_what_they_write() -> None:
    for limits in (PAPER, NONE, Limits(None, 3, 2)):
        assert parsed(str(limits)) == limits


TREE = Sentence(
    "She saw him", ((0, 3), (4, 7), (8, 11)), ("PRON", "VERB", "PRON"), (2, 0, 2), ("nsubj:outer", "root", "obj")
)


def test_dependents_are_linked_to_their_heads() -> None:
    assert links_of(TREE, "dependency") == (Link("nsubj", (0,), (1,)), Link("obj", (2,), (1,)))
    assert links_of(Sentence("a b", ((0, 1), (2, 3)), heads=(2, 0)), "dependency") == (Link("dep", (0,), (1,)),)


def test_pairs_are_those_of_the_paper_once_each() -> None:
    assert links_of(TREE, "pairs") == (Link("verb and subject", (1,), (0,)),)
    nouns = Sentence("He saw Ann", ((0, 2), (3, 6), (7, 10)), ("PRON", "VERB", "PROPN"))
    assert links_of(nouns, "pairs") == (Link("pronoun and noun", (0,), (2,)),)


def test_a_possessive_is_linked_to_its_owner_and_to_the_clitic() -> None:
    words = ((0, 3), (3, 5), (6, 9), (10, 13), (14, 17))
    relations = ("nmod:poss", "case", "nsubj", "root", "obj")
    owned = Sentence("Ann's dog saw him", words, (), (3, 1, 4, 0, 4), relations)
    assert links_of(owned, "possessives") == (Link("owned and owner", (2,), (0,)), Link("owned and clitic", (2,), (1,)))
    assert not links_of(Sentence(owned.text, words, (), owned.heads, ("compound", *relations[1:])), "possessives")
    assert not links_of(TREE, "possessives") and not links_of(Sentence("Ann's", ((0, 3), (3, 5))), "possessives")


def test_a_corpus_is_asked_for_the_links_that_it_has() -> None:
    both = Sentence(TREE.text, TREE.words, TREE.upos, TREE.heads, TREE.deprel, links=(Link("x", (0,), (2,)),))
    assert link_kind(corpus_of(spaced("a"), TREE)) == "dependency"
    assert link_kind(corpus_of(TREE, both)) == "annotated" and not of_frames(corpus_of(TREE, both))
    assert link_kind(corpus_of(TREE, both), "pairs") == "pairs"
    assert of_frames(corpus_of(*FRAMES.values()))
    assert link_kind(read("sample")) == "dependency"
    with pytest.raises(HeadscopeError, match="corpus 'made' has no annotated or dependency links; name a treebank"):
        link_kind(corpus_of(spaced("a b")))
    with pytest.raises(HeadscopeError, match="corpus 'made' has no pairs links"):
        link_kind(corpus_of(spaced("a b", Link("x", (0,), (1,)))), "pairs")
    with pytest.raises(
        HeadscopeError, match="links 'trees' are unknown; use one of annotated, dependency, pairs, possessives"
    ):
        link_kind(corpus_of(TREE), "trees")
