"""Heads that look at rare or at frequent pieces are found, whoever reads the corpus."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import GPT2Config, GPT2Model

import headscope
from headscope import Corpus, Settings
from headscope.encoding.encoder import Words
from headscope.encoding.frequencies import Frequencies
from headscope.linguistics.sentence import Example, Sentence
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.shards import Fold
from headscope.report.cards import Card
from headscope.report.study_page import study_page
from headscope.studies.heads.profile.study import frequencies_of
from support.claim_texts import corpus
from support.made_heads import model_of
from support.planted import CERTAIN, HIDDEN, PIECES, POSITIONS, WIDTH, Head, looks_at_offset, planted
from support.tiny import tiny_tokenizer
from support.trained import tokenizer_of

RARE = ("garden", "school", "story", "town", "tree", "water")
TEXTS = [f"the {rare} was by the old {rare} , and the cat saw the river ." for rare in RARE]
QUICK = Settings(resamples=50)


class Nothing:
    """Adds up nothing."""

    def add(self, group: list[Any]) -> None: ...

    def state(self) -> int:
        return 0


def looks_at(*pieces: str) -> Head:
    """A head in which every token gives the tokens of some pieces the same score, and all others 0."""
    query, key = torch.zeros(2, WIDTH, HIDDEN)
    query[0, -POSITIONS:] = CERTAIN
    key[0, [PIECES[piece] for piece in pieces]] = 1
    return Head(query, key)


HEADS = {(1, 1): looks_at("the"), (1, 2): looks_at(*RARE), (2, 1): looks_at_offset(1), (2, 2): looks_at("[SEP]")}


def texts() -> Corpus:
    return corpus([Example(str(number), (Sentence(TEXTS[number % 6]),)) for number in range(60)])


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted(HEADS), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return headscope.profile(model, texts(), QUICK, frequency=True)


def test_classes_are_of_counts_that_stand_in_the_corpus(result: xr.Dataset) -> None:
    # Of 13 counted tokens of a text, 4 are "the" (240 in all), 7 stand once in each, 2 are the rare word (20 in all).
    shares = result["frequency_share"].values
    assert shares == pytest.approx([2 / 13, 0, 7 / 13, 0, 4 / 13])
    np.testing.assert_array_equal(result["frequency_least"], [20, np.nan, 60, np.nan, 240])
    assert result["frequency_attention_n_examples"].values.tolist() == [60, 0, 60, 0, 60]


def test_planted_heads_give_their_pieces_all_of_their_attention(result: xr.Dataset) -> None:
    # 17 tokens with [CLS], [SEP], "," and "."; four are "the", two the rare word.
    frequent, rare = (result["frequency_attention"].sel(layer=1, head=head) for head in (1, 2))
    assert frequent.sel(frequency=["rarest", "middle", "most_frequent"]).values == pytest.approx(
        [0, 0, 17 / 4], abs=1e-5
    )
    assert rare.sel(frequency=["rarest", "middle", "most_frequent"]).values == pytest.approx([17 / 2, 0, 0], abs=1e-5)
    correlation = result["frequency_correlation"].sel(layer=1)
    assert correlation.sel(head=1) > 0.7 and correlation.sel(head=2) < -0.5


def test_other_heads_look_at_none_more(result: xr.Dataset) -> None:
    assert result["frequency_attention"].sel(layer=1, head=3).dropna("frequency").values == pytest.approx([1, 1, 1])
    assert result["frequency_correlation"].sel(layer=1, head=3) == 0
    assert result["frequency_attention"].sel(layer=2, head=2).max() < 1e-5


def test_punctuation_is_counted_where_it_is_asked_for(model: headscope.Model, result: xr.Dataset) -> None:
    """Of 15 tokens of a text, 9 then stand once in each; a head of "," and "." gives them all, and was in no class."""
    marks = headscope.wrap(planted({(1, 1): looks_at(",", ".")}), tiny_tokenizer())
    counted, plain = (
        headscope.profile(marks, texts(), QUICK, frequency=True, punctuation=way) for way in (True, False)
    )
    assert counted["frequency_share"].values == pytest.approx([2 / 15, 0, 9 / 15, 0, 4 / 15])
    head = counted["frequency_attention"].sel(layer=1, head=1).dropna("frequency")
    assert head.values == pytest.approx([0, 17 / 9, 0], abs=1e-5)
    assert plain["frequency_attention"].sel(layer=1, head=1).max() < 1e-5
    (text,) = [part.text for part in study_page(counted).findings() if part.topic == "Rare and frequent pieces"]
    assert "Special tokens are not counted" in text
    of_counts = [Frequencies(np.array([1, 2]), punctuation=way).sha256 for way in (True, False)]
    assert of_counts[0] != of_counts[1]


def test_the_page_and_the_card_name_them(result: xr.Dataset) -> None:
    page = study_page(result)
    (text,) = [finding.text for finding in page.findings() if finding.topic == "Rare and frequent pieces"]
    assert "rarest (20 times or more)" in text and "most 1-2 (-" in text and "ones: " in text and "most 1-1 (" in text
    (said,) = [
        one.text for part in Card(model_of(result), 1, 2).parts for one in part.findings if one.topic == "Frequency"
    ]
    assert "rarest 8.50" in said and "n = 60 examples" in said
    assert {"frequency_attention-by_layer", "frequency_correlation"} <= {figure.name for figure in page.figures()}


def test_without_the_option_nothing_is_counted(model: headscope.Model) -> None:
    plain = headscope.profile(model, texts(), QUICK)
    assert not [name for name in plain.data_vars if str(name).startswith("frequency")]
    assert not [one for one in study_page(plain).findings() if one.topic == "Rare and frequent pieces"]


def test_no_pass_goes_on_from_one_with_other_counts(model: headscope.Model) -> None:
    def fingerprint(counts: list[int] | None) -> dict[str, str | int]:
        words = Words(model.tokenizer, 64, frequencies=Frequencies(np.array(counts)) if counts else None)
        reader: PlannedPass = PlannedPass(model, texts(), words, QUICK, Fold(Nothing, int.__add__, int))
        return dict(reader.fingerprint())

    assert fingerprint([1, 2]) == fingerprint([1, 2]) != fingerprint([2, 1]) != fingerprint(None)
    assert "piece counts" not in fingerprint(None)


def test_counts_are_those_of_the_inputs_as_they_are_read(model: headscope.Model) -> None:
    long = corpus([Example("1", (Sentence("the old man . " * 20),)), Example("2", (Sentence("the cat"),))])
    counts = {way: frequencies_of(model, long, replace(QUICK, long=way)).counts for way in ("skip", "window")}
    assert counts["skip"][PIECES["the"]] == 1 and counts["window"][PIECES["the"]] == 21
    assert counts["window"][PIECES["."] : PIECES["."] + 1].sum() == 0


def test_a_causal_model_does_not_look_ahead(model: headscope.Model) -> None:
    tokenizer = tokenizer_of("gpt2")
    config = GPT2Config(vocab_size=len(tokenizer), n_embd=16, n_layer=1, n_head=2, n_positions=80)
    assert model.looks_ahead and not headscope.wrap(GPT2Model(config).eval(), tokenizer).looks_ahead
