"""`headscope verify` scores the saved model again, and notices one that has changed."""

import json
from inspect import signature
from pathlib import Path

import pytest
import torch
from transformers import AutoModel

import headscope
from headscope.front.cli.study import command
from headscope.outputs import size_and_speed
from headscope.studies.shrink.timing import Timing
from support.every_study import run
from support.tiny import save_tiny

QUICK = ("--size", "0.05MB", "--groups", "2", "--epochs", "1", "--batches", "1", "--tokens", "8", "--resamples", "20")


@pytest.fixture(scope="module")
def shrunk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the command wrote."""
    folder = tmp_path_factory.mktemp("verified")
    ended = run(
        "shrink", save_tiny(folder / "model"), "sample", "--limit", "40", *QUICK, out=folder / "out", page=False
    )
    assert ended.status == 0, ended.errors
    return folder / "out"


def test_saved_model_scores_as_its_result_says(shrunk: Path) -> None:
    ended = run("verify", shrunk, "--json")
    assert ended.status == 0, ended.errors
    found = json.loads(ended.output)
    assert found["same"] and found["parameters"][0] == found["parameters"][1]
    before, now = found["scores"]["similarity_agreement"]
    assert before == pytest.approx(now, abs=1e-6) and found["milliseconds"][0]["now"] > 0
    assert "similarity_agreement" in run("verify", shrunk).output


def test_a_model_that_has_changed_is_noticed(shrunk: Path) -> None:
    network = AutoModel.from_pretrained(shrunk / "model")
    with torch.no_grad():
        network.get_input_embeddings().weight.mul_(-1)
    network.save_pretrained(shrunk / "model")
    ended = run("verify", shrunk, "--json")
    assert ended.status == 1 and not json.loads(ended.output)["same"]


def test_result_of_another_study_is_refused(tmp_path: Path) -> None:
    words = ("profile", save_tiny(tmp_path / "model"), "sample", "--limit", "2", "--resamples", "5")
    assert run(*words, out=tmp_path / "out", page=False).status == 0
    ended = run("verify", tmp_path / "out")
    assert ended.status == 2 and "is of 'profile'; name a folder of 'shrink'" in ended.errors


def test_options_that_have_no_effect_are_not_offered() -> None:
    """The search is shared by processes of this machine, not by a cluster."""
    offered = set(signature(command("shrink")).parameters)
    assert {"batch_tokens", "workers"} <= offered and not {"engine", "address", "gpus_per_worker"} & offered


def test_times_are_taken_on_the_device_that_is_asked_for(shrunk: Path, tmp_path: Path) -> None:
    model, timed = headscope.load(str(shrunk / "model")), []
    on_meta = model.on("meta")
    assert model.on("cpu") is model and on_meta.device.type == "meta" and model.device.type == "cpu"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(size_and_speed, "pass_seconds", lambda model, ids: timed.append((model, ids.device)) or 1.0)
        Timing(((1, 4),), "meta").by_round([model], rounds=2)
    assert {(one.device.type, device.type) for one, device in timed} == {("meta", "meta")}
    ended = run("shrink", shrunk / "model", "sample", "--timed-on", "gpu", out=tmp_path, page=False)
    assert ended.status == 2 and "device 'gpu' is unknown; use one of" in ended.errors
