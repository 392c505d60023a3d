"""A journal holds what was written to it, whatever happened to the process and to the end of the file."""

import errno
import resource
from pathlib import Path
from random import Random

import numpy as np
import pytest

from headscope import HeadscopeError
from headscope.ablation.journal import Journal, opened
from headscope.storage import lines
from headscope.storage.fingerprint import Fingerprint
from headscope.storage.lines import line_of

RUN = {"model": "53aa", "seed": 0}
VALUES = np.array([[1.5, -0.0], [np.nan, 1e-45]], dtype=np.float32)


def written(path: Path, units: int = 3) -> bytes:
    with opened(path, RUN) as journal:
        for unit in range(units):
            journal.add_array(f"unit {unit}", VALUES + unit)
    return path.read_bytes()


def units_of(path: Path) -> set[str]:
    with opened(path, RUN) as journal:
        return set(journal.units)


@pytest.mark.parametrize("values", [VALUES, VALUES.T, np.arange(3), np.array(2.5), np.empty((0, 2))])
def test_numbers_come_back_to_the_bit(tmp_path: Path, values: np.ndarray) -> None:
    with opened(tmp_path / "journal", RUN) as journal:
        journal.add_array("unit", values)
    with opened(tmp_path / "journal", RUN) as journal:
        assert journal["unit"].shape == values.shape and journal["unit"].dtype == values.dtype
        assert journal["unit"].tobytes() == values.tobytes()


def test_json_comes_back_and_is_computed_once(tmp_path: Path) -> None:
    value = {"importance": [0.1, float("inf"), 1e-300], "name": "é", "none": None}
    for given in (value, "of another run"):
        with opened(tmp_path / "journal", RUN) as journal:
            assert journal.once_json("unit", lambda given=given: given) == value
    assert Journal().once_json("unit", lambda: ("a", 1)) == ["a", 1]


def test_a_unit_is_computed_once(tmp_path: Path) -> None:
    for number in range(3):
        with opened(tmp_path / "journal", RUN) as journal:
            assert journal.once_array("unit", lambda number=number: np.array(number)) == 0


def test_a_file_cut_anywhere_in_its_last_record_has_all_others(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = written(path)
    last = len(whole) - (whole[:-1].rindex(b"\n") + 1)
    for missing in range(1, last + 1):
        path.write_bytes(whole[:-missing])
        assert units_of(path) == {"unit 0", "unit 1"}
        with opened(path, RUN) as journal:
            journal.add_array("unit 2", VALUES + 2)
        assert path.read_bytes() == whole


def test_a_spoilt_record_counts_as_not_written(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = bytearray(written(path))
    middle = bytes(whole).index(b"unit 1")
    for place in (middle, middle + 40, middle - 60):
        spoilt = whole.copy()
        spoilt[place] ^= 1
        path.write_bytes(spoilt)
        assert units_of(path) == {"unit 0", "unit 2"}
        with opened(path, RUN) as journal:
            journal.add_array("unit 1", VALUES)
        assert units_of(path) == {"unit 0", "unit 1", "unit 2"}


def test_a_flipped_bit_costs_a_line_or_the_sweep_and_is_said(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole, random = written(path), Random(0)
    header = whole.index(b"\n")
    for place in (*random.sample(range(header), 4), *random.sample(range(header + 1, len(whole) - 1), 12)):
        spoilt, notices = bytearray(whole), list[str]()
        spoilt[place] ^= 1 << random.randrange(8)
        path.write_bytes(spoilt)
        with opened(path, RUN, notices.append) as journal:
            for unit, values in journal.units.items():
                assert values.tobytes() == (VALUES + int(unit[-1])).tobytes()
            assert len(journal) == (0 if place < header else 2)
        words = "is damaged; the sweep starts anew" if place < header else "is damaged; 1 of 3 units are computed again"
        assert [words in each for each in notices] == [True]


def test_the_journal_of_another_run_is_begun_anew_and_says_why(tmp_path: Path) -> None:
    others: tuple[tuple[Fingerprint, str], ...] = (
        ({"model": "ee01", "seed": 0}, "was begun with model 53aa, now it is ee01; the sweep starts anew"),
        ({"model": "53aa", "seed": 0, "mode": "zero"}, "begun with mode None, now it is zero"),
        ({"model": "53aa"}, "begun with seed 0, now it is None"),
    )
    for other, words in others:
        written(tmp_path / "journal")
        notices = list[str]()
        with opened(tmp_path / "journal", other, notices.append) as journal:
            assert not journal.units and [words in each for each in notices] == [True]
            journal.add_array("unit 0", VALUES)
        with opened(tmp_path / "journal", other, notices.append) as journal:
            assert set(journal.units) == {"unit 0"} and len(notices) == 1
        (tmp_path / "journal").unlink()


def test_a_forged_record_counts_as_not_written(tmp_path: Path) -> None:
    written(tmp_path / "journal")
    units = units_of(tmp_path / "journal")
    with (tmp_path / "journal").open("ab") as file:
        for record in (
            {"unit": "a"},
            {"b": 1},
            {"unit": "c", "dtype": "O", "shape": [1], "data": ""},
            {"unit": "d", "shape": 5},
        ):
            file.write(line_of(record))
    assert units_of(tmp_path / "journal") == units


@pytest.mark.parametrize(
    "content", [b"", b"my notes", b"my notes\nmore\n", b'{"headscope": "journal"}\n', line_of({"run": 1})]
)
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "journal").write_bytes(content)
    with pytest.raises(HeadscopeError, match="is no journal of headscope"), opened(tmp_path / "journal", RUN):
        pass
    assert (tmp_path / "journal").read_bytes() == content


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("ab", buffering=0) as full, pytest.raises(HeadscopeError) as caught:
        Journal(tmp_path / "journal", full).add_array("unit", VALUES)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert "cannot be written: no space left on the disk; make room" in str(caught.value)


def test_what_was_written_before_the_disk_was_full_is_kept(tmp_path: Path) -> None:
    """A limit on the size of files, as a disk does, takes a part of a record."""
    path = tmp_path / "journal"
    whole = written(path, units=2)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 50, limits[1]))
        with pytest.raises(HeadscopeError, match="what was done is kept"), opened(path, RUN) as journal:
            journal.add_array("unit 2", VALUES + 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == whole
    assert units_of(path) == {"unit 0", "unit 1"}


def test_a_journal_that_cannot_be_begun_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(lines, "write", full)
    with pytest.raises(HeadscopeError, match="no space left"), opened(tmp_path / "journal", RUN):
        pass
    assert not list(tmp_path.iterdir())


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match=r"1 units are kept in .*; start the same command again to go on"):
        with opened(tmp_path / "journal", RUN) as journal:
            journal.add_array("unit", VALUES)
            raise KeyboardInterrupt
    assert units_of(tmp_path / "journal") == {"unit"}


def test_errors_of_others_are_let_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), opened(tmp_path / "journal", RUN):
        raise FileNotFoundError("of something else")


def test_without_a_file_numbers_are_kept_in_memory() -> None:
    journal = Journal()
    journal.add_array("unit", VALUES)
    assert "unit" in journal and "unit" not in Journal()
