"""`shrink --fine`: what does nothing is found by layer, the folder is that of the result, a killed run goes on."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from safetensors.torch import load_file

import headscope
from headscope import Settings, load
from headscope.models.removable_parts import parts_of
from headscope.outputs.size_and_speed import megabytes
from headscope.report.study_page import study_page
from headscope.storage import codec
from headscope.studies.size.shrink.choices import other_choices
from headscope.studies.size.shrink.gates import TrainedGates, chosen, gate_shapes, opened, smallest
from headscope.studies.size.shrink.held_out import heads_that_stay
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.original import Original, original_of
from headscope.studies.size.shrink.plan import Size, SizeTarget
from headscope.studies.size.shrink.prices import Prices, expected_price, measure
from headscope.studies.size.shrink.record import SearchRecord
from headscope.studies.size.shrink.search import SizeSearch, found_steps
from headscope.studies.size.shrink.texts import encode
from headscope.studies.size.shrink.verification import verified
from support.findings import all_texts_of
from support.idle_neurons import TEXTS, idle_by_layer, idle_halves, judge_by_embeddings
from support.killed import Killed, kill
from support.runs import shrink as run
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

QUICK = Settings(resamples=20)
PRICES = Prices(((1, 8),), 3, 4, (0.3,), (32, 16, 0), ((3.0,), (2.4,), (2.1,)), (0.05,))
OPTIONS: dict[str, Any] = {"size": "0.06MB", "fine": True, "groups": 2, "epochs": 1}
OPTIONS |= {"parts": "neurons,heads,layers"}


@pytest.fixture(scope="module")
def original() -> Original:
    """An encoder of which half does nothing, in each layer another number of parts."""
    model, *_ = idle_by_layer()
    return original_of(model, encode(model, tuple(headscope.read(TEXTS[:8]))), QUICK, fine=True)


def search_of(original: Original, wanted: SizeTarget) -> SizeSearch:
    """A search over a few texts with made prices."""
    judge, model = judge_by_embeddings(original.model, QUICK), original.model
    inputs = encode(model, tuple(headscope.read(TEXTS[:6])))
    return SizeSearch(original, judge, inputs, judge.outputs(model, inputs), PRICES, wanted, 4)


@pytest.mark.always
def test_the_half_that_does_nothing_is_found_exactly_though_it_differs_by_layer(
    original: Original, tmp_path: Path
) -> None:
    _, neurons, heads = idle_by_layer()
    half = Size((0, 1, 2), tuple(map(len, neurons)), tuple(map(len, heads)))
    halved = replace(original, kinds=("neurons", "heads"))
    search = search_of(halved, SizeTarget(None, megabytes(original.cut(half)) + 1e-6))
    steps = found_steps(search, SearchRecord(tmp_path / "s" / "search.json", {}, print), None, best_effort=False)
    assert steps[-1].size == half and steps[-1].change < 1e-9
    kept = halved.kept(half)
    assert (kept.neurons, kept.heads) == (neurons, heads)


def test_next_sizes_are_groups_and_parts_of_single_layers(original: Original) -> None:
    parts = dict(original.smaller(Size((0, 2), (32, 32, 8), (1, 4, 0)), 4))
    assert parts["neurons of layer 1"].neurons == (24, 32, 8)
    assert parts["feed-forward part of layer 1"].neurons == (0, 32, 8)
    assert parts["feed-forward part of layer 3"].neurons == (32, 32, 0) and "neurons of layer 3" not in parts
    assert parts["layer 3"] == Size((0,), (32, 32, 32), (1, 4, 4))
    assert not any("heads" in part or "attention" in part or part == "layer 1" for part in parts)  # the last head stays
    start = dict(original.smaller(original.size, 4))
    assert len(start) == 3 * 5 and start["attention of layer 2"].heads == (4, 0, 4)
    size = start["attention of layer 2"]
    assert codec.decode(json.loads(json.dumps(codec.encode(size))), Size) == size


def test_price_is_the_sum_of_what_single_layers_cost(original: Original) -> None:
    size = Size((0, 2), (8, 32, 24), (0, 4, 3))
    by_hand = 0.3
    for neurons, heads in ((8, 0), (24, 3)):
        timed = {8: 2.25, 24: 2.7}[neurons]
        by_hand += (timed - 0.3) / 3 - (4 - heads) * 0.05
    assert PRICES.seconds(size)[0] == pytest.approx(by_hand)
    price = expected_price(PRICES, original, SizeTarget(None, 1.0))
    assert price.of(size) == pytest.approx(megabytes(original.cut(size)), rel=1e-9)


def test_measured_prices_fall_with_all_that_goes(original: Original) -> None:
    prices = measure(original, ((1, 8),))
    assert prices.widths[-1] == 0 and original.least_heads == 0
    seconds = prices.seconds(original.size)
    for _, size in original.smaller(original.size, 4):
        assert (prices.seconds(size) <= seconds + 1e-12).all()


def test_fits_of_other_layers_are_kept(original: Original) -> None:
    first, second = Size((0, 1, 2), (8, 16, 32), (4, 4, 4)), Size((0, 1, 2), (8, 8, 32), (4, 4, 4))
    once = original.cut(first).network.state_dict()
    again, twice = original.cut(second).network.state_dict(), original.cut(first).network.state_dict()
    name = "encoder.layer.{}.output.dense.weight".format
    np.testing.assert_array_equal(once[name(0)], again[name(0)])
    assert all(np.array_equal(weight, twice[key]) for key, weight in once.items())


def test_a_layer_without_neurons_has_their_mean_output(original: Original) -> None:
    judge = judge_by_embeddings(original.model, QUICK)
    inputs = encode(original.model, tuple(headscope.read(TEXTS[:8])))
    smaller = original.cut(Size((0, 1, 2), (32, 32, 0), (4, 4, 4)))
    network: Any = original.model.network
    weight = network.encoder.layer[2].output.dense
    seen: list[np.ndarray] = []
    handle = weight.register_forward_hook(lambda module, args, output: seen.append(output.detach().numpy()))
    lengths = [len(one) for one in inputs]
    judge.outputs(original.model, inputs)
    handle.remove()
    rows = np.concatenate([row[:length] for batch in seen for row, length in zip(batch, sorted(lengths), strict=False)])
    network = smaller.network
    bias = network.encoder.layer[2].output.dense.bias.detach().numpy()
    np.testing.assert_allclose(bias, rows.mean(0), atol=1e-5)


def test_gates_keep_what_is_open_in_each_layer(original: Original) -> None:
    random = np.random.default_rng(0)
    shapes = gate_shapes(original)
    assert shapes == {"layers": (3,), "neurons": (3, 32), "heads": (3, 4)}  # BERT's class can lose no head
    log_alphas = {kind: random.normal(size=shape) for kind, shape in shapes.items()}
    least = smallest(original, 4)
    assert least == Size((0,), (0, 0, 0), (1, 0, 0))
    size = opened(log_alphas, 0.0, original, least)
    for layer in range(3):
        assert (layer in size.layers) == (log_alphas["layers"][layer] > 0)
        if layer in size.layers:
            assert size.neurons[layer] == (log_alphas["neurons"][layer] > 0).sum()
            assert size.heads[layer] == (log_alphas["heads"][layer] > 0).sum()
    assert sum(heads for _, heads in opened(log_alphas, 9.0, original, least).by_layer) == 1
    price = expected_price(PRICES, original, SizeTarget(1.6, None))
    found = chosen(log_alphas, original, least, lambda some: price.of(some) <= 1)
    assert 0.8 < price.of(found) <= 1
    by_gates = TrainedGates(original.model, log_alphas, 1.0, {}).original(original)
    stays = heads_that_stay(original, found, by_gates.kept(found))
    for layer in range(3):
        largest = np.argsort(-log_alphas["heads"][layer])[: found.heads[layer] if layer in found.layers else 0]
        assert np.flatnonzero(stays[layer]).tolist() == sorted(largest)
    by_gates.cut(found)  # which compares it with the model whose closed parts are silenced


def test_other_choices_have_the_same_numbers(original: Original) -> None:
    size = Size((0, 2), (8, 32, 0), (1, 4, 3))
    for other in other_choices(original, size, 0):
        assert sorted(other.capture.heads) == [1, 3] and megabytes(other) == pytest.approx(
            megabytes(original.cut(size))
        )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, xr.Dataset]:
    """A folder and its result."""
    folder = tmp_path_factory.mktemp("fine")
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    return folder, run(model, headscope.read(TEXTS), QUICK, directory=folder, **OPTIONS)


def test_folder_is_that_of_the_result(made: tuple[Path, xr.Dataset]) -> None:
    folder, result = made
    model, corpus = headscope.wrap(tiny_bert(), tiny_tokenizer()), headscope.read(TEXTS)
    known = json.loads(result.attrs["shrinking"])
    assert known["reached"] and known["megabytes"][1] <= 0.06
    saved = load(str(folder / "model"))
    left = result["layer_heads"].isel(step=-1).values
    gone = [layer - 1 for layer in known["fine"]["removed_layers"]]
    assert saved.capture.heads == tuple(np.delete(left, gone).astype(int))
    assert (folder / "model" / "modeling_pruned.py").is_file() and not parts_of(model).heads
    found = verified(result, folder / "model", model, corpus, None, QUICK)
    assert found["same"]


def test_page_names_parts_of_layers_and_what_an_ordinary_model_costs(made: tuple[Path, xr.Dataset]) -> None:
    _, result = made
    said = all_texts_of(result)
    assert "by the code in its folder" in said["What was removed"] and "nan" not in " ".join(said.values())
    assert "The search for an ordinary model at the same target" in said["What an ordinary model costs"]
    known = json.loads(result.attrs["shrinking"])["portable"]
    assert known["reached"] and known["megabytes"] <= 0.06 and known["steps"] >= 1
    assert "portable_score" in result and "fine_gain" in result
    tables = {table.name: table for table in study_page(result).tables()}
    assert len(tables["steps"].rows) == result.sizes["step"]


def test_gain_beside_an_ordinary_model_is_the_difference_of_both(made: tuple[Path, xr.Dataset]) -> None:
    _, result = made
    metric = {"metric": "similarity_agreement"}
    fine = float(result["path_score"].isel(step=-1).sel(metric))
    assert float(result["fine_gain"]) == pytest.approx(fine - float(result["portable_score"].sel(metric)), abs=1e-6)


@pytest.mark.parametrize("killed", ["search", "portable"])
def test_a_search_that_was_killed_goes_on_with_the_same_result(
    made: tuple[Path, xr.Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: str
) -> None:
    folder, once = made
    model, texts = headscope.wrap(tiny_bert(), tiny_tokenizer()), headscope.read(TEXTS)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        if killed == "search":
            kill(patch, SizeSearch, "next", 2)
        else:
            kill(patch, Judge, "variables", 1)
        run(model, texts, QUICK, directory=tmp_path, **OPTIONS)
    kept = tmp_path / ".headscope.shrink"
    assert (kept / "portable.json").is_file() == (killed == "portable")
    again = run(model, texts, QUICK, directory=tmp_path, **OPTIONS)
    assert not kept.exists()
    for name in ("part", "path_score", "layer_heads", "layer_neurons", "shrunk_score", "portable_score", "fine_gain"):
        np.testing.assert_array_equal(once[name], again[name])
    weights = [load_file(one / "model" / "model.safetensors") for one in (folder, tmp_path)]
    assert all(np.array_equal(weight, weights[1][name]) for name, weight in weights[0].items())


def test_a_class_that_can_lose_heads_loses_them_in_single_layers_too() -> None:
    model = idle_halves()
    found = original_of(model, encode(model, tuple(headscope.read(TEXTS[:4]))), QUICK, fine=True)
    smaller = found.cut(Size((0, 1, 2), (32, 0, 5), (3, 0, 4)))
    assert smaller.capture.heads == (3, 0, 4)


def test_a_model_that_takes_no_empty_states_keeps_a_neuron_in_each_layer() -> None:
    model = headscope.wrap(tiny_gpt2(), tiny_tokenizer())
    found = original_of(model, encode(model, tuple(headscope.read(TEXTS[:4]))), QUICK, fine=True)
    assert found.least_neurons == 1
    assert measure(found, ((1, 8),)).widths[-1] >= 1
