"""What heads give to links: the same in loops over the definition, in any batches and blocks."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.linguistics.sentence import Example, Link, Sentence
from headscope.studies.heads.relations.link_attention import LinkAttention
from headscope.studies.heads.relations.observer import MOST_BATCHES, LinkObserver
from headscope.testing.hand_made import looks_at
from support.any_examples import sentences
from support.made_inputs import inputs_of, maps_of, spaced
from support.made_links import found_by, naive

quick = settings(max_examples=20, deadline=None, derandomize=True, database=None)


@st.composite
def linked(draw: st.DrawFn) -> Sentence:
    """A sentence of any characters with links between any of its words, but no word to itself."""
    made = draw(sentences())
    words = list(range(len(made.words)))
    found = []
    for _ in range(draw(st.integers(0, 3)) if len(words) > 1 else 0):
        ends = draw(st.permutations(words))
        first = draw(st.integers(1, len(words) - 1))
        last = draw(st.integers(first + 1, len(words)))
        source, target = tuple(sorted(ends[:first])), tuple(sorted(ends[first:last]))
        found.append(Link(draw(st.sampled_from(["one", "two"])), source, target))
    return Sentence(made.text, made.words, links=tuple(found))


examples = st.builds(
    Example,
    st.sampled_from(["a", "b"]),
    st.lists(linked(), min_size=1, max_size=2).map(tuple),
    st.lists(linked(), max_size=1).map(tuple),
)
batches = st.lists(examples, min_size=1, max_size=3)


@quick
@given(made=batches, block=st.integers(1, 6), seed=st.integers(0, 1))
def test_values_are_what_the_definition_says(made: list[Example], block: int, seed: int) -> None:
    inputs = inputs_of(*made)
    if not inputs:
        return
    layers = [maps_of(inputs, heads, seed=heads) for heads in (2, 3)]
    found = found_by(LinkObserver(seed), layers, inputs, block)
    expected = {
        (encoded.index, relation): its
        for index, encoded in enumerate(inputs)
        if encoded.example is not None
        for relation, its in naive(
            encoded.example, np.concatenate([maps[index].numpy() for maps in layers]), seed
        ).items()
    }
    keys = list(zip(found.input.tolist(), found.relation.tolist(), strict=True))
    assert sorted(keys) == sorted(expected)
    for row, key in enumerate(keys):
        for name in ("linked", "matched", "elsewhere", "others", "other_ends"):
            np.testing.assert_allclose(getattr(found, name)[row], expected[key][name], rtol=1e-6, err_msg=name)


RESTLESS = Link("Experiencer", (0,), (3,))
FIGURE_3 = Example("f", (spaced("she had grown restless .", RESTLESS),))
PAIR = Example(
    "p",
    (spaced("the cat saw her", Link("Seen", (3,), (2,)), Link("Seer", (0, 1), (2,))),),
    (spaced("a dog ran .", Link("Runner", (0, 1), (2,))),),
)


def test_attention_to_special_tokens_is_that_of_the_end_that_looks_and_of_other_words() -> None:
    (encoded,) = inputs_of(FIGURE_3)
    (maps,) = maps_of([encoded], 2)
    found = found_by(LinkObserver(), [[maps]], [encoded], block=2)
    special = maps.numpy()[:, :, encoded.token_class < 2].sum(-1)  # [head, query]
    tokens = {word: [token for other, token in encoded.pieces.tolist() if other == word] for word in range(5)}
    for direction, word in enumerate((0, 3)):
        others = [token for other in tokens if other != word for token in tokens[other]]
        np.testing.assert_allclose(found.sink[0, :, direction], special[:, tokens[word]].mean(-1), atol=1e-3)
        np.testing.assert_allclose(found.sink_others[0, :, direction], special[:, others].mean(-1), atol=1e-3)


def test_a_batch_is_its_inputs_one_by_one() -> None:
    inputs = inputs_of(PAIR, FIGURE_3)
    maps = maps_of(inputs)
    batched = found_by(LinkObserver(), [maps], inputs)
    alone = LinkAttention.in_order(
        [found_by(LinkObserver(), [[attention]], [encoded]) for attention, encoded in zip(maps, inputs, strict=True)][
            ::-1
        ]
    )
    order = np.lexsort((batched.relation, batched.input))
    for name in ("input", "length", "relation", "links", "linked", "matched", "elsewhere", "others", "other_ends"):
        np.testing.assert_array_equal(getattr(batched[order], name), getattr(alone, name), err_msg=name)
    assert alone.relation.tolist() == ["Runner", "Seen", "Seer", "Experiencer"]
    assert alone.length.tolist() == [len(inputs[0])] * 3 + [len(inputs[1])]


def test_the_source_looks_at_the_target_or_the_target_at_the_source() -> None:
    (encoded,) = inputs_of(Example("x", (spaced("he was old .", Link("x", (0,), (2,))),)))
    # [CLS] he was old . [SEP]: "he" looks at "old", all others at "he"
    found = found_by(LinkObserver(), [[looks_at([1, 3, 1, 1, 1, 1])]], [encoded])
    assert found.linked.tolist() == [[[1.0, 1.0]]]
    # "was" looks not at ".", nor back; the others look at "he", not at "old", and "he" and "old" at no other word
    assert found.elsewhere.tolist() == found.other_ends.tolist() == [[[0.0, 0.0]]]
    assert found.others.tolist() == [[[0.0, 1.0]]]


def test_a_word_is_its_pieces_and_the_largest_of_their_pairs_counts() -> None:
    (encoded,) = inputs_of(Example("x", (spaced("ox saw sty .", Link("x", (0,), (2,))),)))
    # [CLS] o ##x saw s ##t ##y . [SEP]
    (maps,) = maps_of([encoded], heads=1)
    found = found_by(LinkObserver(), [[maps]], [encoded])
    pairs = maps[0, 1:3, 4:7]
    assert found.linked[0, 0, 0] == pairs.max() and found.linked[0, 0, 1] == maps[0, 4:7, 1:3].max()
    coded = found_by(LinkObserver(as_coded=True), [[maps]], [encoded])
    assert coded.linked[0, 0, 0] == max(maps[0, 1, 4], maps[0, 2, 5])


def test_as_coded_a_target_of_one_piece_meets_the_first_piece_alone() -> None:
    (encoded,) = inputs_of(Example("x", (spaced("ox was old .", Link("x", (0,), (2,))),)))
    (maps,) = maps_of([encoded], heads=1)
    assert found_by(LinkObserver(as_coded=True), [[maps]], [encoded]).linked[0, 0, 0] == maps[0, 1, 4]


def test_a_link_without_a_pair_of_tokens_is_counted_and_left_out() -> None:
    lost = spaced("the \u200d\u00ad ran dog", Link("x", (0,), (1,)), Link("y", (0,), (2,)))
    counts: Counter[str] = Counter()
    inputs = inputs_of(Example("l", (lost,)))
    found = found_by(LinkObserver(counts=counts), [maps_of(inputs)], inputs)
    assert found.relation.tolist() == ["y"] and counts == {"links without a pair of tokens": 1}
    shared = Sentence("zum", ((0, 3), (0, 3)), links=(Link("x", (0,), (1,)),))
    inputs = inputs_of(Example("s", (Sentence("a", ((0, 1), (0, 1)), links=shared.links),)))
    assert len(found_by(LinkObserver(counts=counts), [maps_of(inputs)], inputs)) == 0
    assert counts == {"links without a pair of tokens": 2}


def test_the_links_of_a_batch_are_looked_for_once_for_all_models() -> None:
    inputs = inputs_of(
        Example("l", (spaced("the \u200d\u00ad ran dog", Link("x", (0,), (1,)), Link("y", (0,), (2,))),))
    )
    links: dict[bytes, tuple[Any, ...]] = {}
    for seed in range(2):
        before = [*links.values()]
        maps = maps_of(inputs, seed=seed)
        shared, apart = (found_by(LinkObserver(links=known), [maps], inputs) for known in (links, None))
        np.testing.assert_array_equal(shared.linked, apart.linked)
        np.testing.assert_array_equal(shared.sink_others, apart.sink_others)
        assert len(links) == 1 and all(kept is found for kept, found in zip(before, links.values(), strict=False))
    others = inputs_of(*[Example("o", (spaced("the dog ran"),))] * (MOST_BATCHES + 1))
    for index in range(1, MOST_BATCHES + 1):
        found_by(LinkObserver(links=links), [maps_of(others[index:][:1])], others[index:][:1])
    assert [*links] == [np.array([MOST_BATCHES]).tobytes()]


def test_examples_without_links_ask_nothing() -> None:
    inputs = inputs_of(Example("b", (spaced("the cat ran"),)), FIGURE_3)
    assert found_by(LinkObserver(), [maps_of(inputs)], inputs).input.tolist() == [1]
    nothing = found_by(LinkObserver(), [maps_of(inputs[:1])], inputs[:1])
    assert len(nothing) == 0 and list(nothing.by_relation()) == ["all"]


@pytest.mark.parametrize("apart", [(), ("Seen",)])
def test_all_is_the_largest_of_all_relations(apart: tuple[str, ...]) -> None:
    inputs = inputs_of(PAIR, FIGURE_3)
    found = LinkAttention.in_order([found_by(LinkObserver(), [maps_of(inputs)], inputs)])
    relations = found.by_relation(apart)
    assert list(relations) == ["all", "Experiencer", "Runner", "Seen", "Seer"]
    its = [row for row in range(4) if found.input[row] == 0 and found.relation[row] not in apart]
    overall = relations["all"]
    assert overall.input.tolist() == [0, 1] and overall.links.tolist() == [len(its), 1]
    np.testing.assert_array_equal(overall.linked[0], found.linked[its].max(0))
    np.testing.assert_array_equal(overall.linked[1], relations["Experiencer"].linked[0])
    np.testing.assert_array_equal(overall.elsewhere[0], np.fmax.reduce(found.elsewhere[its]))
