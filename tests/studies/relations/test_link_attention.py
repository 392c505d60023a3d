"""Links elsewhere have the shape of the link, stay in the sentence, and stand where no link does."""

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.linguistics.sentence import Link, Sentence
from headscope.studies.heads.relations.link_attention import baselines
from support.made_inputs import spaced


@st.composite
def linked(draw: st.DrawFn) -> Sentence:
    words = draw(st.integers(2, 8))
    found = []
    for _ in range(draw(st.integers(1, 4))):
        order = draw(st.permutations(range(words)))
        cut = draw(st.integers(1, words - 1))
        last = draw(st.integers(cut + 1, words))
        found.append(Link("x", tuple(sorted(order[:cut])), tuple(sorted(order[cut:last]))))
    return spaced(" ".join("a" * words), *found)


def shape(words: tuple[int, ...], first: int) -> list[int]:
    return [word - first for word in words]


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(sentence=linked(), seed=st.integers(0, 3))
def test_they_are_what_they_are_called(sentence: Sentence, seed: int) -> None:
    ends = {pair for link in sentence.links for pair in ((link.source, link.target), (link.target, link.source))}
    found = baselines(sentence, Random(seed))
    assert found == baselines(sentence, Random(seed))
    for link, its in zip(sentence.links, found, strict=True):
        for other in filter(None, its):
            assert set(other.source + other.target) <= set(range(len(sentence.words)))
            assert (other.source, other.target) not in ends and other.relation == link.relation
            assert shape(other.source, other.source[0]) == shape(link.source, link.source[0])
            assert shape(other.target, other.target[0]) == shape(link.target, link.target[0])
        if its.elsewhere:
            assert its.elsewhere.target[0] - its.elsewhere.source[0] == link.target[0] - link.source[0]
            assert its.elsewhere.distance == link.distance
        if its.other_source:
            assert its.other_source.target == link.target
            assert not set(its.other_source.source) & set(link.source + link.target)
        if its.other_target:
            assert its.other_target.source == link.source
            assert not set(its.other_target.target) & set(link.source + link.target)
        for other in filter(None, its):
            assert (other.source > other.target) == (link.source > link.target), "a causal model sees as much"
    for places in zip(*found, strict=True):
        pairs = [frozenset((moved.source, moved.target)) for moved in places if moved]
        assert len(set(pairs)) == len(pairs), "no place stands for two links"


def test_places_have_as_many_pieces_as_the_link() -> None:
    sentence, pieces = spaced("a b c d e f", Link("x", (0,), (2,))), (2, 1, 3, 2, 2, 3)
    for seed in range(20):
        (its,) = baselines(sentence, Random(seed), None, pieces.__getitem__)
        assert its.elsewhere and its.elsewhere.source == (3,) and its.elsewhere.target == (5,)
        assert its.other_target and its.other_target.target == (5,) and its.other_source is None


def test_where_there_is_no_other_place_there_is_none() -> None:
    (one,) = baselines(spaced("he ran", Link("x", (0,), (1,))), Random(0))
    assert one == (None, None, None)
    first, second = baselines(spaced("he ran home", Link("x", (0,), (1,)), Link("y", (1,), (2,))), Random(0))
    assert first.elsewhere is None and second.elsewhere is None
    assert first.other_target is not None and first.other_target.target == (2,)


def test_a_place_where_a_link_stands_the_other_way_round_is_taken() -> None:
    (one, _) = baselines(spaced("a b c", Link("x", (0,), (1,)), Link("y", (2,), (1,))), Random(0))
    assert one.elsewhere is None


def test_all_places_are_as_likely() -> None:
    sentence = spaced("a b c d e f", Link("x", (1,), (2,)))
    draws = [baselines(sentence, Random(seed))[0] for seed in range(1000)]
    for counts, number in (
        (Counter(draw.elsewhere.source for draw in draws if draw.elsewhere), 4),
        (Counter(draw.other_source.source for draw in draws if draw.other_source), 1),
        (Counter(draw.other_target.target for draw in draws if draw.other_target), 3),
    ):
        assert len(counts) == number and max(counts.values()) < 1.25 * min(counts.values())


def test_ends_of_links_across_segments_stay_in_their_segments() -> None:
    sentence = spaced("a b c", Link("x", (1,), (4,)))
    for seed in range(20):
        (one,) = baselines(sentence, Random(seed), ((0, 3), (3, 7)))
        assert one.elsewhere and one.elsewhere.source[0] in (0, 2) and one.elsewhere.target[0] in (3, 5)
        assert one.other_source and one.other_source.source[0] in (0, 2)
        assert one.other_target and one.other_target.target[0] in (3, 5, 6)
