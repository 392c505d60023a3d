"""Frequencies of pieces, counted by hand."""

from math import log
from pathlib import Path

import pytest

from headscope.outputs.words.predictor import WordPredictor
from headscope.studies.words.cloze.controls import prior
from support.planted_words import SIZE, TOKENIZER, causal_table


def test_frequencies_of_a_corpus_are_counts_plus_one(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat the\n", encoding="utf-8")
    known = prior(WordPredictor(causal_table({})), str(corpus)).log_probabilities
    expected = {"the": log(3 / (SIZE + 3)), "cat": log(2 / (SIZE + 3)), "dog": log(1 / (SIZE + 3))}
    pieces = TOKENIZER.get_vocab()
    assert {word: float(known[pieces[word]]) for word in expected} == pytest.approx(expected, abs=1e-5)
