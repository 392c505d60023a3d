"""Made inputs: what is repeated, what is not, and where the links point."""

from typing import Any

import numpy as np
import pytest

from headscope import HeadscopeError, Model, wrap
from headscope.studies.heads.induction.made_inputs import Maker, maker
from headscope.studies.heads.induction.relations import DUPLICATE, INDUCTION, PREVIOUS, places_of, repeat_links
from support.tiny import SPECIAL, tiny_bert, tiny_gpt2, tiny_tokenizer


@pytest.fixture(scope="module")
def model() -> Model:
    return wrap(tiny_bert(), tiny_tokenizer())


@pytest.fixture(scope="module")
def made(model: Model) -> Maker:
    return maker(model, seed=3)


def texts(inputs: tuple) -> list[list[int]]:
    """The tokens of inputs, without the special ones around them."""
    return [one.inputs["input_ids"][1:-1].tolist() for one in inputs]


def test_special_tokens_stand_around_and_are_not_drawn(made: Maker) -> None:
    (one,) = made.repeated(1, 5, 2)
    assert one.inputs["input_ids"][[0, -1]].tolist() == [2, 3]
    assert one.token_class.tolist() == [0, *[3] * 10, 1]
    assert set(made.tokens.tolist()).isdisjoint(range(len(SPECIAL)))


@pytest.mark.parametrize("repeats", [2, 3])
def test_a_sequence_of_different_tokens_is_repeated(made: Maker, repeats: int) -> None:
    for text in texts(made.repeated(4, 6, repeats)):
        assert text == text[:6] * repeats and len(set(text)) == 6


def test_fresh_tokens_begin_alike_and_have_no_repetition(made: Maker) -> None:
    repeated, fresh = texts(made.repeated(4, 6, 2)), texts(made.fresh(4, 6, 2))
    assert all(one[:6] == other[:6] and len(set(other)) == 12 for one, other in zip(repeated, fresh, strict=True))


def test_links_point_at_copies_and_behind_them(made: Maker) -> None:
    (one,) = made.repeated(1, 5, 3)
    ids = one.inputs["input_ids"]
    for relation, query, key in one.links.tolist():
        assert key < query and ids[key - (relation == INDUCTION)] == ids[query]
    queries = [set(one.links[one.links[:, 0] == relation, 1].tolist()) for relation in (INDUCTION, DUPLICATE)]
    assert queries[0] == queries[1] == set(range(6, 16))


def test_fresh_inputs_have_the_same_links_and_those_of_neighbours(made: Maker) -> None:
    (one,), (other,) = made.repeated(1, 5, 2), made.fresh(1, 5, 2)
    neighbours = other.links[:, 0] == PREVIOUS
    assert np.array_equal(one.links, other.links[~neighbours])
    assert (other.links[neighbours] @ [0, 1, -1] == 1).all() and neighbours.sum() == 9


def test_a_pair_is_planted_once_and_its_first_token_ends_the_text(made: Maker) -> None:
    planted, without = made.planted(3, 20, 0), made.unplanted(3, 20, 0)
    for number, one in enumerate(planted):
        (_, query, key), ids = one.links[0].tolist(), one.inputs["input_ids"]
        assert one.links[0, 0] == number % 5 and query == 20
        assert ids[key - 1] == ids[query] and (ids == ids[query]).sum() == 2 and (ids == ids[key]).sum() == 1
    for one in without:
        ids = one.inputs["input_ids"]
        assert (ids == ids[20]).sum() == 1 and one.links[:, 2].tolist() == [position + 2 for position in places_of(20)]


def test_the_seed_decides(model: Model, made: Maker) -> None:
    again, other = maker(model, seed=3), maker(model, seed=4)
    assert texts(again.repeated(2, 6, 2)) == texts(made.repeated(2, 6, 2)) != texts(other.repeated(2, 6, 2))


def test_copies_are_shortened_to_what_the_model_reads(made: Maker) -> None:
    assert (made.copy_length(25, 2), made.copy_length(99, 2), made.copy_length(25, 4)) == (25, 31, 15)
    with pytest.raises(HeadscopeError, match="30 copies of 3 tokens do not fit into 62 tokens"):
        made.copy_length(25, 30)


def test_a_decoder_without_special_tokens_reads_the_tokens_alone() -> None:
    tokenizer: Any = tiny_tokenizer()
    tokenizer.backend_tokenizer.post_processor = None
    (one,) = maker(wrap(tiny_gpt2(), tokenizer), 0).repeated(1, 4, 2)
    assert len(one) == 8 and one.links.min() == 0


def test_links_of_two_copies() -> None:
    assert repeat_links(2, 2).tolist() == [[0, 2, 1], [1, 2, 0], [0, 3, 2], [1, 3, 1]]
