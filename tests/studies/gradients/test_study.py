"""The study `gradients`: its result, what it makes of a model's head, and its command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import spearmanr
from transformers import BertForMaskedLM, BertForSequenceClassification, GPT2LMHeadModel

import headscope
from headscope import HeadscopeError, Settings
from headscope.corpora import Options, read
from headscope.studies.words.gradients import study
from support.cli import run_command
from support.tiny import save_tiny, tiny_bert, tiny_gpt2, tiny_tokenizer
from support.typed import corpus_of

QUICK = Settings(resamples=50)


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(kind=BertForMaskedLM), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    independent = replace(read("sample", Options(limit=20)), n_documents=0)  # of few documents: no interval
    return study.run(model, independent, QUICK)


def test_a_result_has_gradients_with_intervals_and_the_attention_of_the_same_inputs(result: xr.Dataset) -> None:
    assert result["gradient"].dims == ("layer", "head", "token_class")
    assert result["gradient_from"].dims == ("layer", "head", "query_group", "token_class")
    assert (result["gradient"] > 0).all()
    bounds = result["gradient_ci"]
    assert (bounds.sel(bound="lower") <= result["gradient"]).all() and (
        bounds.sel(bound="upper") >= result["gradient"]
    ).all()
    assert result["gradient_n_examples"].sel(token_class="cls") == result.attrs["n_examples"]
    np.testing.assert_allclose(result["attention_to"].sum("token_class"), 1, atol=1e-5)
    assert result.attrs["loss"].startswith("masked words: mean cross entropy")


def test_relative_gradients_are_means_of_heads_by_those_of_other_tokens(result: xr.Dataset) -> None:
    by_layer = result["gradient"].mean("head")
    expected = by_layer / by_layer.sel(token_class="other")
    np.testing.assert_allclose(result["relative_gradient"], expected.transpose("layer", "token_class"))
    assert (result["relative_gradient_ci"].sel(bound="lower") <= result["relative_gradient"] + 1e-12).all()


def test_rank_correlation_is_spearmans_over_heads(result: xr.Dataset) -> None:
    for name in result["token_class"].values:
        attention, size = (
            result[variable].sel(token_class=name).values.ravel() for variable in ("attention_to", "gradient")
        )
        assert float(result["rank_correlation"].sel(token_class=name)) == pytest.approx(spearmanr(attention, size)[0])


def test_one_example_is_enough_but_has_no_interval(model: headscope.Model) -> None:
    result = study.run(model, corpus_of("the cat saw a bird, a dog."), QUICK)
    assert result["gradient"].notnull().any() and result["gradient_ci"].isnull().all()


def test_a_class_that_no_example_has_is_missing(model: headscope.Model) -> None:
    result = study.run(model, corpus_of("the cat", "a dog"), QUICK)
    assert result["gradient"].sel(token_class="punct").isnull().all()
    assert result["gradient_n_examples"].sel(token_class="punct") == 0
    assert result["gradient"].sel(token_class=["cls", "sep", "other"]).notnull().all()


def test_a_masked_stop_counts_as_another_token_unless_its_original_class_is_wanted(model: headscope.Model) -> None:
    texts = corpus_of(*["."] * 4)  # the only token of a text is always masked
    result = study.run(model, texts, QUICK)
    assert result["gradient"].sel(token_class="punct").isnull().all()
    assert (result["gradient_n_examples"].sel(token_class="other") == 4).all()
    assert result.attrs["masked_class"] == "other"
    original = study.run(model, texts, QUICK, masked_class="original")
    assert original["gradient"].sel(token_class="other").isnull().all()
    expected = result["gradient"].sel(token_class="other", drop=True)
    xr.testing.assert_allclose(original["gradient"].sel(token_class="punct", drop=True), expected)
    assert original.attrs["masked_class"] == "original"


def test_the_seed_chooses_the_masked_words(model: headscope.Model, result: xr.Dataset) -> None:
    sample = read("sample", Options(limit=20))
    xr.testing.assert_allclose(study.run(model, sample, QUICK)["gradient"], result["gradient"])
    other = study.run(model, sample, Settings(resamples=50, seed=1))
    assert not np.allclose(other["gradient"], result["gradient"], rtol=1e-3)


def invoke(*arguments: str) -> dict:
    options = ["--json", "--limit", "6", "--resamples", "10", "--no-figures"]
    done = run_command("gradients", *arguments, *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["attrs"]


def test_the_command_takes_the_loss_that_the_checkpoint_has_a_head_for(tmp_path: Path) -> None:
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\nThe cat slept.\tyes\nThe dog ran.\tno\n", encoding="utf-8")
    words = save_tiny(tmp_path / "words", tiny_bert(kind=BertForMaskedLM))
    labels = {"id2label": {0: "no", 1: "yes"}, "label2id": {"no": 0, "yes": 1}}
    task = save_tiny(tmp_path / "task", tiny_bert(kind=BertForSequenceClassification, **labels))
    causal = save_tiny(tmp_path / "causal", tiny_gpt2(kind=GPT2LMHeadModel))
    out = ("-o", str(tmp_path / "out"), "--overwrite")
    assert invoke(str(causal), "sample", "-o", str(tmp_path / "next"))["loss"].startswith("next words")
    assert invoke(str(words), "sample", *out)["loss"].startswith("masked words")
    assert invoke(str(task), "sample", *out)["loss"].startswith("sentence embedding")
    assert invoke(str(words), "sample", "--masked-class", "original", *out)["masked_class"] == "original"
    asked = invoke(str(task), "--task", "mine", "--data", str(tmp_path), *out)
    assert "masked_class" not in asked
    assert asked["loss"] == "task mine: cross entropy (nats)" and asked["n_examples"] == 2
    done = run_command("gradients", task, "sample.txt", "--task", "mine", "--data", tmp_path, *out)
    assert done.exit_code == 2 and "task 'mine' has its own examples; leave out 'sample.txt'" in done.stderr
    options = ["--task", "mine", "--data", str(tmp_path), "--masked-class", "original"]
    done = run_command("gradients", str(task), *options, *out)
    assert done.exit_code == 2 and "the loss of task 'mine' masks no token" in done.stderr


def test_a_model_without_any_loss_is_refused_in_one_line(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.mask_token = None
    with pytest.raises(HeadscopeError, match="has no loss: its tokenizer has no mask; name a task"):
        study.run(headscope.wrap(tiny_bert(), tokenizer), corpus_of("the cat"), QUICK)
