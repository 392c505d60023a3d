"""The index of examples against a naive sort."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headscope import models, read
from headscope.corpora import Corpus
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.linguistics.dependencies import ROOT, dependencies_of
from headscope.models import Model
from headscope.passes import Settings
from headscope.passes.batches import collator
from headscope.viewer.example_index import LETTERS, NONE, BestExamples, IndexTally, example_index
from headscope.viewer.saved_index import entries, read_index, save
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

PER_HEAD = 4


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read("sample", limit=40)


def wrapped(network: Any = tiny_bert) -> Model:
    return models.wrap(network(), tiny_tokenizer())


def naive(model: Model, corpus: Corpus) -> dict[tuple[str, int, int], list[tuple[float, str]]]:
    """All values of all examples, each by itself, from eager attention: the highest first, those of few tokens last."""
    model.network.set_attn_implementation("eager")
    found: dict[tuple[str, int, int], list[tuple[bool, float, str]]] = {}
    for encoded in Words(model.tokenizer, 64, aligned=True).encode(corpus):
        batch = collator(model)([encoded])
        with torch.inference_mode():
            attentions = model.network(**batch.inputs, output_attentions=True).attentions
        pieces: dict[int, list[int]] = {}
        for word, token in encoded.pieces.tolist():
            pieces.setdefault(word, []).append(token)
        for layer, attention in enumerate(attentions, 1):
            for head, weights in enumerate(attention[0].numpy(), 1):
                for name, value in _values(weights, encoded, pieces).items():
                    text = " ".join(sentence.text for sentence in encoded.example.first)  # type: ignore[union-attr]
                    found.setdefault((name, layer, head), []).append((len(encoded) < 12, -value, text))
    return {key: [(-value, text) for _, value, text in sorted(values)] for key, values in found.items()}


def _values(weights: np.ndarray, encoded: Any, pieces: dict[int, list[int]]) -> dict[str, float]:
    values = {
        name: float(weights[:, encoded.token_class == number].sum(1).mean())
        for number, name in enumerate(("cls", "sep", "punct", "other"))
    }
    links: dict[str, list[float]] = {}
    for word in dependencies_of(encoded.example):
        if word.head != ROOT and word.word in pieces and word.head in pieces:
            for name, query, key in (
                ("dependent to head", word.word, word.head),
                ("head to dependent", word.head, word.word),
            ):
                between = weights[np.ix_(pieces[query], pieces[key])].sum(1).mean()
                links.setdefault(f"{word.relation}: {name}", []).append(float(between))
    return values | {name: float(np.mean(link)) for name, link in links.items()}


def test_the_index_is_that_of_a_naive_sort(corpus: Corpus) -> None:
    model = wrapped()
    index, expected = example_index(model, corpus, Settings(batch_tokens=300), per_head=PER_HEAD), naive(model, corpus)
    assert {name for name, _, _ in expected} == set(index["focus"].values.tolist())
    assert "nsubj: dependent to head" in index["focus"].values
    for (name, layer, head), ranked in expected.items():
        ours = entries(index, layer, head, name)
        best = [value for value, _ in ranked[:PER_HEAD]]
        assert [entry["value"] for entry in ours] == pytest.approx(best, abs=1e-5)
        for example in ours:
            candidates = [
                value for value, text in ranked if text[: LETTERS - 1].startswith(example["text"].rstrip("…"))
            ]
            assert min(abs(value - example["value"]) for value in candidates) < 1e-5


def test_short_examples_come_last() -> None:
    corpus = read(["It ran.", "The old cat sat by the door of the small house that night.", "A dog sat."])
    index = example_index(wrapped(), corpus)
    assert {entries(index, layer, head, "sep")[0]["text"][:11] for layer in (1, 2, 3) for head in (1, 2, 3, 4)} == {
        "The old cat"
    }
    assert len(entries(index, 1, 1, "sep")) == 3


def test_a_model_without_cls_has_no_such_focus() -> None:
    index = example_index(models.wrap(tiny_gpt2(), _bare_tokenizer()), read(["The old cat sat.", "A dog ran."]))
    assert index["focus"].values.tolist() == ["punct", "other"]
    assert [entry["text"] for entry in entries(index, 1, 1, "other")] and index["rank"].size == 10


def _bare_tokenizer() -> Any:
    tokenizer = tiny_tokenizer()
    tokenizer.backend_tokenizer.post_processor = None  # type: ignore[attr-defined]
    tokenizer.cls_token = tokenizer.sep_token = None
    return tokenizer


def test_a_saved_index_is_read_back(corpus: Corpus, tmp_path: Path) -> None:
    index = example_index(wrapped(), corpus, per_head=2)
    again = read_index(save(index, tmp_path))
    assert again.attrs["n_examples"] == index.attrs["n_examples"] > 20 and again.attrs["study"] == "index"
    assert entries(again, 2, 3, "sep") == entries(index, 2, 3, "sep")


@pytest.mark.parametrize("damage", ["text", "value", "dims"])
def test_a_damaged_index_is_refused(corpus: Corpus, tmp_path: Path, damage: str) -> None:
    index = example_index(wrapped(), corpus, per_head=2)
    if damage == "dims":
        index = index.isel(rank=0)
    else:
        index[damage][0, 0, 0, 0] = 10**6 if damage == "text" else np.nan
    path = save(index, tmp_path)
    with pytest.raises(HeadscopeError, match="make it again with 'headscope index'"):
        read_index(path)


def test_long_texts_are_cut_and_pairs_have_both_texts() -> None:
    model = models.wrap(tiny_bert(max_position_embeddings=600), tiny_tokenizer(600))
    (entry,) = entries(example_index(model, read([("cat " * 120, "A dog ran.")])), 1, 1, "sep")
    assert len(entry["text"]) == LETTERS and entry["text"].endswith("…") and entry["second"] == "A dog ran."


VALUES = st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=2), min_size=1, max_size=30)


@given(VALUES, st.integers(1, 5), st.integers(1, 7), st.randoms())
def test_parts_in_any_order_merge_to_the_same(values: list, number: int, size: int, random: Any) -> None:
    examples = list(range(len(values)))
    expected = [
        sorted(examples, key=lambda example, head=head: (-values[example][head], example))[:number] for head in (0, 1)
    ]
    random.shuffle(examples)
    tallies = []
    for start in range(0, len(examples), size):
        part = examples[start : start + size]
        tally = IndexTally(2, number)
        focus = {"sep": (np.array(part), np.array([values[example] for example in part]))}
        tally.add(focus, {example: (str(example), "") for example in part})
        tallies.append(tally)
    merged = tallies[0]
    for other in tallies[1:]:
        merged.merge(other)
    merged.prune()
    kept = [[example for example in row if example != NONE] for row in merged.best["sep"].examples.tolist()]
    assert kept == expected
    assert set(merged.texts) == set(expected[0]) | set(expected[1])


def test_texts_do_not_grow_with_the_corpus() -> None:
    tally = IndexTally(1, 3, limit=20)
    for start in range(0, 10_000, 10):
        examples = np.arange(start, start + 10)
        tally.add({"sep": (examples, examples[:, None] / 1e4)}, {example: ("a", "") for example in examples.tolist()})
        assert len(tally.texts) <= 1000
    assert tally.best["sep"].examples.tolist() == [[9999, 9998, 9997]]


def test_no_examples_yet() -> None:
    assert BestExamples.none(1, 2).examples.tolist() == [[NONE, NONE]]
