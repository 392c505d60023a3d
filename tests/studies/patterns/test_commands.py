"""The command that trains: what it writes is read again, its page says the scores, and bad folders are told of."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import Result

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.storage.run_lock import run_lock
from headscope.studies.patterns import commands, labels
from headscope.studies.patterns.classifier.network import Classifier, load
from headscope.studies.patterns.labels.annotators import Session
from headscope.studies.patterns.labels.labelled_maps import Map, write
from headscope.studies.patterns.training.curriculum import ClassifierRecipe
from headscope.studies.patterns.training.model_card import page
from headscope.studies.patterns.training.model_card import write as write_classifier
from support.cli import run_command
from support.planted_maps import planted

TINY = ClassifierRecipe(
    synthetic=20, first_steps=1, first_batch=5, views=1, real=6, made=2, steps=2, check=1, patience=1
)


def invoke(*arguments: str) -> Result:
    return run_command("patterns", *arguments)


def folder(path: Path, number: int = 60) -> Path:
    names = [PATTERNS[index % len(PATTERNS)] for index in range(number)]
    tokens = [("[CLS]", f"text {index // 2}", *["a"] * 9, "[SEP]") for index in range(number)]
    maps = [
        Map(index, planted(name, 12, index).astype(np.float32), its, name, annotator_a=name, annotator_b="block")
        for index, (name, its) in enumerate(zip(names, tokens, strict=True))
    ]
    write(path, maps)
    return path


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "RECIPE", TINY)


def test_what_the_command_writes_can_be_used(tmp_path: Path) -> None:
    maps, out = folder(tmp_path / "maps"), tmp_path / "out"
    result = invoke("train", str(maps), "-o", str(out), "--seed", "3", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {path.name for path in out.iterdir()} == {"weights.safetensors", "MODEL_CARD.md"}
    card = load(out / "weights.safetensors").card
    assert (card["seed"], card["recipe"]["synthetic"]) == (3, 20)
    assert found["weights.safetensors"] == str(out / "weights.safetensors")
    assert found["held_out"]["classifier"]["accuracy"] == card["held_out"]["classifier"]["accuracy"]
    assert (out / "MODEL_CARD.md").read_text(encoding="utf-8") == page(card)
    scored = invoke("evaluate", str(maps), "--weights", str(out / "weights.safetensors"), "--json")
    assert json.loads(scored.stdout)["not_trained_on"]["n"] == card["held_out"]["classifier"]["n"]


def test_the_page_has_the_scores_of_all_and_the_confusions() -> None:
    its: dict[str, Any] = {
        "n": 12,
        "accuracy": 0.9125,
        "accuracy_ci": [0.85, 0.96],
        "macro_f1": 0.8,
        "macro_f1_ci": [0.7, 0.9],
        "macro_f1_over": ["vertical", "vertical_diagonal"],
        "f1": dict.fromkeys(PATTERNS, 0.75),
        "n_by_class": {pattern: number for number, pattern in enumerate(PATTERNS)},
        "confusion": {
            label: {predicted: 7 if label == predicted else 3 for predicted in PATTERNS} for label in PATTERNS
        },
        "calibration_error": 0.0312,
    }
    parts = {"cross_validation": {"classifier": its, "rule": its}, "held_out": {"classifier": its, "annotator_b": its}}
    recipe = {"steps": 400, "stopped_at": 250}
    text = page({"seed": 5, "recipe": recipe, "temperature": 1.234, "texts": ["a", "b"], **parts})
    assert "| classifier | 0.912 [0.85, 0.96] | 0.800 [0.70, 0.90] | 0.75 | 0.75 | 0.75 | 0.75 | 0.75 |" in text
    assert ("| rule |" in text, "| annotator B |" in text, "| annotator A |" in text) == (True, True, False)
    assert "| vertical + diagonal | 3 | 3 | 7 | 3 | 3 |" in text
    assert "F1 heterogeneous (4)" in text
    assert "macro-F1 is over vertical, vertical + diagonal, " in text
    assert "stop after 250 batches" in text and "Seed 5;\nsteps 400." in text
    assert "1.23" in text and "0.031 (cross-validation) and 0.031 (held out)" in text


def test_folders_that_cannot_be_trained_on_are_told_in_one_line(tmp_path: Path) -> None:
    few = folder(tmp_path / "few", 3)
    for maps, said in ((tmp_path, "has no labels.jsonl"), (few, "3 labelled maps are too few to train on")):
        result = invoke("train", str(maps), "-o", str(tmp_path / "out"))
        assert result.exit_code == 2
        assert said in result.stderr
        assert result.stderr.strip().count("\n") == 0
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.studies.patterns.training.model_card.page", lambda card: "")
    (tmp_path / "file").touch()
    with pytest.raises(HeadscopeError, match=r"cannot be written: .*; choose another folder with -o"):
        write_classifier(tmp_path / "file", Classifier())


def test_an_interrupted_write_leaves_the_old_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maps, out = folder(tmp_path / "maps"), tmp_path / "out"
    assert invoke("train", str(maps), "-o", str(out)).exit_code == 0
    before = load(out / "weights.safetensors").of_cells.weight.clone()

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("headscope.storage.files.os.replace", full)
    result = invoke("train", str(maps), "-o", str(out), "--seed", "4")
    assert result.exit_code == 2
    assert "no space left on the disk; make room or choose another folder" in result.stderr
    torch.testing.assert_close(load.__wrapped__(out / "weights.safetensors").of_cells.weight, before)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    maps = folder(tmp_path / "maps")
    with run_lock(tmp_path / "out", "headscope patterns"):
        result = invoke("train", str(maps), "-o", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "out' is in use by headscope patterns, process" in result.stderr


def test_what_a_killed_server_left_is_removed_but_for_that_of_another_annotator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps = folder(tmp_path / "maps")
    for name in (".labels.jsonl.new-abc", ".labels-ann.jsonl.new-abc"):
        (maps / name).mkdir()
        (maps / name / "labels.jsonl").write_text("torn")
    monkeypatch.setitem(vars(labels), "serve", lambda *_: None)
    assert invoke("label", str(maps)).exit_code == 0
    assert {path.name for path in maps.iterdir()} == {"maps.npz", "labels.jsonl", ".labels-ann.jsonl.new-abc"}


def test_one_annotator_labels_in_one_run_and_two_annotators_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps = folder(tmp_path / "maps")
    inner: list[Result] = []

    def serve(session: Session, port: int, say: object) -> None:
        if session.path.name == "labels.jsonl":
            inner.extend([invoke("label", str(maps)), invoke("label", str(maps), "--annotator", "ann")])

    monkeypatch.setitem(vars(labels), "serve", serve)
    assert invoke("label", str(maps)).exit_code == 0
    same, other = inner
    assert same.exit_code == 2 and "maps' is in use by headscope patterns label, process" in same.stderr
    assert other.exit_code == 0 and "labels-ann.jsonl" in other.stdout
    assert {path.name for path in maps.iterdir()} == {"maps.npz", "labels.jsonl"}, "no lock is left"
