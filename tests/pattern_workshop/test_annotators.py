"""Labels are saved one by one, blind to those of others, and taken up again.

Agreement of two annotators, against scikit-learn.
"""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.labelled_maps import read
from pattern_workshop.annotators import agreement, kappa, opened
from pattern_workshop.written_maps import labels
from support.unlabelled import folder

pytestmark = pytest.mark.thorough


def test_each_label_is_on_the_disk_at_once_and_taken_up_again(tmp_path: Path) -> None:
    session = opened(folder(tmp_path))
    session.label(0, "block")
    session.label(2, "diagonal")
    assert labels(tmp_path / "labels.jsonl") == {1: "block", 2: "", 3: "diagonal", 4: ""}
    assert opened(tmp_path).labels == ["block", "", "diagonal", ""]
    maps = read(tmp_path)
    assert [labelled_map.label for labelled_map in maps] == ["block", "", "diagonal", ""]
    np.testing.assert_allclose(maps[0].attention[1], [0.1, 0.1, 0.5, 0.1, 0.2], atol=1e-3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.jsonl", "maps.npz"]


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


def test_what_cannot_be_is_refused_and_nothing_changes(tmp_path: Path, full_disk: Callable) -> None:
    session = opened(folder(tmp_path))
    for index, label in ((4, "block"), (-1, "block"), (0, "stripes")):
        with pytest.raises(HeadscopeError):
            session.label(index, label)
    with pytest.raises(HeadscopeError, match="annotator"):
        opened(tmp_path, "../ann")

    full_disk("headscope.storage.files.os.replace")
    with pytest.raises(HeadscopeError, match="no space left"):
        session.label(0, "block")
    assert session.labels == [""] * 4 and session.history == []


def written(path: Path, labels: dict[int, str]) -> Path:
    path.write_text("".join(json.dumps({"id": id, "label": label}) + "\n" for id, label in labels.items()))
    return path


@given(st.lists(st.tuples(st.sampled_from(PATTERNS), st.sampled_from(PATTERNS)), min_size=1))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    if len({*first, *second}) > 1:  # else scikit-learn divides by zero
        assert kappa(first, second) == pytest.approx(float(cohen_kappa_score(first, second)))
    else:
        assert kappa(first, second) == 1


def test_only_maps_that_both_have_labelled_count(tmp_path: Path) -> None:
    one = written(tmp_path / "a.jsonl", {1: "block", 2: "vertical", 3: "", 4: "diagonal", 6: "block"})
    other = written(tmp_path / "b.jsonl", {6: "vertical", 2: "vertical", 3: "block", 5: "block", 4: "vertical"})
    found = agreement(one, other)
    assert found["n_maps"] == 3
    assert found["agreement"] == pytest.approx(1 / 3)
    assert found["kappa"] == pytest.approx(cohen_kappa_score(["vertical", "diagonal", "block"], ["vertical"] * 3))
    assert found["differ"] == {"diagonal / vertical": 1, "block / vertical": 1}


@pytest.mark.parametrize(("boundary", "number", "expected"), [(False, 419, 0.862), (True, 173, 0.80)])
def test_agreement_of_the_two_who_labelled_the_real_maps(
    real_data: Path, tmp_path: Path, boundary: bool, number: int, expected: float
) -> None:
    path = real_data.parent / "patterns" / "labels.jsonl.gz"
    if not path.is_file():
        pytest.skip("no labelled maps beside the data sets")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if (row["id"] >= 1000) is boundary]
    files = []
    for side in ("annotator_a", "annotator_b"):
        files.append(written(tmp_path / side, {row["id"]: row[side] for row in rows}))
    found, pairs = agreement(*files), [(row["annotator_a"], row["annotator_b"]) for row in rows]
    assert found["n_maps"] == len(rows) == number
    assert found["kappa"] == pytest.approx(float(cohen_kappa_score(*zip(*pairs, strict=True))))
    assert found["kappa"] == pytest.approx(expected, abs=0.03)  # of all 600, and of all 290
