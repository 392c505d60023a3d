"""Gates are trained together with the model: what does nothing is found, and a training that was killed goes on."""

import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from safetensors.torch import load_file

import headscope
from headscope import HeadscopeError, Settings
from headscope.outputs.size_and_speed import megabytes
from headscope.report.cards.head_numbers import numbers
from headscope.report.study_page import study_page
from headscope.studies.size.shrink import gate_training
from headscope.studies.size.shrink.gate_training import GatedSet, gated_examples, trained_gates
from headscope.studies.size.shrink.gates import TrainedGates, chosen, gate_shapes, smallest
from headscope.studies.size.shrink.judge import Judge, judge_of
from headscope.studies.size.shrink.original import Original, original_of
from headscope.studies.size.shrink.plan import SizeTarget
from headscope.studies.size.shrink.prices import ExpectedPrice, Prices, expected_price
from headscope.studies.size.shrink.texts import Splits, encode
from headscope.training.recipe import TrainingRecipe
from support.findings import texts_of
from support.idle_neurons import TEXTS, even, idle_halves
from support.killed import Killed, kill
from support.runs import shrink as run

QUICK = Settings(resamples=50)
PRICES = Prices(((1, 8),), 3, 4, (0.0,), (32, 16), ((3.0,), (2.25,)), (0.0,))
HALF = even((0, 1, 2), 16, 2)
# Of each layer what does something.
EVEN = ((0, 2),) * 3, (tuple(range(0, 32, 2)),) * 3
OPTIONS: dict[str, Any] = {"size": "0.06MB", "method": "gates", "epochs": 2, "parts": "neurons,heads,layers"}


@pytest.fixture(scope="module")
def original() -> Original:
    """An encoder in which half of the neurons and heads do nothing."""
    model = idle_halves()
    return original_of(model, encode(model, tuple(headscope.read(TEXTS))), QUICK)


def judging_by(original: Original) -> Judge:
    """Texts to train on, and twelve that choose."""
    training, stopping = (tuple(headscope.read(some)) for some in (TEXTS[:60], TEXTS[60:]))
    texts = Splits(training, stopping, (), ())
    return judge_of(original.model, None, texts, QUICK)


def price_of(original: Original) -> ExpectedPrice:
    """The price by bytes; the target is just met by half of the neurons and heads."""
    wanted = SizeTarget(None, megabytes(original.cut(HALF)) + 1e-6)
    return expected_price(PRICES, original, wanted)


@pytest.fixture(scope="module")
def trained(original: Original, tmp_path_factory: pytest.TempPathFactory) -> TrainedGates:
    """Gates that were trained to half of the parts."""
    recipe = TrainingRecipe(epochs=20, learning_rate=1e-4, batch=16, max_tokens=64)
    folder = tmp_path_factory.mktemp("gates")
    given = judging_by(original), original, recipe, folder
    return trained_gates(*given, price_of(original), 0.2)


@pytest.mark.always
def test_exactly_the_half_that_does_nothing_goes(original: Original, trained: TrainedGates) -> None:
    price = price_of(original)
    least = smallest(original, 12)
    size = chosen(trained.log_alphas, original, least, lambda some: price.of(some) <= 1)
    assert size == HALF and trained.excess == pytest.approx(1, abs=0.03)
    for kept in (original.kept(HALF), trained.original(original).kept(size)):
        assert (kept.heads, kept.neurons) == EVEN and kept.layers is None


def test_model_is_trained_together_with_its_gates(original: Original, trained: TrainedGates) -> None:
    before, after = (one.network.state_dict() for one in (original.model, trained.model))
    assert set(before) == set(after)  # no gate is left in it
    assert not torch.equal(before["layers.0.mlp.up_proj.weight"], after["layers.0.mlp.up_proj.weight"])


def test_wanted_price_falls_to_the_target_or_to_the_lowest(original: Original) -> None:
    begun = gated_examples(judging_by(original), gate_shapes(original), price_of(original), 0.5, 40).train

    def wanted(least: float, step: int) -> float:
        learned = replace(begun, least=least)
        learned.gates.done.fill_(step)
        return learned.wanted() * (learned.whole - 1) + 1  # as times the target

    before = megabytes(original.model) / price_of(original).target.megabytes  # type: ignore[operator]
    assert wanted(0.5, 0) == pytest.approx(before, rel=1e-5)
    assert wanted(0.5, 10) == pytest.approx((before + 1) / 2, rel=1e-5)
    assert wanted(0.5, 20) == wanted(0.5, 40) == pytest.approx(1)
    assert wanted(1.2, 30) == pytest.approx(1.2)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, xr.Dataset]:
    """A folder and its result."""
    folder = tmp_path_factory.mktemp("once")
    return folder, run(idle_halves(), headscope.read(TEXTS), QUICK, directory=folder, **OPTIONS)


@pytest.mark.always
def test_killed_training_goes_on_with_the_same_gates_and_weights(
    made: tuple[Path, xr.Dataset], tmp_path: Path, checkpoints: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, model, (folder, once) = headscope.read(TEXTS), idle_halves(), made
    with monkeypatch.context() as patch, pytest.raises(Killed):
        kill(patch, GatedSet, "loss", 4)
        run(model, texts, QUICK, directory=tmp_path, **OPTIONS)
    steps = [path.name for path in (tmp_path / ".headscope.shrink" / "gates").glob("step-*")]
    assert len(steps) == 1
    resumed: list[int] = []
    loss = GatedSet.loss
    monkeypatch.setattr(GatedSet, "loss", lambda self, *given: resumed.append(1) or loss(self, *given))
    again = run(model, texts, QUICK, directory=tmp_path, **OPTIONS)
    assert 0 < len(resumed) < json.loads(once.attrs["shrinking"])["gates"]["steps"]
    for name in ("head_gate", "layer_gate", "open_neurons", "head_stays", "path_score", "shrunk_score"):
        np.testing.assert_array_equal(once[name], again[name])
    weights = [load_file(one / "model" / "model.safetensors") for one in (folder, tmp_path)]
    assert all(torch.equal(weight, weights[1][name]) for name, weight in weights[0].items())


def test_result_says_what_gates_keep(made: tuple[Path, xr.Dataset]) -> None:
    _, result = made
    assert result["part"].values.tolist() == ["the whole model", "gates"]
    known = json.loads(result.attrs["shrinking"])
    assert known["megabytes"][1] <= 0.06 and known["method"] == "gates" and known["gates"]["epochs"] == 2
    assert result["head_stays"].sum("head").values.tolist() == result["layer_heads"].isel(step=1).values.tolist()
    assert "How gates chose" in texts_of(result)
    names = [figure.name for figure in study_page(result).figures()]
    assert "head_gate" in names and "layer_gate" in names
    table = numbers(result)
    said = [one.text for one in study_page(result).card().sentences(result, list(table.itertuples()))]
    assert len(said) == 12 and sum("stays in the smaller" in text for text in said) == int(result["head_stays"].sum())
    sections = [figure.section for figure in study_page(result).figures()]
    assert len([section for section, _ in groupby(sections)]) == len(set(sections)), "a section is not divided"


def test_target_out_of_reach_is_refused_before_any_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(monkeypatch, gate_training, "trained", 1)
    options: dict[str, Any] = OPTIONS | {"size": "0.001MB"}
    with pytest.raises(HeadscopeError, match=r"cannot be at most 0\.001 MB: .* or write it with --best-effort"):
        run(idle_halves(), headscope.read(TEXTS), QUICK, directory=tmp_path, **options)


def test_target_that_is_met_without_needs_no_gates(tmp_path: Path) -> None:
    options: dict[str, Any] = OPTIONS | {"size": "9MB", "epochs": 0}
    result = run(idle_halves(1), headscope.read(TEXTS), QUICK, directory=tmp_path, **options)
    assert "layer_gate" not in result and result.sizes["step"] == 1
