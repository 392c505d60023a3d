"""Typical inputs and their maps, beside the eager attentions of transformers."""

from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr

from headscope import Model, open_result, profile, save_result
from headscope.models import wrap
from headscope.passes.attention_maps import typical_inputs, typical_maps, with_typical_maps
from headscope.report.atlas import Atlas, typical_tokens
from headscope.results.vocabulary import MOST_TYPICAL
from support.tiny import tiny_bert, tiny_tokenizer
from support.typed import corpus_of


@pytest.fixture(scope="module")
def model() -> Model:
    return wrap(tiny_bert(), tiny_tokenizer())


LENGTHS = corpus_of(*("the dog " * number for number in (1, 9, 5, 4, 3, 12, 2)))


def test_inputs_of_median_length_are_chosen_in_their_order(model: Model) -> None:
    chosen = typical_inputs(model, LENGTHS, 3)
    assert [encoded.example.id for encoded in chosen if encoded.example] == ["t:2", "t:3", "t:4"]
    assert len(typical_inputs(model, LENGTHS, 9)) == 7


def test_seed_decides_between_inputs_of_one_length(model: Model) -> None:
    alike = corpus_of(*(f"the dog ran {word} ." for word in "old new small not very bank bird".split()))
    names = {
        seed: [encoded.example.id for encoded in typical_inputs(model, alike, 2, seed) if encoded.example]
        for seed in range(6)
    }
    assert names == {
        seed: [encoded.example.id for encoded in typical_inputs(model, alike, 2, seed) if encoded.example]
        for seed in range(6)
    }
    assert len({tuple(name) for name in names.values()}) > 1


def test_long_input_is_cut_and_a_corpus_without_text_has_none() -> None:
    long = wrap(tiny_bert(max_position_embeddings=200), tiny_tokenizer(200))
    cut = typical_inputs(long, corpus_of("the dog " * 80), 3)
    assert [len(encoded) for encoded in cut] == [MOST_TYPICAL]
    made = xr.Dataset(typical_maps(long, cut), attrs={"model": "tiny", "study": "profile"})
    assert typical_tokens(made) and "more than 64 tokens are cut" in Atlas("tiny", (), typical_tokens(made)).cut
    short = xr.Dataset(typical_maps(long, typical_inputs(long, corpus_of("the dog"), 1)))
    assert not Atlas("tiny", (), typical_tokens(short)).cut
    assert typical_maps(long, []) == {}


def test_maps_are_the_eager_attention_within_a_255th(model: Model) -> None:
    result = profile(model, LENGTHS, examples=2)
    assert result["typical_map"].dtype == np.uint8
    network = model.network
    before = str(network.config._attn_implementation)
    network.set_attn_implementation("eager")
    try:
        for number, name in enumerate(result["typical_input"].values.tolist()):
            text = next(example for example in LENGTHS if example.id == name).first[0].text
            inputs = model.tokenizer(text, return_tensors="pt")
            with torch.inference_mode():
                expected = torch.stack(network(**inputs, output_attentions=True).attentions)[:, 0].numpy()
            length = expected.shape[-1]
            maximum = result["typical_map_maximum"].values[number][..., None, None]
            maps = result["typical_map"].values[number, :, :, :length, :length] / 255 * maximum
            assert (abs(maps - expected) <= maximum / 255).all()
            assert result["typical_token"].values[number, :2].tolist() == ["[CLS]", "the"]
    finally:
        network.set_attn_implementation(before)


def test_maps_are_saved_and_are_no_numbers_of_the_study(model: Model, tmp_path: Path) -> None:
    plain = profile(model, LENGTHS, examples=0)
    result = with_typical_maps(plain, model, LENGTHS)
    save_result(result, tmp_path)
    again = open_result(tmp_path)
    assert np.array_equal(again["typical_map"].values, result["typical_map"].values)
    assert set(with_typical_maps(plain, model, LENGTHS, 0)) == set(plain)


def test_results_with_inputs_of_other_lengths_do_arithmetic(model: Model) -> None:
    one, other = (profile(model, [text] * 3, resamples=5) for text in ("the dog ran .", "the old dog saw it ."))
    assert (other - one)["entropy"].equals(other["entropy"] - one["entropy"])
    assert xr.concat([one, other], dim="model", join="outer").sizes["typical_key"] == other.sizes["typical_key"]
