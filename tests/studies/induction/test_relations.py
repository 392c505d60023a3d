"""Links of the repetitions of a text, and those of the same distances that they are compared with."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headscope.studies.heads.induction.relations import CONTROLS, DUPLICATE, INDUCTION, PREVIOUS, natural_links


def pairs(links: np.ndarray, relation: int) -> list[list[int]]:
    return links[links[:, 0] == relation, 1:].tolist()


def test_the_nearest_earlier_copy_counts() -> None:
    tokens = np.array([5, 6, 7, 5, 8, 9, 5, 1, 2])
    links = natural_links(tokens, np.ones(9, dtype=bool), (0, 0))
    assert pairs(links, INDUCTION) == [[3, 1], [6, 4]] and pairs(links, DUPLICATE) == [[3, 0], [6, 3]]


def test_a_token_directly_behind_its_copy_has_no_token_between() -> None:
    tokens = np.array([1, 5, 5, 2, 3, 4])
    links = natural_links(tokens, np.ones(6, dtype=bool), (0, 0))
    assert pairs(links, INDUCTION) == [] and pairs(links, DUPLICATE) == [[2, 1]]


def test_special_tokens_have_no_links() -> None:
    tokens, word = np.array([9, 1, 9, 2, 9, 3]), np.array([False, True, False, True, False, True])
    assert natural_links(tokens, word, (0, 0)).tolist() == []


def test_a_text_of_one_token_has_nothing_to_compare_with() -> None:
    links = natural_links(np.array([4, 4, 4, 4]), np.ones(4, dtype=bool), (0, 0))
    assert pairs(links, DUPLICATE) == [] and pairs(links, PREVIOUS) == [[1, 0], [2, 1], [3, 2]]


@given(st.lists(st.integers(0, 6), max_size=30), st.integers(0, 9))
def test_comparisons_have_the_same_distances_and_are_no_repetitions(tokens: list[int], seed: int) -> None:
    ids = np.array(tokens, dtype=np.int64)
    links = natural_links(ids, np.ones(len(ids), dtype=bool), (seed, 0))
    for relation, after in ((INDUCTION, 1), (DUPLICATE, 0)):
        own, others = pairs(links, relation), pairs(links, CONTROLS[relation])
        assert [query - key for query, key in own] == [query - key for query, key in others]
        assert all(ids[key - after] == ids[query] for query, key in own)
        assert all(ids[key - after] != ids[query] and ids[key] != ids[query] for query, key in others)
