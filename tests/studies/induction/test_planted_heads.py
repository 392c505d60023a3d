"""Planted heads: those that follow repetitions count, those that look at one distance do not."""

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope import Settings
from headscope.models.config import windows_of
from support.planted import looks_at_copies, looks_at_offset, looks_at_piece, planted
from support.repeating import with_window
from support.tiny import tiny_tokenizer
from support.tiny_families import tiny_family

COPY = 12


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    heads = {
        (1, 1): looks_at_offset(-1),
        (1, 2): looks_at_copies(),
        (1, 3): looks_at_offset(1 - COPY),  # in repeated sequences, the token behind the earlier copy
        (2, 1): looks_at_piece("[CLS]"),
    }
    model = headscope.wrap(planted(heads), tiny_tokenizer())
    return headscope.induction(model, headscope.read("sample"), Settings(resamples=100), copy=COPY, contexts="24")


def special(result: xr.Dataset, relation: str) -> list[list[int]]:
    return (np.argwhere(result["special"].sel(relation=relation).values == 1) + 1).tolist()


def test_a_head_that_looks_at_its_own_token_shares_it_with_the_copy(result: xr.Dataset) -> None:
    assert special(result, "duplicate") == [[1, 2]]
    one = result.sel(layer=1, head=2, relation="duplicate")
    assert float(one["attention"]) == pytest.approx(0.5, abs=1e-2) and float(one["control"]) < 0.01


def test_a_head_of_one_distance_gains_nothing(result: xr.Dataset) -> None:
    one = result.sel(layer=1, head=3, relation="induction")
    assert float(one["attention"]) > 0.9 and abs(float(one["gain"])) < 1e-6
    assert special(result, "induction") == []


def test_the_previous_token_is_compared_with_uniform_attention(result: xr.Dataset) -> None:
    assert special(result, "previous") == [[1, 1]]
    one = result.sel(layer=1, head=1, relation="previous")
    assert float(one["control"]) == pytest.approx(1 / (2 * COPY + 2))
    assert float(result["uniform"].sel(layer=1, relation="previous")) == pytest.approx(1 / (2 * COPY + 2))


def test_a_sink_is_a_sink_and_a_uniform_head_is_none(result: xr.Dataset) -> None:
    sink = result["sink_attention"].sel(focus="first")
    assert float(sink.sel(layer=2, head=1)) > 0.99
    uniform = float(result["sink_share"].sel(layer=2, focus="first"))
    assert float(sink.sel(layer=2, head=2)) == pytest.approx(uniform)


def test_distances_are_those_of_what_is_attended_to(result: xr.Dataset) -> None:
    """The first of n tokens has none before it, and looks at all alike: (n - 1) / n and half as much beside."""
    assert float(result["mean_distance"].sel(layer=1, head=1)) == pytest.approx(1.5, abs=0.1)
    assert float(result["mean_distance"].sel(layer=1, head=3)) > 3


@pytest.mark.parametrize("window", [3, 8])
def test_windows_are_those_of_the_configuration(window: int) -> None:
    model = headscope.wrap(with_window(window), tiny_tokenizer())
    options = {"sequences": 4, "copy": 6, "contexts": "16", "texts": 4}
    found = headscope.induction(model, ["the cat sat"] * 3, Settings(resamples=10), **options)
    assert found["window"].values.tolist() == found["farthest_back"].values.tolist() == [window - 1] * 2
    assert found["farthest_forward"].values.tolist() == [0, 0]


def test_layers_of_two_kinds_are_told_apart() -> None:
    """ModernBERT sees half of its window on either side, in all layers but every third."""
    config = tiny_family("modernbert").config
    assert windows_of(config, 3).tolist() == [np.inf, 4, 4]
