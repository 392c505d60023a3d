"""Training against a naive loop, killed and resumed, with what it keeps and what it refuses."""

import errno
import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, PreTrainedModel

import headscope
from headscope import HeadscopeError, Settings
from headscope.corpora.tasks import Task, score
from headscope.models.checkpoint import locate
from headscope.outputs.outputs import logits
from headscope.outputs.task_inputs import encode_for_task
from headscope.storage.hashes import add_digest
from headscope.studies.training.finetune.table1 import TableRow
from headscope.training import (
    InitialModel,
    RunRecord,
    TaskExamples,
    TrainedOutputs,
    TrainingRecipe,
    initial,
    train,
    trainer,
)
from headscope.training.dataset import LengthGrouped
from support.evil import evil
from support.killed import Killed, kill
from support.small_tasks import birds, counts, tiny_folder
from support.tiny import save_tiny, tiny_vocabulary
from support.tiny_families import SIZES, tiny_family

RECIPE = TrainingRecipe(batch=8, epochs=3, learning_rate=1e-2, max_tokens=32)
FEW = birds(n_train=24)  # three steps an epoch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_folder(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without dropout: nothing is drawn but the order of the batches."""
    nothing = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return tiny_folder(tmp_path_factory.mktemp("still"), **nothing)


def ready(folder: Path, task: Task, init: str = "finetuned") -> tuple[InitialModel, TaskExamples]:
    start = initial(locate(str(folder)), task, init, seed=0)
    return start, TableRow(task, RECIPE.max_tokens, start.model).examples


def run(
    folder: Path,
    where: Path,
    task: Task | None = None,
    recipe: TrainingRecipe = RECIPE,
    init: str = "finetuned",
    **given: Any,
) -> TrainedOutputs:
    task = task or FEW
    start, examples = ready(folder, task, init)
    record = RunRecord(where)
    record.open({"recipe": recipe.as_settings()})
    return train(start, examples, recipe, Settings(**given), record)


def naive(network: PreTrainedModel, examples: TaskExamples, recipe: TrainingRecipe) -> list[float]:
    """The losses of a plain loop: AdamW, no decay of biases and norms, a rate that rises and falls in lines."""
    decayed = [p for name, p in network.named_parameters() if not ("bias" in name or "LayerNorm" in name)]
    others = [p for name, p in network.named_parameters() if "bias" in name or "LayerNorm" in name]
    groups = [{"params": decayed, "weight_decay": recipe.weight_decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=recipe.learning_rate)
    batches = LengthGrouped([len(encoded) for encoded in examples.train.inputs], recipe.batch, seed=0)
    total, losses = recipe.epochs * len(batches), []
    rising = math.ceil(recipe.warmup * total)
    network.train()
    for epoch in range(recipe.epochs):
        batches.set_epoch(epoch)
        for group in batches:
            step = len(losses)
            share = step / rising if step < rising else (total - step) / (total - rising)
            for part in optimizer.param_groups:
                part["lr"] = recipe.learning_rate * share
            rows = [examples.train[number] for number in group]
            loss = network(**examples.train.collate(rows, pad=0)).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return losses


@pytest.mark.parametrize("task", [birds(), counts()], ids=["classes", "scores"])
def test_training_is_that_of_a_naive_loop(still: Path, tmp_path: Path, task: Task) -> None:
    recipe = replace(RECIPE, epochs=2, keep="last", learning_rate=1e-3)
    trained = run(still, tmp_path, task, recipe)
    start, examples = ready(still, task)
    losses = naive(start.network, examples, recipe)
    np.testing.assert_allclose(trained.train_loss, losses, atol=1e-5)
    stored = load_file(tmp_path / "model" / "model.safetensors")
    for name, weight in start.network.state_dict().items():
        if name.endswith("key.bias"):  # has no gradient but rounding, which Adam makes as large as any other
            continue
        torch.testing.assert_close(stored[name], weight, atol=1e-5, rtol=0)


def test_it_learns(folder: Path, tmp_path: Path) -> None:
    trained = run(folder, tmp_path, birds(24, 160), replace(RECIPE, learning_rate=2e-3), init="random")
    targets = birds().targets(birds().dev)
    assert score("accuracy", trained.outputs, targets) > 0.9
    assert trained.train_loss[-5:].mean() < trained.train_loss[:5].mean()


@pytest.fixture(scope="module")
def uninterrupted(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainedOutputs, Path]:
    """A run that nothing interrupts, without checkpoints."""
    where = tmp_path_factory.mktemp("whole")
    return run(folder, where, recipe=replace(RECIPE, keep="last")), where / "model" / "model.safetensors"


@pytest.mark.parametrize(
    ("name", "call"),
    [("keep_checkpoint", 1), ("keep_checkpoint", 3), ("keep_checkpoint", 5), ("save_outputs", 2), ("complete", 1)],
)
def test_interrupted_run_ends_with_the_same_weights(
    folder: Path,
    uninterrupted: tuple[TrainedOutputs, Path],
    tmp_path: Path,
    checkpoints: None,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    call: int,
) -> None:
    recipe = replace(RECIPE, keep="last")
    with monkeypatch.context() as patch:
        kill(patch, RunRecord, name, call)
        with pytest.raises(Killed):
            run(folder, tmp_path, recipe=recipe)
    steps: list[int] = []
    trained = run(folder, tmp_path, recipe=recipe, on_progress=steps.append)
    assert sum(steps) == 9
    if (name, call) != ("keep_checkpoint", 1):
        assert steps[0] > 0, "it began anew"
    for key, expected in without_seconds(uninterrupted[0]).items():
        np.testing.assert_array_equal(getattr(trained, key), expected)
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == uninterrupted[1].read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["digests", "model", "run.safetensors", "settings.json"]


def without_seconds(trained: TrainedOutputs) -> dict[str, Any]:
    """What is the same in all runs."""
    return {name: value for name, value in vars(trained).items() if name != "seconds"}


def test_checkpoints_are_read_without_unpickling(
    folder: Path, tmp_path: Path, checkpoints: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        kill(patch, RunRecord, "keep_checkpoint", 4)
        with pytest.raises(Killed):
            run(folder, tmp_path)
    load, safe = torch.load, []

    def watched(*args: Any, **keywords: Any) -> Any:
        safe.append(keywords.get("weights_only"))
        return load(*args, **keywords)

    (step,) = tmp_path.glob("step-*")
    for name, content in (
        ("optimizer.pt", evil(tmp_path / "ran")),
        ("model.safetensors", b"x"),
        ("rng_state.pth", b""),
    ):
        before = (step / name).read_bytes()
        (step / name).write_bytes(content)
        add_digest(step, step)
        with pytest.raises(HeadscopeError, match=r"'.*step-.' is damaged \(.*\); remove it, and start"):
            run(folder, tmp_path)
        (step / name).write_bytes(before)
    assert not (tmp_path / "ran").exists()
    monkeypatch.setattr(torch, "load", watched)
    run(folder, tmp_path)
    assert safe and all(one is True for one in safe)
    for name in ("run.safetensors", "settings.json"):
        (tmp_path / name).write_bytes(b"[1]")
        add_digest(tmp_path / name, tmp_path / name)
        with pytest.raises(HeadscopeError, match=f"'.*{name}' is damaged"):
            RunRecord(tmp_path).open({}) if name == "settings.json" else RunRecord(tmp_path).completed()


def test_a_flipped_bit_is_noticed_and_the_training_starts_anew(
    folder: Path, uninterrupted: tuple[TrainedOutputs, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, killed, random = replace(RECIPE, keep="last"), tmp_path / "killed", Random(0)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(trainer, "CHECKPOINT_SECONDS", 0.0)
        kill(patch, RunRecord, "keep_checkpoint", 5)
        run(folder, killed, recipe=recipe)
    files = [path.relative_to(killed) for path in killed.rglob("*") if path.is_file() and path.stat().st_size]
    assert {path.parts[0].partition("-")[0].partition(".")[0] for path in files} == {
        "checkpoint", "digests", "epoch", "model", "settings", "step",
    }  # fmt: skip
    for number, name in enumerate(files):
        copy, notices = tmp_path / str(number), list[str]()
        shutil.copytree(killed, copy)
        content = bytearray((copy / name).read_bytes())
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        (copy / name).write_bytes(content)
        RunRecord(copy).open({"recipe": recipe.as_settings()}, notices.append)
        if notices:
            assert len(notices) == 1 and re.fullmatch(r"'.*' is damaged; the training starts again", notices[0])
            assert sorted(path.name for path in copy.iterdir()) == ["digests", "settings.json"]
        else:
            assert name.parts[0].startswith(("digests", "checkpoint-"))
    trained = run(folder, tmp_path / "0", recipe=recipe)
    for key, expected in without_seconds(uninterrupted[0]).items():
        np.testing.assert_array_equal(getattr(trained, key), expected)


def scripted(monkeypatch: pytest.MonkeyPatch, task: Task, right: list[int]) -> list[torch.Tensor]:
    """After each epoch let the model answer so many dev examples right; gives its classifier after each."""
    targets, counted, seen = task.targets(task.dev).astype(int), iter(right), []

    def answer(model: Any, *_: object) -> np.ndarray:
        seen.append(model.network.classifier.weight.detach().clone())
        predicted = np.where(np.arange(len(targets)) < next(counted), targets, 1 - targets)
        return np.eye(2, dtype=np.float32)[predicted]

    monkeypatch.setattr("headscope.training.loop.dev_outputs", answer)
    return seen


@pytest.mark.parametrize(
    ("keep", "right", "kept"), [("best", [5, 9, 9], 1), ("best", [9, 5, 6], 0), ("last", [9, 5, 6], 2)]
)
def test_model_of_the_best_or_of_the_last_epoch_is_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: Any, right: list[int], kept: int
) -> None:
    seen = scripted(monkeypatch, birds(), right)
    trained = run(folder, tmp_path, recipe=replace(RECIPE, keep=keep))
    np.testing.assert_array_equal(trained.outputs, trained.epoch_outputs[kept])
    weight = load_file(tmp_path / "model" / "model.safetensors")["classifier.weight"]
    assert [torch.equal(weight, candidate) for candidate in seen] == [epoch == kept for epoch in range(3)]


@pytest.mark.parametrize("precision", ["no", "bf16"])
@pytest.mark.parametrize("task", [birds(), counts()], ids=["classes", "scores"])
def test_kept_model_is_an_ordinary_folder(folder: Path, tmp_path: Path, task: Task, precision: Any) -> None:
    trained = run(folder, tmp_path, task, replace(RECIPE, epochs=1, precision=precision))
    model = headscope.load(str(tmp_path / "model"), head=True)
    inputs, _ = encode_for_task(model, task.dev, RECIPE.max_tokens)
    np.testing.assert_allclose(logits(model, inputs), trained.outputs, atol=1e-5)
    network = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model")
    assert network.config.id2label == dict(enumerate(task.labels or ("score",)))
    assert {path.suffix for path in (tmp_path / "model").iterdir()} == {".json", ".safetensors"}


@pytest.mark.parametrize("kind", ["roberta", "modernbert", "deberta-v2", "gpt2"])
def test_models_of_other_types_are_trained_and_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setitem(SIZES, "vocab_size", len(tiny_vocabulary()))
    save_tiny(tmp_path / "start", tiny_family(kind))
    trained = run(tmp_path / "start", tmp_path / "run", birds(8, 16), replace(RECIPE, epochs=1))
    model = headscope.load(str(tmp_path / "run" / "model"), head=True)
    inputs, _ = encode_for_task(model, birds(8).dev, RECIPE.max_tokens)
    np.testing.assert_allclose(logits(model, inputs), trained.outputs, atol=1e-5)


def test_precision_of_a_run_is_its_own(
    folder: Path, uninterrupted: tuple[TrainedOutputs, Path], tmp_path: Path
) -> None:
    full, _ = uninterrupted
    mixed = run(folder, tmp_path / "mixed", recipe=replace(RECIPE, precision="bf16"))
    again = run(folder, tmp_path / "again", recipe=replace(RECIPE, keep="last"))
    np.testing.assert_array_equal(full.train_loss, again.train_loss)
    assert 0 < np.abs(mixed.train_loss - full.train_loss)[:3].max() < 0.02


def spoilt(start: InitialModel, at: int, steps: list[int]) -> Callable[[int], None]:
    """What counts steps in `steps`, and leaves no number in the classifier after so many."""

    def spoil(done: int) -> None:
        steps.append(done)
        if sum(steps) == at:
            with torch.no_grad():
                start.network.get_parameter("classifier.weight").fill_(torch.nan)

    return spoil


def test_loss_that_is_no_number_stops_at_once(folder: Path, tmp_path: Path) -> None:
    start, examples = ready(folder, birds())
    steps: list[int] = []
    with pytest.raises(HeadscopeError, match=r"the loss is nan at step 5; lower --learning-rate$"):
        train(start, examples, RECIPE, Settings(on_progress=spoilt(start, 4, steps)), RunRecord(tmp_path))
    assert sum(steps) == 4


def test_outputs_that_are_no_numbers_are_refused(folder: Path, tmp_path: Path) -> None:
    start, examples = ready(folder, birds())
    with pytest.raises(HeadscopeError, match="outputs after epoch 1 are not finite"):
        train(start, examples, RECIPE, Settings(on_progress=spoilt(start, 5, [])), RunRecord(tmp_path))
    assert not list(tmp_path.glob("epoch-*"))


def test_precision_needs_the_device(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="'fp16' needs a GPU; use bf16 or no"):
        run(folder, tmp_path, recipe=replace(RECIPE, precision="fp16"))


def full_disk(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def torn(*_: object, **__: object) -> None:
    """What torch raises."""
    raise RuntimeError(
        "[enforce fail at inline_container.cc:595] . PytorchStreamWriter failed: No space left on device"
    )


@pytest.mark.parametrize(
    ("target", "failing"),
    [
        ("transformers.modeling_utils.PreTrainedModel.save_pretrained", full_disk),
        ("torch.save", torn),
        ("headscope.training.run_record.save_file", full_disk),
    ],
)
def test_full_disk_is_said_and_the_run_goes_on_later(
    folder: Path,
    uninterrupted: tuple[TrainedOutputs, Path],
    tmp_path: Path,
    checkpoints: None,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    failing: Any,
) -> None:
    with monkeypatch.context() as patch, pytest.raises(HeadscopeError, match=r"no space left.*; make room") as raised:
        patch.setattr(target, failing)
        run(folder, tmp_path, recipe=replace(RECIPE, keep="last"))
    assert "\n" not in str(raised.value)
    left = {path.name.partition("-")[0].partition(".")[0] for path in tmp_path.iterdir()}
    assert left <= {"settings", "step", "epoch", "digests"}
    trained = run(folder, tmp_path, recipe=replace(RECIPE, keep="last"))
    np.testing.assert_array_equal(trained.outputs, uninterrupted[0].outputs)


def test_folder_of_another_run_is_refused(folder: Path, tmp_path: Path) -> None:
    RunRecord(tmp_path).open({"learning_rate": 1e-3, "seed": 0})
    RunRecord(tmp_path).open({"learning_rate": 1e-3, "seed": 0})
    with pytest.raises(HeadscopeError, match=r"holds a run with learning_rate 0\.001, now it is 0\.002"):
        RunRecord(tmp_path).open({"learning_rate": 2e-3, "seed": 0})
    assert json.loads((tmp_path / "settings.json").read_text()) == {"learning_rate": 1e-3, "seed": 0}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"precision": "int8"}, "precision 'int8' is unknown; use one of no, bf16, fp16"),
        ({"keep": "all"}, "keep 'all' is unknown; use one of best, last"),
        ({"batch": 0}, "batch 0 is too small"),
        ({"epochs": 0}, "epochs 0 is too small"),
        ({"learning_rate": 0.0}, "learning_rate 0.0 is out of range"),
        ({"learning_rate": math.nan}, "learning_rate nan is out of range"),
        ({"weight_decay": -1.0}, "weight_decay -1.0 is too small"),
        ({"warmup": 1.0}, "warmup 1.0 is not a fraction of the steps"),
    ],
)
def test_recipe_that_makes_no_sense_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(HeadscopeError, match=words):
        TrainingRecipe(**given)
