"""A model one of whose heads knows all trees is parsed without an error; others, and baselines, are not."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import Corpus, Settings
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.linguistics.spanning_tree import tree
from headscope.models.random_weights import untrained
from headscope.passes import DEFAULTS
from headscope.passes.captured_treebanks import capture_treebanks, of_two_minutes
from headscope.report.study_page import study_page
from headscope.studies.heads.probe.experiments import at_offset
from headscope.studies.heads.probe.observer import Treebank, attention_pass
from support.made_inputs import corpus_of
from support.planted import looks_at_offset, looks_from_to, planted
from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS, TREEBANK
from support.runs import probe as run
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=20, batch_tokens=200)
ROOTS = {"saw": "[CLS]", "ran": "[CLS]"}
HEADS = {(1, 2): looks_from_to(DETERMINERS | SUBJECTS | ADJECTIVES | ROOTS), (2, 3): looks_at_offset(1)}
FAST: dict[str, Any] = {"seeds": 2, "epochs": 6, "batch": 8, "attention_rate": 0.5, "learning_rate": 0.01}
WORDS = sum(relation != "punct" for example in TREEBANK for relation in example.first[0].deprel)


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted(HEADS), tiny_tokenizer())


@pytest.fixture(scope="module")
def followed(model: headscope.Model) -> tuple[xr.Dataset, list[int]]:
    """The result, and the steps of its progress."""
    done: list[int] = []
    settings = replace(QUICK, on_progress=done.append)
    return run(model, TREEBANK, settings, training=TREEBANK, **FAST), done


@pytest.fixture(scope="module")
def result(followed: tuple[xr.Dataset, list[int]]) -> xr.Dataset:
    return followed[0]


def test_a_head_that_knows_all_trees_is_parsed_without_an_error(result: xr.Dataset) -> None:
    for name in ("uas", "uas_argmax"):
        assert (result[name].sel(probe=["attention", "attention_and_words"]) == 1).all()
    assert (result["uas_by_seed"].sel(probe="attention") == 1).all() and result["uas_std"].sel(probe="attention") == 0
    assert (result["recall"].sel(probe="attention", relation=["root", "det", "nsubj", "amod"]) == 1).all()


def test_what_does_not_see_that_head_is_far_from_it(result: xr.Dataset) -> None:
    assert (result["uas"].sel(probe=["right_branching", "fixed_offset", "random_attention"]) < 0.8).all()
    assert result["uas"].sel(probe="random_attention") < result["uas"].sel(probe="attention")


def test_the_head_is_known_by_its_weight_and_its_contribution(result: xr.Dataset) -> None:
    for name in ("weight", "contribution"):
        best = result[name][result[name].argmax(...)]
        assert (int(best["layer"]), int(best["head"]), str(best["direction"].item())) == (1, 2, "dependent_to_head")
    bounds = result["contribution_ci"].sel(layer=1, head=2, direction="dependent_to_head")
    share = result["contribution"] / result["weight"]
    # All of its attention goes to the syntactic head, none to others, punctuation and roots aside.
    assert float(share.sel(layer=1, head=2, direction="dependent_to_head")) == pytest.approx(1, abs=1e-3)
    assert bounds[0] <= result["contribution"].max() <= bounds[1]


def test_words_that_are_scored(result: xr.Dataset) -> None:
    assert result["uas_n_examples"] == WORDS and "punct" not in result["relation"]
    roots = [relation for example in TREEBANK for relation in example.first[0].deprel].count("root")
    assert result["recall_n_examples"].sel(relation="root") == roots
    assert result["contribution_n_examples"] == WORDS - roots
    assert int(result["recall_n_examples"].sum()) == WORDS


def test_the_right_branching_tree_is_that_of_loops(result: xr.Dataset) -> None:
    right = 0
    for example in TREEBANK:
        (sentence,) = example.first
        for number, (head, relation) in enumerate(zip(sentence.heads, sentence.deprel, strict=True), 1):
            predicted = number + 1 if number < len(sentence.heads) else 0
            right += relation != "punct" and predicted == head
    np.testing.assert_allclose(result["uas"].sel(probe="right_branching"), right / WORDS)
    assert at_offset(3, 1).tolist() == [2, 3, 0]


def test_what_was_read_is_said(result: xr.Dataset) -> None:
    said = json.loads(result.attrs["training"])
    assert said["sentences"] == 60 and said["words"] == sum(example.n_words for example in TREEBANK)
    assert result.attrs["test_sentences"] == 60 and result.attrs["n_examples"] == 60
    assert result.attrs["words_with_vectors"] == 1 and "input embeddings" in result.attrs["vectors"]
    assert json.loads(result.attrs["attention_bytes"])["on_disk"] == 0


def test_attention_of_a_model_is_that_of_its_eager_maps() -> None:
    """The whole way from a text to what parsers read, beside loops over Hugging Face's own attention."""
    network, tokenizer = tiny_bert(), tiny_tokenizer()
    read = partial(attention_pass, headscope.wrap(tiny_bert(), tokenizer), DEFAULTS)
    with capture_treebanks(Treebank, read, TREEBANK, TREEBANK, 10**9) as seen:
        sentence, kept = seen.test.sentences[1], seen.test.arrays[1].clone()
    network.set_attn_implementation("eager")
    encoding = tokenizer(list(TREEBANK)[1].first[0].text)
    with torch.inference_mode():
        attentions = network(input_ids=torch.tensor([encoding["input_ids"]]), output_attentions=True).attentions
    maps = torch.cat(attentions).flatten(0, 1).double().numpy()  # every word is one piece
    order = [0, len(encoding["input_ids"]) - 1, *range(1, len(encoding["input_ids"]) - 1)]
    for query, one in enumerate(order):
        for key, other in enumerate(order):
            np.testing.assert_allclose(kept[query, key], maps[:, one, other], atol=1e-3)
    assert sentence.forms == ("the", "old", "cat", "saw", "a", "bird", ".")


def test_random_weights_are_those_of_the_seed(model: headscope.Model) -> None:
    one, other = (untrained(model, seed).network.state_dict() for seed in (0, 1))
    name = next(name for name, weight in one.items() if weight.ndim == 2)
    assert not torch.equal(one[name], other[name])


def test_vectors_from_a_file(model: headscope.Model, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 0\ncat 0 1\nsaw -1 0.5\n")
    result = run(model, TREEBANK, QUICK, random=False, vectors=str(path), **FAST)
    words = [form for example in TREEBANK for form in example.first[0].forms]
    share = sum(form in ("the", "cat", "saw") for form in words) / len(words)
    assert result.attrs["words_with_vectors"] == pytest.approx(share, abs=1e-4)
    assert result.attrs["vectors"] == "vectors.txt"
    path.write_text("xyzzy 1 0\n")
    with pytest.raises(HeadscopeError, match="has none of the words of the treebanks"):
        run(model, TREEBANK, QUICK, random=False, vectors=str(path), **FAST)


def test_what_cannot_be_parsed_is_refused(model: headscope.Model) -> None:
    bare = corpus_of([Example("a", (Sentence("the cat", ((0, 3), (4, 7))),))] * 9)
    for corpus, training in ((bare, None), (TREEBANK, bare)):
        with pytest.raises(HeadscopeError, match="no dependency trees; name a treebank"):
            run(model, corpus, QUICK, training=training)
    few: Corpus = corpus_of(list(TREEBANK)[:4])
    with pytest.raises(HeadscopeError, match="4 sentences are too few"):
        run(model, few, QUICK)
    with pytest.raises(HeadscopeError, match="too few to hold some out"):
        run(model, TREEBANK, QUICK, training=few)
    wrongs: list[dict[str, Any]] = [{"learning_rate": 0.0}, {"attention_rate": 0.0}, {"patience": 0}, {"held_out": 1.0}]
    for wrong in wrongs:
        with pytest.raises(HeadscopeError, match="use"):
            run(model, TREEBANK, QUICK, **wrong)
    assert tree(np.zeros((1, 2))).tolist() == [0]


def stopping(at: int) -> Callable[[int], None]:
    """Progress that is interrupted the so-manieth time that it is told of."""
    done: list[int] = []

    def stop(number: int) -> None:
        done.append(number)
        if len(done) == at:
            raise KeyboardInterrupt

    return stop


def test_ctrl_c_keeps_the_parsers_that_were_trained(
    model: headscope.Model, followed: tuple[xr.Dataset, list[int]]
) -> None:
    last = len(followed[1])  # a step of the last random weights
    settings = replace(QUICK, on_progress=stopping(last), keep_interrupted=True)
    result = run(model, TREEBANK, settings, training=TREEBANK, **FAST)
    assert result.attrs["interrupted"] == "after 8 trainings"  # three of two seeds, two of the first random weights
    assert result["uas"].sel(probe="attention") == 1
    assert result["uas_by_seed"].sel(probe="attention").notnull().all()
    assert result["uas_by_seed"].sel(probe="random_attention").isnull().values.tolist() == [False, True]
    assert (
        "no evidence that the model uses it" in [finding.text for finding in study_page(result).findings()][-1]
        and study_page(result).figures()
        and study_page(result).tables()
    )
    for at, keep in ((last, False), (20, True)):
        with pytest.raises(KeyboardInterrupt):
            settings = replace(QUICK, on_progress=stopping(at), keep_interrupted=keep)
            run(model, TREEBANK, settings, training=TREEBANK, **FAST)


@pytest.mark.parametrize("trains", [True, False])
def test_samples_of_many_sentences_are_read_and_one_line_says_so(trains: bool) -> None:
    lines: list[str] = []
    corpus, settings = headscope.read([f"text {number}" for number in range(2_400)]), Settings(on_notice=lines.append)
    training = corpus if trains else None
    read, trained, line = of_two_minutes(corpus, training, 1_000, settings, full=False)
    assert read.n_examples == (600 if trains else 1_600) and lines == [line]
    assert (trained.n_examples if trained else None) == (1_000 if trains else None)
    assert f"{read.n_examples:,} of 2,400 sentences" in line and "--full reads all" in line
    assert ("1,000 of 2,400 sentences" in line) is trains
    assert ("3.0 times the time" if trains else "1.5 times the time") in line
    assert ("2.0 times as narrow" if trains else "1.2 times as narrow") in line
    assert of_two_minutes(corpus, training, 1_000, settings, full=True) == (corpus, training, "") and lines == [line]
