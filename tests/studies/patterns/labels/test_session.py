"""Labels are saved one by one, blind to those of others, and taken up again."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from headscope.errors import HeadscopeError
from headscope.studies.patterns.labels import opened
from headscope.studies.patterns.labels.labelled_maps import labels, read
from support.unlabelled import folder


def test_each_label_is_on_the_disk_at_once_and_taken_up_again(tmp_path: Path) -> None:
    session = opened(folder(tmp_path))
    session.label(0, "block")
    session.label(2, "diagonal")
    assert labels(tmp_path / "labels.jsonl") == {1: "block", 2: "", 3: "diagonal", 4: ""}
    assert opened(tmp_path).labels == ["block", "", "diagonal", ""]
    maps = read(tmp_path)
    assert [each.label for each in maps] == ["block", "", "diagonal", ""]
    np.testing.assert_allclose(maps[0].attention[1], [0.1, 0.1, 0.5, 0.1, 0.2], atol=1e-3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.jsonl", "maps.npz"]


def test_undo_goes_back_label_by_label(tmp_path: Path) -> None:
    session = opened(folder(tmp_path))
    for index, label in ((0, "block"), (1, "diagonal"), (1, "vertical")):
        session.label(index, label)
    assert session.undo() == 1
    assert session.labels == ["block", "diagonal", "", ""]
    assert session.undo() == 1
    assert session.labels == ["block", "", "", ""]
    assert session.undo() == 0
    assert session.undo() is None
    assert set(labels(tmp_path / "labels.jsonl").values()) == {""}


def test_an_annotator_with_a_name_has_a_file_of_its_own_and_sees_no_other_labels(tmp_path: Path) -> None:
    folder(tmp_path, label="vertical", annotator_a="block", annotator_b="diagonal")
    session = opened(tmp_path, "ann")
    assert session.labels == [""] * 4
    session.label(3, "block")
    assert (tmp_path / "labels-ann.jsonl").read_text().count('"annotator": "ann"') == 4
    assert "annotator_a" not in (tmp_path / "labels-ann.jsonl").read_text()
    assert labels(tmp_path / "labels.jsonl") == dict.fromkeys(range(1, 5), "vertical")
    assert opened(tmp_path, "ann").labels == ["", "", "", "block"]
    assert opened(tmp_path, "bob").labels == [""] * 4


def test_packed_labels_of_others_ask_for_a_name(tmp_path: Path) -> None:
    path = folder(tmp_path) / "labels.jsonl"
    path.with_name("labels.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    with pytest.raises(HeadscopeError, match="--annotator"):
        opened(tmp_path)
    assert opened(tmp_path, "ann").labels == [""] * 4


def test_what_cannot_be_is_refused_and_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened(folder(tmp_path))
    for index, label in ((4, "block"), (-1, "block"), (0, "stripes")):
        with pytest.raises(HeadscopeError):
            session.label(index, label)
    with pytest.raises(HeadscopeError, match="annotator"):
        opened(tmp_path, "../ann")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("headscope.storage.files.os.replace", full)
    with pytest.raises(HeadscopeError, match="no space left"):
        session.label(0, "block")
    assert session.labels == [""] * 4 and session.history == []
