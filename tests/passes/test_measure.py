"""A study of measures: its labelled result, where it comes from, and what is said when there is none."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import headscope
from headscope import Corpus, HeadscopeError, Model, Settings, results
from headscope.corpora import Options, read
from headscope.linguistics.sentence import Example, Sentence
from headscope.passes.passes import measure
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer


@pytest.fixture(scope="module")
def model() -> Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


def corpus_of(*texts: str, second: str = "") -> Corpus:
    pair = (Sentence(second),) if second else ()
    examples = [Example(f"made:{number}", (Sentence(text),), pair) for number, text in enumerate(texts)]
    return Corpus("made", "0" * 64, len(examples), {"bad": 2}, partial(iter, examples))


SENTENCES = corpus_of("the cat ran.", "a dog", "it was not a bird, was it?", "the man " * 40)


def test_a_result_says_where_it_comes_from(model: Model) -> None:
    attributes = measure("profile", model, SENTENCES, ["entropy"], Settings(resamples=7, seed=3)).attrs
    assert set(results.ATTRIBUTES) <= set(attributes)
    assert attributes["model"] == "in memory" and attributes["model_type"] == "bert"
    assert attributes["corpus"] == "made" and attributes["n_examples"] == 3
    assert attributes["n_tokens"] == 6 + 4 + 11
    assert json.loads(attributes["skipped"]) == {"bad": 2, "long": 1}
    stored = json.loads(attributes["settings"])
    assert stored["resamples"] == 7 and stored["seed"] == 3 and stored["device"] == "cpu" and stored["long"] == "skip"
    assert "interrupted" not in attributes


def test_the_measures_that_are_asked_for_are_there_with_interval_and_count(model: Model) -> None:
    result = measure("profile", model, SENTENCES, ["entropy", "attention_to"], Settings(resamples=50))
    assert results.means(result) == ["entropy", "attention_to", "token_share", "uniform_entropy"]
    assert result["entropy_ci"].dims == ("layer", "head", "bound")
    assert result["attention_to_ci"].dims == ("layer", "head", "token_class", "bound")
    lower, upper = (result["attention_to_ci"].sel(bound=bound) for bound in results.BOUNDS)
    assert (lower <= result["attention_to"] + 1e-12).all() and (result["attention_to"] <= upper + 1e-12).all()
    assert result["attention_to_n_examples"].values.tolist() == [3] * 4


def test_the_references_of_a_causal_model_are_those_of_the_tokens_it_sees() -> None:
    network: Any = tiny_gpt2()
    with torch.no_grad():
        for layer in network.h:
            layer.attn.c_attn.weight.zero_()
            layer.attn.c_attn.bias.zero_()
    result = measure(
        "profile",
        headscope.wrap(network, tiny_tokenizer()),
        corpus_of("the cat.", "a"),
        ["entropy", "attention_to"],
        Settings(resamples=5),
    )
    np.testing.assert_allclose(result["attention_to"].mean(["layer", "head"]), result["token_share"], atol=1e-6)
    np.testing.assert_allclose(result["entropy"], float(result["uniform_entropy"]), atol=1e-6)


def test_the_references_are_those_of_the_inputs(model: Model) -> None:
    result = measure("profile", model, corpus_of("the cat.", "a"), ["entropy"], Settings(resamples=5))
    expected = np.mean([[1 / 5, 1 / 5, 1 / 5, 2 / 5], [1 / 3, 1 / 3, 0, 1 / 3]], axis=0)
    np.testing.assert_allclose(result["token_share"], expected)
    np.testing.assert_allclose(result["uniform_entropy"], np.log([5, 3]).mean())


def test_the_same_run_gives_the_same_numbers_and_another_seed_other_intervals(model: Model) -> None:
    corpus = replace(read("sample", Options(limit=20)), n_documents=0)  # as if its examples were independent
    one, same, other = (measure("profile", model, corpus, ["entropy"], Settings(seed=seed)) for seed in (0, 0, 1))
    assert one["entropy_ci"].equals(same["entropy_ci"]) and not bool(one["entropy_ci"].isnull().any())
    np.testing.assert_allclose(one["entropy"], other["entropy"], atol=1e-5)
    assert not one["entropy_ci"].equals(other["entropy_ci"])


def test_a_corpus_whose_examples_are_all_too_long_is_one_clear_error(model: Model) -> None:
    with pytest.raises(HeadscopeError) as error:
        measure("profile", model, corpus_of("the man " * 40), ["entropy"])
    assert "none of its 1 examples fits into 64 tokens; use --long" in str(error.value)


def test_texts_without_a_token_are_not_called_long(model: Model) -> None:
    with pytest.raises(HeadscopeError, match=r"'made': the tokenizer finds no token in its texts .* check them"):
        measure("profile", model, corpus_of("\u200b"), ["entropy"])


def test_the_remedy_is_not_what_was_done_already(model: Model) -> None:
    with pytest.raises(HeadscopeError, match="use shorter texts"):
        long = corpus_of("the man " * 40, second="a cat " * 40)
        measure("profile", model, long, ["entropy"], Settings(long="window"))


def stop_after(batches: int):
    """A progress function that is interrupted."""
    numbers = iter(range(batches))

    def progress(done: int) -> None:
        if next(numbers, None) == batches - 1:
            raise KeyboardInterrupt

    return progress


def test_an_interrupted_run_can_keep_what_was_done(model: Model) -> None:
    settings = Settings(batch_tokens=1, resamples=5, on_progress=stop_after(2), keep_interrupted=True)
    result = headscope.profile(model, SENTENCES, settings)
    assert result.attrs["interrupted"] == "after 2 of 4 examples"
    assert result.attrs["n_examples"] == 2 and int(result["entropy_n_examples"]) == 2
    assert np.isfinite(result["entropy"]).all()


def test_an_interrupted_run_otherwise_is_interrupted(model: Model) -> None:
    with pytest.raises(KeyboardInterrupt):
        headscope.profile(model, SENTENCES, Settings(batch_tokens=1, resamples=5, on_progress=stop_after(2)))


def test_an_interrupt_before_anything_is_done_has_no_result(model: Model) -> None:
    def stops():
        raise KeyboardInterrupt
        yield

    settings = Settings(keep_interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        headscope.profile(model, Corpus("made", "", 1, {}, stops), settings)


def test_windows_are_inputs_of_their_own(model: Model) -> None:
    result = headscope.profile(model, SENTENCES, Settings(long="window", resamples=5))
    assert result.attrs["n_examples"] == 3 + 2
    assert json.loads(result.attrs["skipped"]) == {"bad": 2, "windows": 1}
