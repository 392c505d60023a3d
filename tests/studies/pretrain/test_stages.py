"""Ways of several objectives: which has which input in which epoch, and the loss of both."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headscope
from headscope import Settings
from headscope.errors import HeadscopeError
from headscope.studies.training.pretrain.plan import PlannedModel, PretrainingPlan, Schedule, Shape
from headscope.studies.training.pretrain.runs import PretrainingRun
from headscope.studies.training.pretrain.stages import StagedTrainingSet, named, refuse_few_epochs
from headscope.studies.training.pretrain.text import LabText, lab_text
from headscope.training import RunRecord
from support.claim_texts import repeated
from support.killed import Killed, kill
from support.small_tasks import tiny_folder
from support.tiny import tiny_tokenizer

EPOCHS = 5


@pytest.fixture(scope="module")
def text() -> LabText:
    return lab_text(tiny_tokenizer(), repeated(0, 60), PretrainingPlan(), 32, 0)


def run(text: LabText, way: str) -> PretrainingRun:
    recipe = Schedule(max_tokens=32, epochs=EPOCHS).recipe
    return PretrainingRun(PlannedModel(way, way, Shape(1, 2, 8)), 3, recipe, text, {}, Path("unused"))


def same(first: Any, second: Any) -> bool:
    """Whether two inputs are equal, and what is to be predicted of them."""
    return np.array_equal(first[0].inputs["input_ids"], second[0].inputs["input_ids"]) and np.array_equal(
        first[1], second[1]
    )


def test_each_stage_has_the_inputs_that_its_objective_has_by_itself(text: LabText) -> None:
    joined, tokens, words = (run(text, way).examples.train for way in ("tokens-then-words", "tokens", "words"))
    assert isinstance(joined, StagedTrainingSet) and len(joined) == len(tokens)
    for epoch in range(EPOCHS):
        for examples in (joined, tokens, words):
            examples.set_epoch(epoch)  # type: ignore[attr-defined]
        alone = tokens if epoch < 3 else words
        for index in range(len(joined)):
            number, example = joined[index]
            assert number == (0 if epoch < 3 else 1) and same(example, alone[index])


def test_a_replay_is_half_of_the_inputs_of_a_stage_and_none_before_it(text: LabText) -> None:
    joined: Any = run(text, "words-then-words+tokens").examples.train
    numbers = []
    for epoch in range(EPOCHS):
        joined.set_epoch(epoch)
        numbers.append([joined[index][0] for index in range(len(joined))])
    assert {number for epoch in numbers[:3] for number in epoch} == {0}
    assert np.mean(numbers[3:]) == pytest.approx(1.5, abs=0.25) and numbers[3] != numbers[4]


def test_the_loss_is_the_mean_of_both_by_their_inputs(text: LabText) -> None:
    planned = run(text, "next-sentence+sentence-order+permutation")
    start, joined = planned.start(), planned.examples.train
    network: Any = start.network.eval()
    group = [joined[index] for index in range(9)]
    losses = []
    with torch.no_grad():
        loss = joined.loss(network, joined.collate(group, start.pad))
        for number, objective in enumerate(joined.objectives):  # type: ignore[attr-defined]
            part = [example for other, example in group if other == number]
            losses.append(objective.loss(network, objective.collate(part, start.pad)).item() * len(part))
    assert loss.item() == pytest.approx(sum(losses) / 9, abs=1e-5)
    names = [name for name, _ in network.named_children()]
    assert names[-2:] == ["pair_head_as_it_is_another_text", "pair_head_as_it_is_turned_round"]
    assert start.ordinary is not None
    assert [name for name, _ in start.ordinary(network).named_children()] == names[:-2]


def test_it_is_judged_by_the_mask_of_the_last_objective(text: LabText) -> None:
    for way, mask in (("tokens-then-unk", "unk"), ("unk-then-tokens", "mask"), ("tokens-then-unk+tokens", "mask")):
        hidden = [encoded.inputs["input_ids"] for encoded in run(text, way).examples.dev]
        assert getattr(text.tokenizer, f"{mask}_token_id") in np.concatenate(hidden), way


def test_what_cannot_be_joined_is_refused() -> None:
    with pytest.raises(HeadscopeError, match="way 'word' is unknown; did you mean 'words'"):
        named("tokens-then-word")
    with pytest.raises(HeadscopeError, match=r"tokens of next-word see only what .* by itself"):
        named("tokens,tokens+next-word")
    with pytest.raises(HeadscopeError, match="has 2 stages of an epoch or more; use --epochs 2 or more"):
        refuse_few_epochs(["tokens", "tokens-then-words"], 1)
    refuse_few_epochs(["tokens-then-words"], 2)


def test_an_interrupted_run_ends_with_the_same_weights(
    tmp_path: Path, checkpoints: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, way = str(tiny_folder(tmp_path / "tiny", num_hidden_layers=1)), "tokens-then-tokens+next-sentence"
    given: dict[str, Any] = {"ways": way, "seeds": 1, "shapes": "1x2x8", "batch": 16, "epochs": 2, "max_tokens": 16}

    def pretrained(directory: Path) -> Any:
        settings = Settings(resamples=20)
        return headscope.pretrain(repeated(0, 80), settings, vocabulary=folder, directory=directory, **given)

    finished = pretrained(tmp_path / "finished")
    with monkeypatch.context() as patch:
        kill(patch, RunRecord, "keep_checkpoint", 7)
        with pytest.raises(Killed):
            pretrained(tmp_path / "killed")
    resumed = pretrained(tmp_path / "killed")
    assert resumed.drop_vars("train_seconds").equals(finished.drop_vars("train_seconds"))
    weights = [tmp_path / name / "models" / f"{way}-0" / "model.safetensors" for name in ("finished", "killed")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
