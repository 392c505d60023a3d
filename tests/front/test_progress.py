"""Progress in a pipe: a line now and then on stderr, with the time that is left; nothing on stdout."""

import sys

import pytest

from headscope.front import progress
from headscope.front.cli import compute
from headscope.front.progress import Lines, drawing_bar, progress_bar


def test_lines_are_some_seconds_apart_and_say_what_is_left(clock: list[float]) -> None:
    said: list[str] = []
    with progress_bar("profile", 400, show=Lines(said.append)) as (advance, _):
        for clock[0] in range(1, 26):
            advance(10)
    assert said == ["profile: 100 of 400, 30 s left", "profile: 200 of 400, 20 s left"]


def test_slower_inputs_count_as_they_are_and_at_the_end_nothing_is_left(clock: list[float]) -> None:
    said: list[str] = []
    with progress_bar("induction", 1000, show=Lines(said.append)) as (advance, _):
        for done in [*[100] * 9, *[1] * 100]:
            clock[0] += 10
            advance(done)
    assert said[8] == "induction: 900 of 1,000, 10 s left"
    assert said[20] == "induction: 912 of 1,000, 15 min left" and said[-1] == "induction: 1,000 of 1,000"


def test_a_short_phase_has_no_line_and_the_next_one_begins_anew(clock: list[float]) -> None:
    said: list[str] = []
    lines = Lines(said.append)
    for name in ("profile", "page"):
        with drawing_bar(name, show=lines) as on_figure:
            for figure in range(1, 10):
                clock[0] += 1
                on_figure(figure, 9)
    assert said == []


def test_a_command_in_a_pipe_prints_lines_on_stderr_alone(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar("profile", None, show=compute.shown(quiet=False)) as (advance, expect):
        expect(3)
        clock[0] = 20
        advance(1)
    out, err = capsys.readouterr()
    assert not out and err == "headscope: profile: 1 of 3, 40 s left\n"
    assert compute.shown(quiet=True) is False


def test_a_line_stands_above_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("profile", 4, show=True, leave=False) as (advance, _):
        advance(1)
        with progress.above_bars():
            sys.stderr.write("a line\n")
    drawn = capsys.readouterr().err
    before, line, after = drawn.partition("a line\n")
    assert line and before.rpartition("\r")[2].strip() == "" and "profile" in before and "profile" in after
