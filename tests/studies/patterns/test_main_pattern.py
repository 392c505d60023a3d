"""Heads whose main pattern is the same in all corpora."""

import pytest
import xarray as xr

from headscope.studies.patterns.main_pattern import same_in_all


def test_heads_that_are_missing_do_not_count() -> None:
    main = xr.DataArray(
        [[["block", "vertical"], ["block", ""]], [["block", "diagonal"], ["block", ""]]],
        dims=("task", "layer", "head"),
    )
    made = same_in_all(main)
    assert float(made["same_pattern"]) == pytest.approx(2 / 3)
    assert int(made["same_pattern_n_examples"]) == 3
    lower, upper = made["same_pattern_ci"].values
    assert 0.2 < lower < 2 / 3 < upper < 0.95
