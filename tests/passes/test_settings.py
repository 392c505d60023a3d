"""Settings that make no sense are refused before anything is read."""

import pytest

from headscope import HeadscopeError, Settings


def test_an_unknown_way_with_long_inputs_is_answered_with_those_there_are() -> None:
    with pytest.raises(HeadscopeError, match="long 'windows' is unknown; use one of skip, truncate, window"):
        Settings(long="windows")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"), [("batch_tokens", 0), ("seed", -1), ("seed", 2**32), ("resamples", 0), ("resamples", 10**23)]
)
def test_numbers_out_of_range_are_refused(name: str, value: int) -> None:
    with pytest.raises(HeadscopeError, match=f"{name} {value}: use (at least|a number from)"):
        Settings(**{name: value})  # type: ignore[arg-type]


def test_what_changes_a_result_is_stored_with_it() -> None:
    stored = Settings(long="window", seed=7, on_progress=print).as_attributes()
    assert stored == {"long": "window", "batch_tokens": 2048, "seed": 7, "resamples": 1000}
