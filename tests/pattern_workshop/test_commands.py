"""The commands: what training writes is read again, its page says the scores, and bad folders are told of."""

import json
from pathlib import Path

import numpy as np
import pytest

from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.classifier import load
from headscope.studies.heads.patterns.commands import evaluate
from headscope.studies.heads.patterns.labelled_maps import Map
from pattern_workshop import __main__ as workshop
from pattern_workshop import server
from pattern_workshop.annotators import Session
from pattern_workshop.curriculum import ClassifierRecipe
from pattern_workshop.model_card import page
from pattern_workshop.written_maps import write
from support.planted_maps import planted
from support.tiny import save_tiny

pytestmark = pytest.mark.thorough

TINY = ClassifierRecipe(
    synthetic=20, first_steps=1, first_batch=5, views=1, real=6, made=2, steps=2, check=1, patience=1
)


Printed = pytest.CaptureFixture[str]


def refused(capsys: Printed, *words: str) -> str:
    """What a command that ends with status 2 says."""
    with pytest.raises(SystemExit) as end:
        workshop.main([*words])
    assert end.value.code == 2
    return capsys.readouterr().err


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
    monkeypatch.setattr(workshop, "RECIPE", TINY)


def test_what_the_command_writes_can_be_used(tmp_path: Path, capsys: Printed) -> None:
    maps, out = folder(tmp_path / "maps"), tmp_path / "out"
    workshop.main(["train", str(maps), "-o", str(out), "--seed", "3"])
    printed = json.loads(capsys.readouterr().out)
    assert {path.name for path in out.iterdir()} == {"weights.safetensors", "MODEL_CARD.md"}
    card = load(out / "weights.safetensors").card
    assert (card["seed"], card["recipe"]["synthetic"]) == (3, 20)
    assert printed["weights.safetensors"] == str(out / "weights.safetensors")
    assert printed["held_out"]["classifier"]["accuracy"] == card["held_out"]["classifier"]["accuracy"]
    assert (out / "MODEL_CARD.md").read_text(encoding="utf-8") == page(card)
    scored = evaluate(maps, out / "weights.safetensors")
    assert scored["not_trained_on"]["n"] == card["held_out"]["classifier"]["n"]


def test_folders_that_cannot_be_trained_on_are_told_in_one_line(tmp_path: Path, capsys: Printed) -> None:
    few = folder(tmp_path / "few", 3)
    for maps, said in ((tmp_path, "has no labels.jsonl"), (few, "3 labelled maps are too few to train on")):
        message = refused(capsys, "train", str(maps), "-o", str(tmp_path / "out"))
        assert said in message and message.strip().count("\n") == 0
    assert not (tmp_path / "out").exists()


def test_label_draws_maps_once_and_serves_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    served: list[tuple[Session, int]] = []
    monkeypatch.setattr(server, "serve", lambda session, port, say: served.append((session, port)))
    model, out = str(save_tiny(tmp_path / "model")), ("-o", str(tmp_path / "maps"))
    workshop.main(["label", model, "sample", "--port", "7", *out, "--number", "5", "--limit", "9"])
    path = str(tmp_path / "maps" / "labels.jsonl")
    assert json.loads(capsys.readouterr().out) == {"labels": path, "labelled": 0, "maps": 5}
    served[0][0].label(0, "block")
    workshop.main(["label", *out])
    assert json.loads(capsys.readouterr().out)["labelled"] == 1
    assert [port for _, port in served] == [7, 0]
    assert "has no maps to label" in refused(capsys, "label", "-o", str(tmp_path / "none"))


def test_one_annotator_labels_in_one_run_and_two_annotators_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    maps = folder(tmp_path / "maps")
    for name in (".labels.jsonl.new-abc", ".labels-ann.jsonl.new-abc"):
        (maps / name).mkdir()
        (maps / name / "labels.jsonl").write_text("torn")
    inner: list[str] = []

    def serve(session: Session, port: int, say: object) -> None:
        if session.path.name == "labels.jsonl":
            left = {path.name for path in maps.glob(".labels*.new-*")}
            inner.extend([*left, refused(capsys, "label", "-o", str(maps))])
            workshop.main(["label", "-o", str(maps), "--annotator", "ann"])

    monkeypatch.setattr(server, "serve", serve)
    workshop.main(["label", "-o", str(maps)])
    assert inner[0] == ".labels-ann.jsonl.new-abc" and ".labels.jsonl' is in use by pattern_workshop label" in inner[1]
    assert "labels-ann.jsonl" in capsys.readouterr().out
    assert {path.name for path in maps.iterdir()} == {"maps.npz", "labels.jsonl"}, "no lock is left"
