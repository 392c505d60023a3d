"""Agreement of two annotators, against scikit-learn."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.studies.patterns.labels import agreement
from headscope.studies.patterns.labels.agreement import kappa


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


def test_no_map_in_common_is_said(tmp_path: Path) -> None:
    paths = [written(tmp_path / name, {id: "block"}) for id, name in enumerate(("a.jsonl", "b.jsonl"))]
    with pytest.raises(HeadscopeError, match="no labelled map in common"):
        agreement(*paths)


def test_a_wrong_label_is_said_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", {1: "block", 2: "stripes"})
    with pytest.raises(HeadscopeError, match="line 2"):
        agreement(path, path)


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
