"""Arrays that are kept in files: their bits, and what becomes of a run that is killed while it computes from them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from headscope import Model, Settings
from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.passes import Pass, array_files
from headscope.passes.array_files import UNFINISHED, ArrayFiles, KeptShard
from headscope.passes.kept_arrays import ArrayPass, ArrayStore, read_arrays
from headscope.passes.settings import PassJournal
from headscope.passes.shards import ReadShards
from headscope.storage.codec import decode, encode

INPUTS = 17  # of 30 examples: the others are too long for the model


pytestmark = pytest.mark.usefixtures("six_in_a_shard")


def test_what_half_precision_does_not_hold_is_refused(model: Model, corpus: Corpus) -> None:
    reading = Reading()
    observe = reading.observe
    reading.observe = lambda group: (observe(group)[0], [np.full((2, 2), 1e5)])  # type: ignore[method-assign]
    with pytest.raises(HeadscopeError, match="larger than half precision holds"):
        reading.run(model, corpus, 0)


class Reading:
    """A pass whose arrays have the numbers and the lengths of inputs, and how often it read a batch."""

    def __init__(self, journal: Path | None = None, workers: int = 1):
        self.batches, self.notices = 0, list[str]()
        kept = PassJournal(journal, {}) if journal else None
        self.settings = Settings(batch_tokens=100, workers=workers, journal=kept, on_notice=self.notices.append)

    def observe(self, group: list[Encoded]) -> tuple[list[int], list[np.ndarray]]:
        self.batches += 1
        arrays = [np.full((2, len(encoded)), encoded.index) for encoded in group]
        return [encoded.index for encoded in group], [*arrays, np.empty((0, 3))]

    def run(self, model: Model, corpus: Corpus, budget: int) -> tuple[list[int], list[np.ndarray], tuple[int, int]]:
        with ArrayStore(budget) as store:
            result = store.gather(ArrayPass(Pass(model, corpus, self.settings), self.observe, list[int]))
            arrays = [array.numpy().copy() for array in store.arrays]
            numbers = [number for of_batch in result.value for number in of_batch]
            return numbers, [array for array in arrays if array.size], (store.in_memory, store.on_disk)


@pytest.mark.parametrize(("budget", "workers"), [(0, 1), (300, 3), (10**6, 1)])
def test_arrays_beyond_the_budget_are_in_files_and_the_same(
    budget: int, workers: int, model: Model, corpus: Corpus
) -> None:
    numbers, arrays, (in_memory, on_disk) = Reading(workers=workers).run(model, corpus, budget)
    assert sorted(numbers) == list(range(INPUTS))
    assert all((array == number).all() for number, array in zip(numbers, arrays, strict=True))
    assert in_memory <= budget and in_memory + on_disk == sum(array.nbytes for array in arrays)
    assert (on_disk == 0) == (budget == 10**6)


def test_a_run_that_ended_after_its_pass_reads_nothing_again(model: Model, corpus: Corpus, tmp_path: Path) -> None:
    """Checkpoints are seldom here: that at the end is written all the same."""
    first, again = Reading(tmp_path, workers=2), Reading(tmp_path)
    expected = first.run(model, corpus, 10**6)
    (tmp_path / "arrays-1" / f"{UNFINISHED}1").touch()
    np.testing.assert_equal(again.run(model, corpus, 10**6), expected)
    assert again.batches == 0 and f"{INPUTS} inputs are done" in again.notices[0]
    assert not list((tmp_path / "arrays-1").glob(f"{UNFINISHED}*"))


@pytest.mark.parametrize("change", ["cut", "changed", "lost"])
def test_a_damaged_array_file_starts_the_pass_anew(change: str, model: Model, corpus: Corpus, tmp_path: Path) -> None:
    expected, path = Reading(tmp_path).run(model, corpus, 0), sorted((tmp_path / "arrays-1").iterdir())[-1]
    content = path.read_bytes()
    path.write_bytes({"cut": content[:-2], "changed": b"\1" + content[1:], "lost": b""}[change])
    if change == "lost":
        path.unlink()
    again = Reading(tmp_path)
    np.testing.assert_equal(again.run(model, corpus, 0), expected)
    assert again.notices == [f"'{tmp_path / 'pass-1'}' does not fit '{path}'; the pass starts again"]


def test_a_sent_file_is_that_of_one_process_and_a_wrong_piece_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(array_files, "PIECE", 10)
    files = ArrayFiles(lambda group: (0, [np.arange(9.0), np.ones((2, len(group)))]), tmp_path)
    batches: Any = [[SimpleNamespace(index=7)], [SimpleNamespace(index=5)]]
    pieces: list[Any] = []
    channel: Any = SimpleNamespace(piece=lambda **piece: pieces.append(piece))
    here, sending = files.here(), files.sending(channel)
    for batch in batches:
        here.add(batch)
        sending.add(batch)
    expected, content = here.state(), (tmp_path / "5").read_bytes()
    assert sending.state() == expected and len(pieces) == 7
    (tmp_path / "5").unlink()
    for piece in [*pieces[:4], *pieces]:  # the first worker died
        files.receive(3, piece)
    assert (tmp_path / "5").read_bytes() == content
    with pytest.raises(HeadscopeError, match=r"^'.*5' is not what a worker sent; check the disk, and start again$"):
        for piece in [*pieces[:2], *pieces[3:]]:
            files.receive(3, piece)


def test_a_full_disk_is_one_line(model: Model, corpus: Corpus, tmp_path: Path, full_disk: Callable) -> None:
    full_disk("headscope.passes.array_files.write")
    with pytest.raises(HeadscopeError, match=r"^'.*' cannot be written: no space left on the disk; make room"):
        Reading(tmp_path).run(model, corpus, 0)


def test_a_worker_reads_all_passes_and_has_no_arrays(model: Model, corpus: Corpus) -> None:
    """What is computed from the arrays is its coordinator's."""
    ended = list[bool]()

    class Worker:
        in_worker = True

        def values(self, tasks: Any) -> Iterator[str]:
            channel: Any = SimpleNamespace(progress=lambda done: None, preceding=lambda own: 0, piece=lambda **_: None)
            read = decode(tasks.do(0, channel), ReadShards[list[KeptShard[list[list[int]]]]])
            yield encode(replace(read, state=[]))  # as a coordinator sends the total

        def finish(self, total: Any) -> None:
            ended.append(True)

    reading, engine = Reading(), Worker()
    inputs = Pass(model, corpus, replace(reading.settings, engine=engine))
    read_arrays(ArrayPass(inputs, reading.observe, list[int]) for _ in range(2))
    assert len(ended) == 2 and reading.batches > 2
