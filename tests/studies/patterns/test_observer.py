"""Patterns told within a pass are those of each example's whole map, told alone."""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
import xarray as xr
from jaxtyping import Float

from headscope import Model, Settings, wrap
from headscope.corpora import Options, read
from headscope.encoding.batch import Values
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example, Sentence, segment_text
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier import load
from headscope.studies.heads.patterns.exemplars import Clearest
from headscope.studies.heads.patterns.grid import pool
from headscope.studies.heads.patterns.observer import PatternObserver, pattern_pass
from support.passes import pass_over
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

MOST = 200
# Some numbers that the classifier sees count cells above a level: one that is at the level falls to either side of it.
CLOSE = 2e-3
SETTINGS = Settings(batch_tokens=800, resamples=5)


def inputs() -> list[Encoded]:
    """Inputs of 3 to 200 tokens, so that the cells of their grids differ within a batch."""
    texts = [segment_text(example.first) for example in read("sample", Options(limit=40))]
    parts = [" ".join(texts[start : start + number]) for number in (1, 2, 4, 8) for start in (0, 8)]
    examples = [Example(text[:9], (Sentence(text),)) for text in ["a", *parts]]
    return list(Words(tiny_tokenizer(MOST), MOST, "truncate").encode(examples))


@pytest.fixture(scope="module", params=[tiny_bert, tiny_gpt2])
def model(request: pytest.FixtureRequest) -> Model:
    size = {tiny_bert: "max_position_embeddings", tiny_gpt2: "n_positions"}[request.param]
    return wrap(request.param(**{size: MOST}), tiny_tokenizer(MOST))


def alone(model: Model, encoded: Encoded) -> Float[torch.Tensor, "head pattern"]:
    """The probabilities of one input's maps, from the eager model."""
    tensors = {name: torch.from_numpy(values)[None] for name, values in encoded.inputs.items()}
    before = model.network.config._attn_implementation or "eager"
    model.network.set_attn_implementation("eager")
    with torch.inference_mode():
        maps = model.network(**tensors, output_attentions=True).attentions
    model.network.set_attn_implementation(before)
    token_class = torch.from_numpy(encoded.token_class)[None]
    return load().classify(torch.cat([pool(one, token_class)[0] for one in maps]))


@pytest.fixture(params=["whole maps", "blocks of rows"])
def blocks(request: pytest.FixtureRequest, blocks_of: Callable[..., None]) -> Iterator[str]:
    """Maps come whole, or in blocks of seven rows."""
    if request.param != "whole maps":
        blocks_of(7)
    yield request.param


def test_probabilities_are_those_of_each_map_alone(model: Model, blocks: str) -> None:
    found = {}

    class Keeping(PatternObserver):
        def finish(self) -> dict[str, Values]:
            found.update(zip(self.batch.index.tolist(), self.probability.clone(), strict=True))
            return super().finish()

    tallies = pass_over(model, inputs(), SETTINGS).collect(Keeping(load().classify)).read().value
    expected = {encoded.index: alone(model, encoded) for encoded in inputs()}
    assert found.keys() == expected.keys()
    for index, probability in expected.items():
        torch.testing.assert_close(found[index], probability, atol=CLOSE, rtol=0)
    read_ = torch.stack([probability for index, probability in expected.items() if len(inputs()[index]) >= 4])
    one_hot = torch.nn.functional.one_hot(read_.argmax(-1), len(PATTERNS)).double()
    assert (tallies["share"].count == len(read_)).all() and len(read_) < len(expected)
    np.testing.assert_allclose(tallies["counted"].mean, one_hot.mean(0))
    np.testing.assert_allclose(tallies["share"].mean, read_.double().mean(0), atol=CLOSE)
    np.testing.assert_allclose(tallies["share_total"].mean[0], read_.double().mean((0, 1)), atol=CLOSE)


def clearest_of(model: Model, batch_tokens: int) -> xr.DataArray:
    """Two maps of each pattern."""
    clearest, run = Clearest(model), pass_over(model, inputs(), Settings(batch_tokens=batch_tokens, resamples=5))
    clearest.picks = pattern_pass(run, PatternObserver(load().classify), "t", Counter()).read().value.picks
    return clearest.of_patterns(2)


def test_the_clearest_maps_are_what_they_are_said_to_be_whatever_the_batches(model: Model) -> None:
    array = clearest_of(model, 2000)
    np.testing.assert_allclose(clearest_of(model, 100), array, atol=1e-5)
    there = array.notnull().any(("query", "key"))
    assert there.any()
    by_tokens = {
        tuple(model.tokenizer.convert_ids_to_tokens(one.inputs["input_ids"].tolist())): one for one in inputs()
    }
    for pattern, example in np.argwhere(there.values).tolist():
        one = array[pattern, example]
        tokens = tuple(token for token in one["token"].values if token)
        assert 12 <= len(tokens) <= 40
        head = sum(model.capture.heads[: int(one["map_layer"]) - 1]) + int(one["map_head"]) - 1
        probability = alone(model, by_tokens[tokens])[head]
        assert int(probability.argmax()) == pattern
        assert float(one["map_confidence"]) == pytest.approx(float(probability.max()), abs=CLOSE)
        np.testing.assert_allclose(one.values[: len(tokens), : len(tokens)].sum(1), 1, atol=1e-5)
    best = array["map_confidence"].where(there)
    assert not (best[:, 1] > best[:, 0] + 0.01).any()
