"""The profile finds planted heads, at the values that they have in closed form."""

from functools import partial
from math import exp, log

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope import Corpus, Settings
from headscope.linguistics.sentence import Example, Sentence
from support.planted import looks_at_offset, looks_at_piece, looks_from_to, planted
from support.tiny import tiny_tokenizer

SCORE = 4.0
# Every word is one piece: 8 tokens, with [CLS] and [SEP].
TEXTS = ("the cat saw the bird.", "a woman was in town.", "the river, not old.")
HEADS = {
    (1, 1): looks_at_offset(-1),
    (1, 2): looks_at_offset(-1, SCORE),
    (1, 3): looks_at_offset(0, SCORE),
    (2, 1): looks_at_offset(1, SCORE),
    (2, 2): looks_at_piece("[SEP]", SCORE),
    (2, 3): looks_at_piece("[CLS]"),
    (2, 4): looks_from_to({"saw": "cat", "cat": "saw"}, SCORE),
}
LENGTH = 8


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    sentences = [Sentence(text) for text in TEXTS]
    words = ((0, 3), (4, 7), (8, 11), (12, 15), (16, 20), (20, 21))
    sentences[0] = Sentence(
        TEXTS[0],
        words,
        ("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"),
        (2, 3, 0, 5, 3, 3),
        ("det", "nsubj", "root", "det", "obj", "punct"),
    )
    examples = [Example(sentence.text, (sentence,)) for sentence in sentences]
    corpus = Corpus("planted", "", len(examples), {}, partial(iter, examples))
    return headscope.profile(headscope.wrap(planted(HEADS), tiny_tokenizer()), corpus, Settings(resamples=10))


def of(result: xr.Dataset, name: str, layer: int, head: int, **labels: str | int) -> float:
    return float(result[name].sel({"layer": layer, "head": head, **labels}))


def best(heads: xr.DataArray) -> tuple[int, int]:
    """The layer and head with the largest value."""
    found = heads[heads.argmax(...)]
    return int(found["layer"]), int(found["head"])


def certain(others: int = LENGTH - 1, score: float = SCORE) -> float:
    """The attention to the only token with that score."""
    return exp(score) / (exp(score) + others)


def test_a_previous_token_head_is_found(result: xr.Dataset) -> None:
    assert of(result, "attention_offset", 1, 1, offset=-1) > 0.9999
    assert best(result["attention_offset"].sel(offset=-1)) == (1, 1)


@pytest.mark.parametrize(("layer", "head", "offset"), [(1, 2, -1), (1, 3, 0), (2, 1, 1)])
def test_heads_of_each_offset_have_its_value(result: xr.Dataset, layer: int, head: int, offset: int) -> None:
    assert of(result, "attention_offset", layer, head, offset=offset) == pytest.approx(certain(), abs=1e-6)


def test_the_entropy_of_a_planted_head_is_known(result: xr.Dataset) -> None:
    best, rest = certain(), (1 - certain()) / (LENGTH - 1)
    expected = -best * log(best) - (LENGTH - 1) * rest * log(rest)
    assert of(result, "entropy", 1, 3) == pytest.approx(expected, abs=1e-5)
    assert of(result, "cls_entropy", 1, 2) == pytest.approx(log(LENGTH), abs=1e-5)
    assert of(result, "cls_entropy", 2, 3) < 1e-5


def test_separator_heads_have_their_share(result: xr.Dataset) -> None:
    assert of(result, "attention_to", 2, 2, token_class="sep") == pytest.approx(certain(), abs=1e-6)
    assert of(result, "sep_to_sep", 2, 2) == pytest.approx(certain(), abs=1e-6)
    assert of(result, "attention_to", 2, 3, token_class="cls") > 0.9999
    assert of(result, "feature_attention", 2, 3, feature="cls") > 0.9999


def test_a_head_between_verb_and_subject_is_found(result: xr.Dataset) -> None:
    for relation in ("verb_to_subject", "subject_to_verb"):
        assert of(result, "token_attention", 2, 4, relation=relation) == pytest.approx(certain(), abs=1e-6)
    both = result["token_attention"].sel(relation=["verb_to_subject", "subject_to_verb"])
    assert best(both.min("relation")) == (2, 4)
    # From "cat" as planted, from the other seven tokens as from a head that looks at all alike.
    seen = (certain() + 6 / LENGTH + (1 - certain()) / 7) / LENGTH
    assert of(result, "feature_attention", 2, 4, feature="verb") == pytest.approx(seen, abs=1e-6)


def test_all_other_heads_look_at_all_tokens_alike(result: xr.Dataset) -> None:
    other = result.sel(layer=1, head=4)
    np.testing.assert_allclose(other["attention_to"], result["token_share"], atol=1e-6)
    np.testing.assert_allclose(other["attention_offset"], 1 / LENGTH, atol=1e-6)
    np.testing.assert_allclose(other["entropy"], result["uniform_entropy"], atol=1e-6)
    known = other["feature_attention"].dropna("feature")
    np.testing.assert_allclose(known, 1 / LENGTH, atol=1e-6)
    np.testing.assert_allclose(other["cls_feature_attention"].dropna("feature"), 1 / LENGTH, atol=1e-6)
