"""The clearest maps of each head: of its most frequent patterns, from the inputs that show them most surely."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from headscope.corpora import Options, read
from headscope.models import load
from headscope.passes import Settings
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns import study


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    """The patterns of the built-in model on a part of the sample."""
    return study.run(load("minilm"), (read("sample", Options(limit=15)),), Settings(resamples=5), shown=1)


def test_each_head_keeps_maps_of_its_most_frequent_patterns(result: xr.Dataset) -> None:
    maps, share = result["head_map"], result["share"]
    kept = maps.notnull().any(("query", "key"))
    assert (kept.sum("pattern") <= 2).all() and float(kept.any("pattern").mean()) > 0.9
    second = np.sort(share.values, axis=-1)[..., [-2]]
    assert (share.values >= second)[kept.values].all()
    assert (share.where(kept, 1) > 0).all()


def test_a_kept_map_is_attention_with_its_tokens(result: xr.Dataset) -> None:
    maps = result["head_map"]
    kept = maps.notnull().any(("query", "key"))
    for index in np.argwhere(kept.values).tolist():
        one = maps[tuple(index)]
        tokens = [token for token in one["head_map_token"].values.tolist() if token]
        assert 12 <= len(tokens) <= 40
        np.testing.assert_allclose(one.values[: len(tokens), : len(tokens)].sum(1), 1, atol=1e-3)
        assert np.isnan(one.values[len(tokens) :]).all()
    assert (maps["head_map_confidence"].where(kept, 1) >= 1 / len(PATTERNS)).all()


def test_the_clearest_map_of_a_pattern_is_that_of_its_head(result: xr.Dataset) -> None:
    checked = 0
    for pattern in PATTERNS:
        one = result["map"].sel(pattern=pattern, example=1)
        own = result["head_map"].sel(layer=int(one["map_layer"]), head=int(one["map_head"]), pattern=pattern)
        if own.notnull().any():
            np.testing.assert_allclose(own.values, one.values, atol=1 / 65_000)
            checked += 1
    assert checked


def test_maps_of_heads_are_stored_small_and_read_again(result: xr.Dataset, tmp_path: Path) -> None:
    result.to_netcdf(tmp_path / "result.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "result.nc", engine="h5netcdf") as stored:
        again = stored["head_map"].load()
    assert again.encoding["dtype"] == np.uint16
    np.testing.assert_allclose(again, result["head_map"], atol=1 / 65_000)
