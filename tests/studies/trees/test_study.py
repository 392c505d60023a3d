"""Heads whose trees are planted are chosen; the study as a whole, its options, and corpora that it refuses."""

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope import Settings
from headscope.corpora import read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.studies.heads.trees import study
from support.made_answers import tree
from support.made_inputs import corpus_of
from support.planted import looks_at_offset, looks_at_piece, looks_from_to, planted
from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS, TREEBANK, parsed
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=20, batch_tokens=200)
HEADS = {(1, 2): looks_from_to(DETERMINERS | SUBJECTS | ADJECTIVES), (2, 3): looks_at_offset(1)}
GOLD = {"special_tokens": "left_out", "root": "gold"}


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted(HEADS), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return study.run(model, TREEBANK, QUICK)


def test_a_head_whose_words_look_at_their_heads_is_chosen(result: xr.Dataset) -> None:
    sharp = result.sel(layer=1, head=2, direction="dependent_to_head")
    assert (sharp["uas"].sel(root=["gold", "best"], special_tokens="left_out") == 1).all()
    chosen = result.sel(GOLD | {"metric": "uas"})
    assert (int(chosen["chosen_layer"]), int(chosen["chosen_head"])) == (1, 2)
    assert chosen["chosen_direction"] == "dependent_to_head" and chosen["chosen_score"] == 1
    assert chosen["chosen_gain"] > 0.1 and (chosen["chosen_gain_ci"] > 0).all()
    assert chosen["random_score"] < 1


def test_a_head_of_the_next_token_has_the_right_branching_tree(result: xr.Dataset) -> None:
    following = result["uas"].sel(GOLD | {"layer": 2, "head": 3, "direction": "dependent_to_head"})
    # Its best tree from the gold root leaves the words behind the root where they are.
    assert float(following) > 0.4
    assert not np.isnan(result["baseline_score"].sel(baseline=["right_branching", "left_branching"])).any()


def test_undirected_trees_have_no_uas_and_one_uuas(result: xr.Dataset) -> None:
    assert result["uas"].sel(root="undirected").isnull().all()
    both = result["uuas"].sel(root="undirected")
    xr.testing.assert_equal(both.isel(direction=0, drop=True), both.isel(direction=1, drop=True))
    assert both.sel(layer=1, head=2, special_tokens="left_out").min() == 1


def test_baselines_are_those_of_the_other_half() -> None:
    sentences = [Example(f"{n}", (tree("the cat saw", (2, 3, 0), "det nsubj root"),)) for n in range(8)]
    result = study.run(headscope.wrap(tiny_bert(), tiny_tokenizer()), corpus_of(sentences), QUICK, random=False)
    base = result["baseline_score"].sel(metric="uas")
    assert base.sel(baseline=["right_branching", "left_branching", "fixed_word"]).values.tolist() == [1, 0, 1]
    assert result["baseline_score"].sel(metric="uuas", baseline="left_branching") == 1
    assert "random_score" not in result and "f1" not in result
    assert json.loads(result.attrs["options"]) == {"random": False, "bias": 0.0}
    assert (result.attrs["n_words"], result.attrs["n_sentences"]) == (16, 8)


def test_heads_that_look_at_all_words_alike_have_the_trees_of_chance() -> None:
    """Each word hangs on the first, at six distances: the first of equals would be right, and so is that position."""
    texts = ["ran " + ", " * distance + "dog ." for distance in range(6)] * 10
    corpus = corpus_of([Example(str(number), (parsed(text),)) for number, text in enumerate(texts)])
    heads = {(1, 1): looks_at_piece("[CLS]"), (1, 2): looks_at_piece("ran")}
    result = study.run(headscope.wrap(planted(heads), tiny_tokenizer()), corpus, QUICK, random=False)
    uas = result["uas"].sel(GOLD)
    assert (uas.sel(layer=2) < 0.5).all() and (uas.sel(layer=1, head=1) < 0.5).all()
    assert uas.sel(layer=1, head=2, direction="dependent_to_head") == 1
    assert result["baseline_score"].sel(metric="uas", baseline="fixed_word") == 1
    assert result["chosen_gain"].sel(GOLD | {"metric": "uas"}) == 0


def test_a_head_that_is_never_right_may_be_right_as_often_as_the_words_allow(result: xr.Dataset) -> None:
    never = (result["uas"] == 0) & (result["uas_n_examples"] > 0)
    assert never.any() and (result["uas_ci"].sel(bound="upper").where(never) > 0).sum() == never.sum()


def test_documents_are_resampled_and_split_as_a_whole() -> None:
    """The next word is the head of all words in every other document, and of none in the others."""
    kinds = tree("the cat saw", (2, 3, 0), "det nsubj root"), tree("ran the dog", (0, 3, 1), "root det obj")
    sentences = [replace(kinds[n // 6 % 2], document=f"d{n // 6}") for n in range(120)]
    corpus = corpus_of([Example(str(n), (sentence,)) for n, sentence in enumerate(sentences)])
    model, settings = headscope.wrap(tiny_bert(), tiny_tokenizer()), Settings(resamples=200)
    widths = []
    for documents in (0, 20):
        result = study.run(model, replace(corpus, n_documents=documents), settings, random=False)
        score = result["baseline_score_ci"].sel(metric="uas", baseline="right_branching")
        widths.append(float(score.sel(bound="upper") - score.sel(bound="lower")))
        held_out = result["chosen_score_n_examples"].sel(GOLD | {"metric": "uas"})
    assert widths[1] > 2 * widths[0] and held_out == 120  # ten of twenty documents, of six sentences with two words


def test_a_corpus_without_trees_or_of_single_words_is_refused(model: headscope.Model) -> None:
    with pytest.raises(HeadscopeError, match="has no dependency trees; name a treebank"):
        study.run(model, read(["It rained.", "We stayed in."]), QUICK)
    single = corpus_of([Example("r", (tree("rain", (0,), "root"),))])
    with pytest.raises(HeadscopeError, match="has no sentence of two words"):
        study.run(model, single, QUICK)
