"""Batches lose nothing, stay under the budget, and are padded with what counts for nothing."""

from collections.abc import Iterator

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.encoding.encoded import Encoded
from headscope.passes.batches import WINDOW, by_length, collate
from headscope.testing.hand_made import tokens

CPU = torch.device("cpu")
many = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def inputs(lengths: list[int]) -> list[Encoded]:
    return [tokens("o" * length, index=index) for index, length in enumerate(lengths)]


@many
@given(st.lists(st.integers(1, 40), max_size=50), st.integers(1, 200))
def test_groups_lose_nothing_and_stay_under_the_budget(lengths: list[int], budget: int) -> None:
    groups = list(by_length(inputs(lengths), budget))
    assert sorted(encoded.index for group in groups for encoded in group) == list(range(len(lengths)))
    assert all(len(group) == 1 or len(group) * max(map(len, group)) <= budget for group in groups)


def test_groups_are_of_similar_length_and_as_large_as_they_may_be() -> None:
    groups = list(by_length(inputs([3, 9, 3, 9, 3, 9]), 27))
    assert sorted([[len(encoded) for encoded in group] for group in groups]) == [[3, 3, 3], [9, 9, 9]]


def test_groups_come_in_an_order_that_the_seed_decides() -> None:
    lengths = list(range(1, 40))
    orders = [[group[0].index for group in by_length(inputs(lengths), 1, seed)] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0])


def test_a_corpus_is_streamed() -> None:
    read = []

    def endless() -> Iterator[Encoded]:
        index = 0
        while True:
            read.append(index)
            yield tokens("o" * (index % 5 + 1), index=index)
            index += 1

    next(by_length(endless(), 100))
    assert len(read) == WINDOW


def test_padding_is_no_token_of_any_class() -> None:
    first = tokens("coops", [("noun", 1), ("verb", 2)], [("verb_to_subject", 2, 1)], index=7)
    second = tokens("cos", [("noun", 1)], [("noun_to_pronoun", 1, 0), ("pronoun_to_noun", 0, 1)], index=3)
    second.inputs["token_type_ids"] = first.inputs["token_type_ids"] = np.array([1, 1, 1])
    batch = collate([first, second], pad=5, class_exists=[True, True, True, True], device=CPU)
    assert batch.index.tolist() == [7, 3]
    assert batch.inputs["input_ids"].tolist() == [[0] * 5, [0, 0, 0, 5, 5]]
    assert batch.inputs["token_type_ids"].tolist() == [[1, 1, 1, 0, 0]] * 2
    assert batch.inputs["attention_mask"].tolist() == [[1] * 5, [1, 1, 1, 0, 0]]
    assert batch.token_class.tolist() == [[0, 3, 3, 2, 1], [0, 3, 1, -1, -1]]
    assert batch.lengths.tolist() == [5, 3]
    assert batch.features.tolist() == [[0, 0, 1], [0, 1, 2], [1, 0, 1]]
    assert batch.links[:, 0].tolist() == [0, 1, 1] and batch.link_ends == (0, 1, 3)


def test_a_batch_without_features_and_links_has_empty_tables() -> None:
    batch = collate(inputs([2, 3]), pad=0, class_exists=[True] * 4, device=CPU)
    assert batch.features.shape == (0, 3) and batch.links.shape == (0, 4) and batch.link_ends == (0, 0, 0)
