"""A pass by several processes: the bits of one process, whatever becomes of the processes."""

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from headscope import Model, Settings
from headscope.corpora import Corpus, read
from headscope.corpora.parsing.lines import Cursor
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.passes import Pass, shards
from headscope.passes.accumulators import TallyAccumulator
from headscope.passes.planned_pass import PassResult
from headscope.passes.settings import PassJournal
from headscope.storage.kept_inputs import return_freed_memory
from support import runs
from support.killed import Killed
from support.same import assert_same

pytestmark = pytest.mark.usefixtures("small_shards")
# Tallies; lists of observations; a state of its own; files of arrays.
STUDIES = ("profile", "syntax", "patterns", "probe", "structure", "layers")
OPTIONS: dict[str, dict[str, Any]] = {
    "profile": {"frequency": True},
    "probe": {"epochs": 1, "seeds": 1, "random": False},
    "structure": {"epochs": 1, "rank": "2", "random": False},
    "layers": {"tasks": "part_of_speech", "codes": False, "mix": False, "random": False},
}


@pytest.fixture
def assert_no_children() -> Callable[[], None]:
    """No child is left, not even one that has ended and is not waited for; those of other test files do not count."""
    before = set(psutil.Process().children())

    def check() -> None:
        assert not set(psutil.Process().children()) - before

    return check


def settings(workers: int, **given: Any) -> Settings:
    return Settings(resamples=5, batch_tokens=100, workers=workers, **given)


def measured(model: Model, corpus: Corpus, chosen: Settings, **given: Any) -> PassResult[Any]:
    return Pass(model, corpus, chosen, **given).measure(["entropy"]).read()


def bits(result: PassResult[Any]) -> tuple[Any, ...]:
    tally = result.value["entropy"]
    attributes = {name: value for name, value in result.attributes.items() if name != "duration_s"}
    coverage = result.coverage
    return tally.resampled_total.tobytes(), coverage.share.tobytes(), coverage.log_length, attributes


@pytest.mark.parametrize("study", STUDIES)
def test_several_processes_give_the_bits_of_one(study: str, model: Model, corpus: Corpus) -> None:
    run = getattr(runs, study)
    read_ = (corpus,) if study in ("patterns", "layers") else corpus
    one, several = (run(model, read_, settings(workers), **OPTIONS.get(study, {})) for workers in (1, 3))
    assert_same(several, one)


def test_inputs_are_numbered_over_all_shards(model: Model, corpus: Corpus) -> None:
    """Long texts are windows or left out, so that shards have unequal numbers of inputs."""
    for long in ("window", "skip"):
        one, two, three = (
            measured(model, corpus, settings(workers, long=long), words=Words(model.tokenizer, 24, long, aligned=True))
            for workers in (1, 2, 3)
        )
        assert one.coverage.inputs != corpus.n_examples
        assert bits(one) == bits(two) == bits(three)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus that counts as large: two shards are added up first."""
    monkeypatch.setattr(shards, "SUMS", 1)
    monkeypatch.setattr(shards, "TOGETHER", 2)


def test_sums_of_shards_have_the_same_bits_for_any_number_of_processes(
    model: Model, corpus: Corpus, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, three = (measured(model, corpus, settings(workers)) for workers in (1, 3))
    assert bits(three) == bits(one)
    monkeypatch.setattr(shards, "TOGETHER", 1)
    unbatched = measured(model, corpus, settings(1)).value["entropy"]
    np.testing.assert_allclose(one.value["entropy"].resampled_total, unbatched.resampled_total, rtol=1e-12)


def test_ctrl_c_within_a_sum_keeps_its_shards_and_a_killed_run_goes_on(
    model: Model, corpus: Corpus, large: None, tmp_path: Path
) -> None:
    complete, done = measured(model, corpus, settings(1)), list[int]()

    def stop(kind: type[BaseException], after: int) -> Callable[[int], None]:
        def act(inputs: int) -> None:
            done.append(inputs)
            if sum(done) >= after:
                raise kind

        return act

    kept = measured(model, corpus, settings(1, on_progress=stop(KeyboardInterrupt, 10), keep_interrupted=True))
    left_out = sum(json.loads(kept.attributes["skipped"]).values())
    assert kept.coverage.inputs <= sum(done) <= kept.coverage.inputs + left_out < complete.coverage.inputs
    done.clear()
    journal = PassJournal(tmp_path, {})
    with pytest.raises(Killed):
        measured(model, corpus, settings(1, journal=journal, on_progress=stop(Killed, 10)))
    again = settings(2, journal=PassJournal(tmp_path, {}))
    assert bits(measured(model, corpus, again)) == bits(complete)


@pytest.fixture
def lines(tmp_path: Path, streamed: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text of 60 lines that is not kept in memory; `lines.read` beside it gets a sign for each line that is read."""
    next_line = Cursor.next_line

    def noting(cursor: Cursor, file: Any) -> bytes:
        with (tmp_path / "lines.read").open("ab", buffering=0) as log:
            log.write(b".")
        return next_line(cursor, file)

    monkeypatch.setattr(Cursor, "next_line", noting)
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"The owner of {number} cats slept.\n" for number in range(60)))
    return path


def lines_read(path: Path) -> int:
    """The number of lines that were read, by all processes, since the last call."""
    log = path.with_suffix(".read")
    size = log.stat().st_size
    log.unlink()
    return size


def test_several_processes_read_a_corpus_once(model: Model, lines: Path) -> None:
    corpus = read(lines)
    assert lines_read(lines) == 2 * 61  # first it is looked at whether it has columns
    one = measured(model, corpus, settings(1))
    assert lines_read(lines) == 61
    three = measured(model, corpus, settings(3))
    assert lines_read(lines) <= 61 + 3
    assert bits(three) == bits(one)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_does_not_read_again_what_it_has_done(
    model: Model, lines: Path, tmp_path: Path, workers: int
) -> None:
    corpus, done = read(lines), list[int]()
    complete = measured(model, corpus, settings(1))

    def stop(inputs: int) -> None:
        done.append(inputs)
        if sum(done) >= 40:
            raise Killed

    with pytest.raises(Killed):
        measured(model, corpus, settings(1, journal=PassJournal(tmp_path / "journal", {}), on_progress=stop))
    lines_read(lines)
    again = settings(workers, journal=PassJournal(tmp_path / "journal", {}))
    assert bits(measured(model, corpus, again)) == bits(complete)
    assert lines_read(lines) <= 61 - 36 + workers


def in_children(monkeypatch: pytest.MonkeyPatch, call: int, act: Callable[[], None]) -> None:
    """Act in the batch of a number of each child."""
    parent, add, calls = os.getpid(), TallyAccumulator.add, list[int]()

    def acting(self: TallyAccumulator, group: Any) -> None:
        if os.getpid() != parent:
            calls.append(1)
            if len(calls) == call:
                act()
        add(self, group)

    monkeypatch.setattr(TallyAccumulator, "add", acting)


def die_once(mark: Path) -> Callable[[], None]:
    """A function that kills its process, the first that calls it."""

    def act() -> None:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    return act


def test_the_shard_of_a_killed_child_is_done_again(
    model: Model, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = list[int]()
    one = measured(model, corpus, settings(1))
    in_children(monkeypatch, 3, die_once(tmp_path / "dead"))
    two = measured(model, corpus, settings(2, on_progress=done.append))
    assert (tmp_path / "dead").exists() and bits(two) == bits(one)
    assert sum(done) == one.coverage.inputs + sum(json.loads(one.attributes["skipped"]).values())


def test_a_shard_that_kills_three_children_is_named(
    model: Model, corpus: Corpus, monkeypatch: pytest.MonkeyPatch, assert_no_children: Callable[[], None]
) -> None:
    in_children(monkeypatch, 3, lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(HeadscopeError, match=r"^3 workers died \(signal 9\) at shard \d; use fewer workers"):
        measured(model, corpus, settings(2))
    assert_no_children()


def test_an_error_in_a_child_is_that_of_one_process(
    model: Model, corpus: Corpus, monkeypatch: pytest.MonkeyPatch, assert_no_children: Callable[[], None]
) -> None:
    def refuse() -> None:
        raise HeadscopeError("example 9 is not finite; leave it out")

    def fail() -> None:
        raise ZeroDivisionError("of a bug")

    with monkeypatch.context() as patch:
        in_children(patch, 3, refuse)
        with pytest.raises(HeadscopeError, match=r"^example 9 is not finite; leave it out$"):
            measured(model, corpus, settings(2))
    in_children(monkeypatch, 3, fail)
    with pytest.raises(RuntimeError, match=r"(?s)ZeroDivisionError: of a bug.*Traceback.*in fail"):
        measured(model, corpus, settings(2))
    assert_no_children()


def test_ctrl_c_keeps_the_shards_that_are_merged(
    model: Model, corpus: Corpus, tmp_path: Path, assert_no_children: Callable[[], None]
) -> None:
    """And a killed run goes on with another number of processes."""
    notices, complete = list[str](), measured(model, corpus, settings(1))
    begun = settings(2, journal=PassJournal(tmp_path, {}), on_notice=notices.append)

    def stop(kind: type[BaseException]) -> Callable[[int], None]:
        def act(done: int) -> None:
            if (tmp_path / "pass-1").exists():
                raise kind

        return act

    kept = measured(model, corpus, replace(begun, on_progress=stop(KeyboardInterrupt), keep_interrupted=True))
    assert "interrupted" in kept.attributes and 0 < kept.coverage.inputs < complete.coverage.inputs
    assert "inputs are kept" in notices.pop()
    assert_no_children()
    for workers in (3, 1):
        again = settings(workers, journal=PassJournal(tmp_path, {}), on_notice=notices.append)
        if workers == 3:
            with pytest.raises(Killed):
                measured(model, corpus, replace(again, on_progress=stop(Killed)))
        else:
            assert bits(measured(model, corpus, again)) == bits(complete)
        assert "the pass resumes from there" in notices.pop()


def test_children_end_with_their_parent(model: Model, corpus: Corpus, tmp_path: Path) -> None:
    """A parent that is killed leaves no child, even in the middle of a batch."""
    if (parent := os.fork()) == 0:
        reader = settings(2, on_progress=lambda done: os.kill(os.getpid(), signal.SIGKILL))

        def forever(self: Any, group: Any) -> None:
            (tmp_path / str(os.getpid())).touch()
            if len(list(tmp_path.iterdir())) < 2:
                signal.pause()

        TallyAccumulator.add = forever  # type: ignore[method-assign]
        measured(model, corpus, reader)
        os._exit(1)
    _, status = os.waitpid(parent, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    for child in tmp_path.iterdir():
        assert ended(int(child.name))


def ended(process: int) -> bool:
    """Whether a process ends within a second."""
    descriptor = os.pidfd_open(process) if Path(f"/proc/{process}").exists() else None
    if descriptor is None:
        return True
    import select

    ready, _, _ = select.select([descriptor], [], [], 5)
    os.close(descriptor)
    return bool(ready)


def test_other_systems_and_devices_are_refused(model: Model, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(HeadscopeError, match=r"^--workers: no local workers on darwin; leave it out, or use"):
        measured(model, corpus, settings(2))


@pytest.mark.skipif(sys.platform != "linux", reason="malloc_trim is of glibc")
def test_gaps_between_arrays_that_are_kept_are_given_back() -> None:
    process, size = psutil.Process(), 100_000  # bytes, below the size for which an array has a mapping of its own
    arrays = [np.ones(size, np.uint8) for _ in range(600)]
    kept = arrays[::20]
    full = process.memory_info().rss
    arrays.clear()
    return_freed_memory()
    assert process.memory_info().rss < full - 30 * 2**20 and len(kept) == 30
