"""Attention between words as loops over tokens find it; what a tree loses with its tokens; the store."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings

from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.word_attention import SPECIAL
from headscope.engine.batches import collate
from headscope.engine.half_precision_store import Store
from headscope.errors import HeadscopeError
from headscope.linguistics.parsed_sentences import ROOT, UNKNOWN, Parsed, parsed
from headscope.studies.probe.observer import TreebankObserver
from headscope.types import Example, Sentence
from support.any_examples import examples, overlapping, spoken
from support.hand_made import padded
from support.tiny import tiny_tokenizer

LAYERS, HEADS = 2, 3


def read(
    inputs: list[Encoded], store: Store, block: int = 10**6, seed: int = 0
) -> tuple[list[Parsed], list[np.ndarray]]:
    """The sentences of random maps of two layers, `block` queries at a time; and the maps, [layer head, ...]."""
    random = torch.Generator().manual_seed(seed)
    layers = [
        [torch.randn(HEADS, len(each), len(each), generator=random).softmax(-1) for each in inputs]
        for _ in range(LAYERS)
    ]
    reader = TreebankObserver(store)
    reader.start(collate(inputs, pad=0, class_exists=[True] * 4, device=torch.device("cpu")))
    for layer, maps in enumerate(layers):
        whole = padded(maps)
        for first in range(0, whole.shape[2], block):
            queries = slice(first, min(first + block, whole.shape[2]))
            reader(layer, whole[:, :, queries], slice(0, len(inputs)), queries)
    return reader.finish(), [torch.cat(maps).numpy() for maps in zip(*layers, strict=True)]


def inputs_of(*made: Example) -> list[Encoded]:
    return list(Words(tiny_tokenizer(200), 200, aligned=True).encode(made))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(examples)
def test_kept_attention_is_that_of_loops(example: Example) -> None:
    if not (inputs := inputs_of(example)):
        return
    with Store(10**9) as store:
        sentences, (attention,) = read(inputs, store, block=3)
        maps, before = store.open(), 0
        said = spoken(example)
        seps = {place for place, token in enumerate(said["segments"]) if token is None} - {0}
        found = {sentence.number: kept for sentence, kept in zip(sentences, maps, strict=True)}
        for number, (_, tokens) in enumerate(overlapping(example, said)):
            words = [{0}, seps, *(its for its in tokens if its)]
            if number in found:
                expected = np.array(
                    [
                        [[np.mean([sum(head[query, key] for key in key_tokens) for query in query_tokens])
                          for head in attention] for key_tokens in words]
                        for query_tokens in words
                    ]
                )  # fmt: skip
                np.testing.assert_allclose(found[number].numpy(), expected, atol=1e-3)
            else:
                assert len(words) == SPECIAL
            before += len(tokens)


def test_heads_are_counted_among_the_words_that_have_tokens() -> None:
    sentence = Sentence(
        "a b c d", ((0, 1), (2, 3), (4, 5), (6, 7)), heads=(3, 1, 0, 2), deprel=("x:y", "x", "root", "x")
    )
    example, counts = Example("1", (Sentence("e", ((0, 1),)), sentence)), Counter()
    (found,) = parsed(example, 7, [(5,), (1,), (), (2, 3), (4,)], counts)
    assert found.order == (7, 1) and found.words.tolist() == [1, 3, 4]
    assert found.forms == ("a", "c", "d") and found.pieces == ((1,), (2, 3), (4,))
    assert found.heads.tolist() == [2, ROOT, UNKNOWN] and found.relations.tolist() == ["x", "root", "x"]
    assert counts == {"sentences without a tree": 1, "words whose head has no token": 1}


def test_a_root_without_a_token_leaves_its_words_unknown() -> None:
    sentence = Sentence("a b", ((0, 1), (2, 3)), heads=(0, 1), deprel=("root", "x"))
    (found,) = parsed(Example("1", (sentence,)), 0, [(), (1,)])
    assert found.heads.tolist() == [UNKNOWN]


@pytest.mark.parametrize("budget", [0, 300, 10**6])
def test_maps_over_the_budget_are_on_disk_and_the_same(budget: int, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    made = [random.random((size, size, 2)).astype(np.float16) for size in (3, 9, 1, 5, 7)]
    with Store(budget, tmp_path) as store:
        for each in made:
            store.add(each)
        assert store.in_memory <= budget and store.in_memory + store.on_disk == sum(each.nbytes for each in made)
        assert (store.on_disk == 0) == (budget == 10**6) and len(store) == 5
        for _ in range(2):
            for each, found in zip(made, store.open(), strict=True):
                np.testing.assert_array_equal(found.numpy(), each)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, data: object) -> None:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr("headscope.engine.half_precision_store.tempfile.TemporaryFile", lambda dir: Full())
    with Store(0, tmp_path) as store, pytest.raises(HeadscopeError, match="No space left on device; free space there"):
        store.add(np.ones((1, 1, 1)))
