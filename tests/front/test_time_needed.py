"""The line about the time that a study will take: once, after the first batches, for what is left."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from headscope.front import time_needed
from headscope.front.time_needed import TimeNeeded
from support.cli import run_command
from support.tiny import save_tiny


class Followed:
    """A study of a fake clock, and what it has said."""

    def __init__(self, clock: list[float], examples: int | None):
        self.clock, self.said = clock, list[str]()
        self.needed = TimeNeeded("profile", examples, limited=False, say=self.said.append)

    def read(self, steps: int, seconds: float, inputs: int = 10) -> list[str]:
        """Steps of progress that take so long each. Returns: what has been said."""
        for _ in range(steps):
            self.clock[0] += seconds
            self.needed.advance(inputs)
        return self.said


def times(said: Iterable[str]) -> list[str]:
    """The times of lines."""
    return [line.split("about ")[1].split(" left")[0] for line in said]


def test_a_long_study_says_its_time_once_after_the_first_batches(clock: list[float]) -> None:
    study = Followed(clock, 4000)
    assert study.read(4, 0.5) == []
    (line,) = study.read(1, 0.5)  # 3,950 at 20 a second
    assert "about 3 min left" in line and "4,000 examples" in line
    assert len(study.read(200, 5.0)) == 1


def test_a_short_study_says_nothing(clock: list[float]) -> None:
    assert Followed(clock, 400).read(40, 0.5) == []


def test_the_first_batch_does_not_count(clock: list[float]) -> None:
    study = Followed(clock, 1050)
    study.read(1, 60.0)  # a model is compiled, or a worker started
    assert times(study.read(4, 1.0)) == ["2 min"]  # 100 s; 22 min with the first batch


def test_one_long_batch_is_no_measure(clock: list[float]) -> None:
    study = Followed(clock, 1050)
    assert study.read(4, 30.0) == []
    assert times(study.read(1, 30.0)) == ["50 min"]


def test_a_study_that_becomes_slow_says_so_then(clock: list[float]) -> None:
    study = Followed(clock, 1000)
    assert study.read(50, 0.1) == []
    assert len(study.read(30, 5.0)) == 1


def test_without_a_total_nothing_is_said_and_with_several_phases_the_last_total_counts(clock: list[float]) -> None:
    study = Followed(clock, None)
    assert study.read(9, 0.5) == []
    study.needed.expect(9000)
    assert times(study.read(5, 1.0)) == ["15 min"]  # of the second phase, without the first one
    study.needed.expect(90000)
    assert len(study.read(9, 0.5)) == 1


@pytest.mark.parametrize("restored", [[3000], [2000, 1000]], ids=["one pass", "two passes"])
def test_what_checkpoints_have_is_no_measure(clock: list[float], restored: list[int]) -> None:
    study = Followed(clock, 4050)
    for inputs in restored:
        study.needed.measure_anew("2,000 inputs are done by 'pass-1'; the pass resumes from there")
        study.read(1, 0.01, inputs)
    assert times(study.read(4, 1.0)) == ["2 min"]  # 1,010 at 10 a second


def test_steps_of_nothing_are_none(clock: list[float]) -> None:
    study = Followed(clock, 1050)
    assert study.read(9, 1.0, inputs=0) == []
    study.read(1, 60.0)
    assert times(study.read(4, 1.0)) == ["2 min"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("model"))


@pytest.fixture
def soon(pages_not_written: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is long enough to be measured; the page is not written."""
    monkeypatch.setattr(time_needed, "MEASURED", 0.0)
    monkeypatch.setattr(time_needed, "LONG", 0.0)


WORDS = ("sample", "--limit", 40, "--batch-tokens", 60, "--resamples", 5, "--examples", 0, "--no-figures")


@pytest.mark.parametrize("options", [(), ("--json",), ("--workers", "2")], ids=" ".join)
def test_a_command_says_it_once_on_stderr(model: Path, tmp_path: Path, options: tuple[str], soon: None) -> None:
    done = run_command("profile", model, *WORDS, *options, "-o", tmp_path)
    assert done.exit_code == 0 and "left at the rate of its first inputs" not in done.stdout
    (line,) = [line for line in done.stderr.splitlines() if "left at the rate of its first inputs" in line]
    assert line.startswith("headscope: profile: about ") and line.endswith("for 40 examples; --limit N uses fewer")
    if "--json" in options:
        assert json.loads(done.stdout)["report"]
