"""Samples: the same in whatever batches and order, never larger than their bound, with all occurrences of a token."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.studies.layers.geometry.samples import CONTEXTS, Occurrences, RandomSample, RepeatedSample, keys

Sample = TypeVar("Sample", RandomSample, RepeatedSample)


def rows(number: int, tokens: int, seed: int = 0) -> Occurrences:
    """Occurrences of random tokens, whose vector names them."""
    random = np.random.default_rng(seed)
    input, position = np.arange(number) // 10, np.arange(number) % 10
    return Occurrences(
        keys(seed, input, position),
        input,
        input,
        position,
        np.zeros(number, dtype=int),
        np.zeros(number, dtype=bool),
        random.integers(0, tokens, number),
        np.arange(number, dtype=np.float32).reshape(-1, 1, 1),
        np.ones((number, 1), dtype=np.float32),
    )


def merged(empty: Sample, occurrences: Occurrences, cuts: list[int], order: list[int]) -> Sample:
    """The sample of the parts of all rows, in an order."""
    parts = np.split(np.arange(len(occurrences)), sorted(cuts))
    sample = empty
    for index in order:
        part = parts[index % len(parts)]
        sample = sample + replace(empty, rows=occurrences[part])
    return sample


def kept(sample: RandomSample | RepeatedSample) -> set[int]:
    return set() if sample.rows is None else set(sample.rows.unit[:, 0, 0].astype(int).tolist())


cuts = st.lists(st.integers(0, 300), min_size=3, max_size=3)


@settings(deadline=None)
@given(cuts, st.permutations(range(4)))
def test_a_random_sample_has_the_lowest_keys_in_any_order(cuts: list[int], order: list[int]) -> None:
    occurrences = rows(300, 20)
    expected = set(np.argsort(occurrences.key)[:40].tolist())
    assert kept(merged(RandomSample(40), occurrences, cuts, list(order))) == expected


@settings(deadline=None)
@given(cuts, st.permutations(range(4)), st.integers(CONTEXTS, 200))
def test_a_repeated_sample_has_whole_tokens_as_long_as_there_is_room(
    cuts: list[int], order: list[int], bound: int
) -> None:
    occurrences = rows(300, 6)  # 50 of each, more than are kept
    sample = merged(RepeatedSample(bound, 0), occurrences, cuts, list(order))
    expected: set[int] = set()
    for token in sorted(range(6), key=lambda token: int(keys(0, np.array([token]))[0])):
        own = np.flatnonzero(occurrences.token == token)
        own = own[np.argsort(occurrences.key[own])][:CONTEXTS]
        if len(expected) + len(own) > bound:
            break
        expected |= set(own.tolist())
    assert kept(sample) == expected


def test_what_is_not_wanted_would_not_stay() -> None:
    occurrences, more = rows(300, 20), rows(200, 20, seed=1)
    empties: list[Any] = [RandomSample(40), RepeatedSample(60, 0)]
    for empty in empties:
        sample = merged(empty, occurrences, [100], [0, 1])
        wanted = sample.wanted(more.key, more.token)
        own, all_of_it = replace(sample, rows=more[wanted]), replace(sample, rows=more)
        assert len(wanted) < len(more)
        np.testing.assert_array_equal((sample + own).rows.key, (sample + all_of_it).rows.key)


def test_keys_are_spread_over_their_range_and_depend_on_the_seed() -> None:
    one = keys(0, np.arange(10_000), np.zeros(10_000, dtype=int))
    assert len(np.unique(one)) == 10_000 and not (one == keys(1, np.arange(10_000), np.zeros(10_000, dtype=int))).any()
    assert (one < 2**63).mean() == pytest.approx(0.5, abs=0.02)
