"""Where documents are known and enough, no document is trained on and tested; else every fifth sentence is tested."""

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headscope import Corpus, read
from headscope.encoding.parsed_sentences import LEAST_TO_SPLIT, Parsed, every_fifth
from headscope.linguistics.sentence import number_of
from headscope.passes.captured_treebanks import capture_treebanks
from headscope.passes.kept_arrays import ArrayStore
from headscope.studies.heads.probe.observer import Treebank
from headscope.studies.layers.layers.texts import split


def made(documents: int) -> Corpus:
    """Three sentences of each document, those of all documents in turn."""
    rows = [{"text": f"Sentence {number}.", "of": f"document {number % documents}"} for number in range(3 * documents)]
    return read(pd.DataFrame(rows), document="of")


def parts_of_layers(corpus: Corpus) -> tuple[list[int], list[int]]:
    order = split([corpus], [], 0.25, 0).order
    return sorted([*order["train"], *order["choose"]]), sorted(order["report"])


def parts_of_probes(corpus: Corpus) -> tuple[list[int], list[int]]:
    def read_whole(corpus: Corpus, store: ArrayStore) -> tuple[list[Parsed], dict]:
        one = (np.arange(1), ("word",), np.zeros(1, dtype=int), np.array(["root"]), ((1,),))
        found = [Parsed(number, 0, number_of(example.document), *one) for number, example in enumerate(corpus)]
        for _ in found:
            store.arrays.append(torch.zeros(3, 3, 2))
        return found, {"skipped": "{}"}

    plan: Any = lambda corpus: corpus  # noqa: E731 (the pass is replaced)
    with (
        patch("headscope.passes.captured_treebanks._read", read_whole),
        capture_treebanks(Treebank, plan, corpus, None, 10**9) as seen,
    ):
        train, test = ([sentence.input for sentence in part.sentences] for part in (seen.train, seen.test))
    return train, test


@pytest.mark.parametrize("parts", [parts_of_layers, parts_of_probes])
def test_no_document_is_trained_on_and_tested(parts) -> None:
    train, test = parts(made(30))
    assert sorted([*train, *test]) == list(range(90)) and len(test) == 18
    assert {number % 30 for number in test} == {4, 9, 14, 19, 24, 29}
    assert not {number % 30 for number in train} & {number % 30 for number in test}


@pytest.mark.parametrize("parts", [parts_of_layers, parts_of_probes])
def test_of_few_documents_or_none_sentences_are_split(parts) -> None:
    for corpus in (made(LEAST_TO_SPLIT - 1), read([f"Sentence {number}." for number in range(72)])):
        assert parts(corpus)[1] == list(range(4, 72, 5))


@given(st.lists(st.integers(0, 60)))
def test_both_parts_have_all_sentences_once(units: Sequence[int]) -> None:
    train, test = every_fifth(units, by_document=True)
    assert sorted([*train, *test]) == list(range(len(units)))
    if len(set(units)) >= LEAST_TO_SPLIT:
        assert not {units[number] for number in train} & {units[number] for number in test}
        assert len({units[number] for number in test}) == len(set(units)) // 5
