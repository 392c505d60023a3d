"""All ways to fine-tune: what they train, what they begin with, and that they learn."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headscope import HeadscopeError, Settings
from headscope.outputs.outputs import logits
from headscope.studies.training.finetune.table1 import TableRow
from headscope.training import InitialModel, RunRecord, TrainingRecipe, train
from headscope.training.beginning import Beginning, WayOptions, run_environment
from headscope.training.head_numbers import HeadNumbers
from headscope.training.loop import Epochs
from headscope.training.perturbed import RADIUS, PerturbedSet, climbed, length
from headscope.training.recorders import NormRecorder
from headscope.training.ways import begin, merged, way_names
from support.small_tasks import birds, tiny_folder
from support.tiers import in_turn
from support.tiny import save_tiny, tiny_gpt2

TASK = birds(8, 16)
RECIPE = TrainingRecipe(batch=8, epochs=1, learning_rate=1e-2, max_tokens=32)
WAYS = [way for way in way_names() if way != "pretrained"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_folder(tmp_path_factory.mktemp("tiny"), num_hidden_layers=2)


def started(folder: Path, scratch: Path, way: str, **options: Any) -> InitialModel:
    given = Beginning(
        environment=run_environment(str(folder), scratch), task=TASK, seed=0, recipe=RECIPE, settings=Settings(),
        folder=scratch, options=WayOptions(first_task=replace(TASK, name="first"), top_layers=1, rank=2, **options),
    )  # fmt: skip
    return begin(way, given)


def trained_names(start: InitialModel) -> set[str]:
    return {name for name, weight in start.network.named_parameters() if weight.requires_grad}


@pytest.mark.parametrize("way", in_turn(WAYS, of=2))
def test_only_what_a_way_trains_changes_and_costs_are_counted(way: str, folder: Path, tmp_path: Path) -> None:
    start = started(folder, tmp_path, way)
    before = {name: weight.detach().clone() for name, weight in start.network.named_parameters()}
    examples = TableRow(TASK, 32, start.model).examples
    ended = train(start, examples, RECIPE, Settings(), RunRecord(tmp_path), save=False)
    changed = {name for name, weight in start.network.named_parameters() if not torch.equal(weight, before[name])}
    assert changed and changed <= trained_names(start)
    assert {name for name in trained_names(start) if name.startswith("classifier")} <= changed
    assert int(ended.trained) == sum(before[name].numel() for name in trained_names(start))
    parameters = sum(weight.numel() for weight in before.values())
    assert int(ended.memory) > 4 * parameters + 12 * int(ended.trained) and float(ended.seconds) > 0
    assert np.isfinite(ended.outputs).all() and not list(tmp_path.glob("before"))


def test_seconds_are_those_of_all_steps_without_what_their_records_take(
    folder: Path, tmp_path: Path, clock: list[float]
) -> None:
    start = started(folder, tmp_path, "finetuned")

    def take(number: int) -> None:
        clock[0] += number

    class Slow(NormRecorder):
        def _norms(self, tensors: list) -> dict[str, list]:
            take(100)
            return super()._norms(tensors)

    start.network.register_forward_pre_hook(lambda module, _: take(1 if module.training else 0))
    recipe, examples = replace(RECIPE, epochs=3), TableRow(TASK, 32, start.model).examples
    epochs = Epochs(None, lambda: None, [Slow(start.network)])
    ended = train(start, examples, recipe, Settings(), RunRecord(tmp_path), save=False, epochs=epochs)
    assert float(ended.seconds) == 6 and clock[0] > 1_800


def test_ways_train_few_or_all_weights(folder: Path, tmp_path: Path) -> None:
    names = {way: trained_names(started(folder, tmp_path / way, way)) for way in ("frozen", "last_layers", "finetuned")}
    assert names["frozen"] == {"classifier.weight", "classifier.bias"}
    lower = {name for name in names["finetuned"] if "layer.0." in name or "embeddings" in name}
    assert names["finetuned"] - names["last_layers"] == lower != set()
    with pytest.raises(HeadscopeError, match="top layers 3: the model has 2"):
        given = Beginning(
            environment=run_environment(str(folder), tmp_path), task=TASK, seed=0, recipe=RECIPE, settings=Settings(),
            folder=tmp_path, options=WayOptions(top_layers=3),
        )  # fmt: skip
        begin("last_layers", given)


@pytest.mark.parametrize("way", ["adapters", "lora"])
def test_small_updates_begin_with_the_outputs_of_the_model(way: str, folder: Path, tmp_path: Path) -> None:
    plain, start = started(folder, tmp_path / "plain", "finetuned"), started(folder, tmp_path / way, way)
    inputs = TableRow(TASK, 32, plain.model).dev.inputs
    for network in (plain.network, start.network):
        network.eval()
    np.testing.assert_allclose(logits(start.model, inputs), logits(plain.model, inputs), atol=1e-6)


def test_kept_lora_is_an_ordinary_model_with_the_same_outputs(folder: Path, tmp_path: Path) -> None:
    start = started(folder, tmp_path, "lora")
    with torch.no_grad():
        for name, weight in start.network.named_parameters():
            if "lora_B" in name:
                weight.normal_()
    start.network.eval()
    inputs = TableRow(TASK, 32, start.model).dev.inputs
    plain = replace(start, network=merged(start.network).eval())
    np.testing.assert_allclose(logits(plain.model, inputs), logits(start.model, inputs), atol=1e-5)
    expected = {name for name, _ in started(folder, tmp_path / "plain", "finetuned").network.named_parameters()}
    assert {name for name, _ in plain.network.named_parameters()} == expected


def test_a_mix_of_the_last_layer_alone_is_the_plain_model(folder: Path, tmp_path: Path) -> None:
    plain, start = started(folder, tmp_path / "plain", "finetuned"), started(folder, tmp_path / "mix", "mix")
    with torch.no_grad():
        start.network.layer_mix.weight.copy_(torch.tensor([-50.0, 50.0]))  # type: ignore[union-attr, operator]
    inputs = TableRow(TASK, 32, plain.model).dev.inputs
    for network in (plain.network, start.network):
        network.eval()
    np.testing.assert_allclose(logits(start.model, inputs), logits(plain.model, inputs), atol=1e-6)


def test_reading_attention_leaves_no_layers_to_the_next_pass_of_a_mix(folder: Path, tmp_path: Path) -> None:
    start = started(folder, tmp_path, "mix")
    start.network.eval()
    row = TableRow(TASK, 32, start.model)
    before = logits(start.model, row.dev.inputs)
    numbers = HeadNumbers(start.model, TASK, row.examples, Settings(batch_tokens=16), 4)
    np.testing.assert_array_equal(logits(start.model, row.dev.inputs), before)
    np.testing.assert_allclose(numbers.measured()["similarity"], 1, atol=1e-5)


def test_the_upper_half_of_stacked_layers_is_the_lower_one(folder: Path, tmp_path: Path) -> None:
    network: Any = started(folder, tmp_path, "stacked").network
    layers = network.base_model.encoder.layer
    for one, other in zip(layers[0].parameters(), layers[1].parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_layer_that_reads_cls_of_a_centred_model_gets_nothing_but_its_bias_on_average(
    folder: Path, tmp_path: Path
) -> None:
    start, plain = (started(folder, tmp_path / way, way) for way in ("centred", "finetuned"))
    outputs: list[torch.Tensor] = []
    dense: Any = start.network.base_model.pooler.dense  # type: ignore[union-attr]
    dense.register_forward_hook(lambda module, _, output: outputs.append(output))
    inputs = TableRow(TASK, 32, start.model).examples.train.inputs
    for encoded in inputs:  # one by one, as no batch of the way is
        start.network(**{name: torch.from_numpy(values)[None] for name, values in encoded.inputs.items()})
    bias = plain.network.base_model.pooler.dense.bias  # type: ignore[union-attr]
    torch.testing.assert_close(torch.cat(outputs).mean(0), bias, atol=1e-5, rtol=1e-4)
    changed = {
        name
        for (name, weight), other in zip(start.network.named_parameters(), plain.network.parameters(), strict=True)
        if not torch.equal(weight, other)
    }
    assert changed == {"bert.pooler.dense.bias"}


def test_a_model_without_cls_cannot_be_centred(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "gpt2", tiny_gpt2())
    with pytest.raises(HeadscopeError, match="way 'centred': in model type 'gpt2' no layer reads"):
        started(folder, tmp_path / "run", "centred")


def test_perturbations_climb_and_stay_within_their_ball(folder: Path, tmp_path: Path) -> None:
    gradient, size = torch.randn(2, 3, 4), torch.tensor([2.0, 5.0])[:, None, None]
    added = torch.zeros(2, 3, 4)
    for _ in range(5):
        added = climbed(added, gradient, size)
    torch.testing.assert_close(length(added), RADIUS * size)
    start = started(folder, tmp_path, "perturbed")
    plain = TableRow(TASK, 32, start.model).examples.train
    start.network.eval()
    batch = plain.collate([plain[number] for number in range(4)], start.pad)
    assert PerturbedSet(plain).loss(start.network, batch).item() > plain.loss(start.network, batch).item()


def test_unknown_ways_and_a_missing_first_task_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=r"way 'lorra' is unknown; .*'lora'"):
        started(folder, tmp_path, "lorra")
    given = Beginning(
        environment=run_environment(str(folder), tmp_path), task=TASK, seed=0, recipe=RECIPE, settings=Settings(),
        folder=tmp_path,
    )  # fmt: skip
    with pytest.raises(HeadscopeError, match="needs the task of its first stage"):
        begin("two_stages", given)
