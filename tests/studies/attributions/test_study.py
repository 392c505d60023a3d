"""The study as a whole: samples, batches, a planted classifier, its page."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from transformers import AutoModelForCausalLM, BertForSequenceClassification

import headscope
from headscope import Settings
from headscope.corpora import read
from headscope.errors import HeadscopeError
from headscope.report.cards.head_numbers import numbers, rows
from headscope.report.study_page import study_page
from headscope.studies.words.attributions import study
from headscope.studies.words.attributions.explaining_pass import sample_of
from headscope.studies.words.attributions.methods import METHODS, SLOW
from support.cat_reader import cat_reader
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_classifier, tiny_family

TEXTS = [
    "the cat saw the bird.",
    "the dog ran and the child sat",
    "a man saw the sea by the old road",
    "the night was new",
    "she said that it was the river",
]
QUICK = Settings(resamples=20)


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(tiny_bert(0, BertForSequenceClassification, num_labels=3), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return study.run(model, read(TEXTS), QUICK, flow=2, altered=0)


def test_samples_are_counted(model: headscope.Model) -> None:
    result = study.run(model, read(TEXTS), QUICK, scored=3, flow=1, altered=0)
    counts = result["comprehensiveness_n_examples"].isel(layer=0)
    assert [int(counts.sel(attribution=name)) for name in METHODS] == [1 if name == "flow" else 3 for name in METHODS]
    streamed = result["importance_share_n_examples"].isel(layer=0).sel(token_class="other")
    expected = {"flow": 1} | dict.fromkeys(SLOW, 3)
    assert [int(streamed.sel(attribution=name)) for name in METHODS] == [expected.get(name, 5) for name in METHODS]
    assert sample_of(10, 4, 9, 0).flow == sample_of(10, 4, 9, 0).scored != sample_of(10, 4, 9, 1).scored


def test_curves_begin_and_end_with_the_same_inputs(result: xr.Dataset) -> None:
    for one, other in (("deletion", "insertion"), ("insertion", "deletion")):
        np.testing.assert_allclose(
            result[one].sel(token_share=0.0, attribution="norm"), result[other].sel(token_share=1.0, attribution="norm")
        )
    gain = result["comprehensiveness"] - result["comprehensiveness_random"]
    there = [name for name in METHODS if name != "flow"]
    np.testing.assert_allclose(
        result["comprehensiveness_gain"].sel(attribution=there), gain.sel(attribution=there), atol=1e-12
    )


def test_planted_token_is_found_by_all_that_see_values() -> None:
    texts = ["the cat saw the old bird", "a man and a cat ran by", "she walked to the cat in the house", "the cat sat"]
    result = study.run(cat_reader(), read(texts), QUICK, altered=0)
    for method in ("norm", "norm_residual", "value_zeroing", "gradient_attention", "value_gradient"):
        # Without "cat", the first of all methods' tokens, the target falls at once.
        curve = result["deletion"].sel(attribution=method, layer=1).values
        assert curve[0] > 0.9 and (curve[1:] < 0.6).all(), (method, curve)
        assert float(result["comprehensiveness_gain"].sel(attribution=method, layer=1)) > 0.1
    # Attention is the same for all tokens: their order decides.
    assert float(result["comprehensiveness_gain"].sel(attribution="attention", layer=1)) < 0.2


def test_page_claims_nothing_of_five_inputs_and_draws_inputs(result: xr.Dataset) -> None:
    page = study_page(result)
    assert {finding.verdict for finding in page.highlights()} == {"undecided", None}
    names = [figure.name for figure in page.figures()]
    assert names[0] == "methods" and "input-1" in names and "deletion" in names
    assert len(page.tables()[0].rows) == len(METHODS)
    shown = json.loads(result.attrs["inputs"])
    assert len(shown) == 3 and all(len(rows[0]) == len(shown[0]["tokens"]) for rows in shown[0]["importance"].values())


def test_a_card_has_the_attention_beside_what_the_head_moves(result: xr.Dataset) -> None:
    mine = [row for row in rows(numbers(result)) if (row.layer, row.head) == (2, 3)]
    share = float(result["attention_to"].sel(layer=2, head=3, token_class="cls"))
    moved, effective = study_page(result).card().sentences(result, mine)
    assert effective.text.endswith("in inputs with more tokens than it is wide; n = 4 examples.")
    assert f"; attention {share:.2f})" in moved.text


@pytest.mark.parametrize("model_type", ["gemma3_text", "llama", "qwen3"])
def test_a_decoder_is_explained_by_the_next_word_and_never_masked(model_type: str, tmp_path: Path) -> None:
    network = tiny_classifier(model_type, AutoModelForCausalLM, vocab_size=len(tiny_vocabulary()))
    folder = str(save_tiny(tmp_path, network))
    read = headscope.attributions(folder, ["The cat saw it."] * 2, scored=1, flow=0, altered=0, progress=False)
    assert read.attrs["target"] == "probability of the predicted next word piece" and read.attrs["blank"] == "hidden"


def test_a_text_of_one_word_has_a_page_without_scores(model: headscope.Model) -> None:
    page = study_page(study.run(model, read(["cat"]), QUICK))
    assert next(figure.name for figure in page.figures()) == "input-1"
    assert page.highlights()


def test_model_whose_layers_cannot_be_run_alone_is_refused() -> None:
    with pytest.raises(HeadscopeError, match="layers cannot be run one by one; use another model"):
        study.run(headscope.wrap(tiny_family("deberta-v2"), tiny_tokenizer()), read(TEXTS), QUICK)
