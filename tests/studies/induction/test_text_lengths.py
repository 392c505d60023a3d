"""Lengths of texts with a planted pair: short ones by default, long ones if asked for."""

import pytest

from headscope import HeadscopeError
from headscope.studies.heads.induction.made_inputs import text_lengths


def lengths(given: str, room: int, *, full: bool) -> tuple[list[int], list[str]]:
    """The lengths of the texts, and what is said of them."""
    said: list[str] = []
    return text_lengths(given, room, said.append, full=full), said


def test_texts_are_short_by_default_and_long_if_asked_for() -> None:
    short, (line,) = lengths("", 1022, full=False)
    assert short == [32, 128] and "at most 128 tokens; --full has some of 512" in line
    assert lengths("", 1022, full=True) == ([128, 512], [])


@pytest.mark.parametrize("full", [False, True])
def test_named_lengths_are_taken_and_a_model_of_few_tokens_lacks_nothing(full: bool) -> None:
    assert lengths("600,16,16", 600, full=full) == ([16, 600], [])
    assert lengths("", 62, full=full) == ([15, 62], [])
    for word in ("601", "7", "many"):
        with pytest.raises(HeadscopeError, match=f"contexts '{word}' is no length from 8 to 600 tokens"):
            lengths(f"16, {word}", 600, full=full)
