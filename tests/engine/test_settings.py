"""Settings that make no sense are refused before anything is read."""

import pytest

from headscope import HeadscopeError, Settings


def test_an_unknown_way_with_long_inputs_is_answered_with_those_there_are() -> None:
    with pytest.raises(HeadscopeError, match="long 'windows' is unknown; use one of skip, truncate, window"):
        Settings(long="windows")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value"), [("batch_tokens", 0), ("seed", -1), ("resamples", 0)])
def test_numbers_that_are_too_small_are_refused(name: str, value: int) -> None:
    with pytest.raises(HeadscopeError, match=f"{name} {value} is too small; use at least {value + 1}"):
        Settings(**{name: value})  # type: ignore[arg-type]


def test_what_changes_a_result_is_stored_with_it() -> None:
    stored = Settings(long="window", seed=7, on_progress=print).as_attributes()
    assert stored == {"long": "window", "batch_tokens": 2048, "seed": 7, "resamples": 1000}
