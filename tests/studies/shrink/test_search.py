"""The search takes the part that costs least for what it saves; targets, prices and the record of a search."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import LlamaConfig, LlamaForCausalLM

import headscope
from headscope import HeadscopeError, Settings
from headscope.models.head_slicing import sharing
from headscope.outputs.size_and_speed import megabytes, pass_seconds
from headscope.report.numbers import Numbers
from headscope.storage import codec
from headscope.storage.lines import line_of
from headscope.studies.size.shrink.gates import gate_shapes
from headscope.studies.size.shrink.highlights import cache
from headscope.studies.size.shrink.original import Original, original_of
from headscope.studies.size.shrink.plan import SizeTarget, parts_in, target
from headscope.studies.size.shrink.prices import Prices, measure, shapes_of
from headscope.studies.size.shrink.record import FORMAT, SearchRecord
from headscope.studies.size.shrink.search import SizeSearch, found_steps
from headscope.studies.size.shrink.texts import encode
from support.idle_neurons import even, judge_by_embeddings
from support.tiny import tiny_bert, tiny_network, tiny_tokenizer

QUIET = Settings()
TEXTS = ["The cat slept.", "He was not very old.", "She said it at night.", "A dog ran to the house."]
# Half of a layer's neurons save as much as a quarter of its time.
PRICES = Prices(((1, 8),), 3, 4, (0.0,), (32, 16), ((3.0,), (2.25,)), (0.0,))


@pytest.fixture(scope="module")
def original() -> Original:
    """A tiny model with its moments."""
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    return original_of(model, encode(model, tuple(headscope.read(TEXTS))), QUIET)


def search_of(original: Original, wanted: SizeTarget, settings: Settings = QUIET) -> SizeSearch:
    """A search over four texts, with made prices."""
    judge = judge_by_embeddings(original.model, settings)
    inputs = encode(original.model, tuple(headscope.read(TEXTS)))
    before = judge.outputs(original.model, inputs)
    return SizeSearch(original, judge, inputs, before, PRICES, wanted, 2)


def record(folder: Path, lines: list[str] | None = None, **run: str) -> SearchRecord:
    """A record in a folder."""
    return SearchRecord(folder / "search" / "search.json", dict(run), (lines if lines is not None else []).append)


def test_step_is_the_best_of_all_that_may_come_next(original: Original, tmp_path: Path) -> None:
    search = search_of(original, SizeTarget(2.0, None))
    start, *_ = steps = found_steps(search, record(tmp_path), None, best_effort=False)
    worth = {}
    for part, size in original.smaller(original.size, 2):
        after = search.judge.outputs(original.cut(size), search.inputs)
        cost = ((after - search.before) ** 2).sum() / ((search.before - search.before.mean(0)) ** 2).sum()
        worth[part] = (1 - PRICES.share(size, original.size)) / cost
    assert set(worth) == {"neurons", "layer 1", "layer 2", "layer 3"} and start.part == ""
    assert steps[1].part == max(worth, key=lambda part: worth[part])
    assert steps[-1].share <= 0.5 < steps[-2].share
    for step in steps:
        assert step.megabytes == pytest.approx(megabytes(original.cut(step.size)), rel=1e-9)
        after = search.judge.outputs(original.cut(step.size), search.inputs)
        cost = ((after - search.before) ** 2).sum() / ((search.before - search.before.mean(0)) ** 2).sum()
        assert step.change == pytest.approx(cost, abs=1e-5)


def test_saving_beyond_the_target_counts_for_nothing(original: Original, tmp_path: Path) -> None:
    search = search_of(original, SizeTarget(1.05, None))  # any part is enough
    steps, costs = found_steps(search, record(tmp_path), None, best_effort=False), {}
    for part, size in original.smaller(original.size, 2):
        after = search.judge.outputs(original.cut(size), search.inputs)
        costs[part] = ((after - search.before) ** 2).sum()
    assert len(steps) == 2 and steps[1].part == min(costs, key=lambda part: costs[part])


def test_killed_search_goes_on_with_the_same_steps(original: Original, tmp_path: Path) -> None:
    lines: list[str] = []
    search = search_of(original, SizeTarget(None, 0.045))
    expected = found_steps(search, record(tmp_path / "once"), None, best_effort=False)
    assert len(expected) > 2

    def stop(done: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped = replace(search, judge=replace(search.judge, settings=Settings(on_progress=stop)))
        found_steps(stopped, record(tmp_path), None, best_effort=False)
    stored = record(tmp_path, lines).read()
    assert stored is not None and len(stored.steps) == 2 and stored.prices == PRICES
    assert found_steps(search, record(tmp_path), stored, best_effort=False) == expected
    assert "1 steps are done by" in lines[0]


def test_record_of_another_run_and_a_damaged_one_are_not_read(original: Original, tmp_path: Path) -> None:
    lines: list[str] = []
    first = found_steps(
        search_of(original, SizeTarget(None, 0.06)), record(tmp_path, seed="0"), None, best_effort=False
    )
    path = tmp_path / "search" / "search.json"
    stored = record(tmp_path, seed="0").read()
    assert stored and stored.steps == first
    assert record(tmp_path, lines, seed="1").read() is None and "was begun with seed 0, now it is 1" in lines[-1]
    text = path.read_text()
    for damaged in (text[:-9], text.replace('"layers": 3', '"layers": 2'), text.partition("\n")[0] + "\n", "{}"):
        assert damaged != text
        path.write_text(damaged)
        assert record(tmp_path, lines, seed="0").read() is None and "is damaged" in lines[-1]
    lines_of_others = [line_of({"headscope": FORMAT, "run": {"seed": "0"}}), line_of({"state": {"prices": 1}})]
    path.write_bytes(b"".join(lines_of_others))
    assert record(tmp_path, lines, seed="0").read() is None and "is damaged; the search starts again" in lines[-1]
    record(tmp_path).remove()
    assert record(tmp_path, lines).read() is None and not path.parent.exists()


def test_target_out_of_reach_names_the_nearest(original: Original, tmp_path: Path) -> None:
    search = search_of(original, SizeTarget(50.0, None))
    with pytest.raises(HeadscopeError, match=r"cannot be 50 times as fast: the smallest .* is 4\.00 times as fast"):
        found_steps(search, record(tmp_path), None, best_effort=False)
    nearest = found_steps(search, record(tmp_path), None, best_effort=True)[-1]
    assert len(nearest.size.layers) == 1 and nearest.size.by_layer[0][0] == 16


BAD = [("fast", None), ("0.5", None), (None, "10 MB"), (None, "0MB"), ("9" * 9, None)]


@pytest.mark.parametrize(("speed", "size"), BAD)
def test_no_speed_and_no_size_are_refused(speed: str | None, size: str | None) -> None:
    with pytest.raises(HeadscopeError, match="write one like"):
        target(speed, size, 10)


def test_targets_in_units() -> None:
    assert target("2", "1.5GB", 10) == SizeTarget(2.0, 1500.0)
    assert target(None, "500KB", 10) == SizeTarget(None, 0.5)
    assert target("2x", "60%", 10) == SizeTarget(2.0, 6.0)


def test_prices_between_timed_widths_are_interpolated() -> None:
    assert PRICES.seconds(even((0, 1, 2), 24, 4))[0] == pytest.approx(2.625)
    assert PRICES.seconds(even((1,), 16, 4))[0] == pytest.approx(0.75)


def test_measured_prices_never_rise_as_a_model_gets_narrower(original: Original) -> None:
    prices = measure(original, ((1, 8), (4, 16)))
    seconds = np.array([prices.seconds(even((0, 1, 2), width, 4)) for width in (32, 21, 11, 3)])
    assert (np.diff(seconds, axis=0) <= 0).all() and (seconds > 0).all()
    assert (prices.seconds(even((0,), 32, 4)) <= seconds[0]).all()
    assert codec.decode(json.loads(json.dumps(codec.encode(prices))), Prices) == prices


def test_shapes_are_all_batches_with_all_lengths() -> None:
    assert shapes_of([4, 6, 8, 30], 20) == ((1, 7), (1, 20), (32, 7), (32, 20))


def test_only_the_named_parts_go(original: Original, tmp_path: Path) -> None:
    layers = replace(original, kinds=parts_in("layers"))
    assert [part for part, _ in layers.smaller(layers.size, 2)] == ["layer 1", "layer 2", "layer 3"]
    found = found_steps(search_of(layers, SizeTarget(1.2, None)), record(tmp_path), None, best_effort=True)
    assert len(found) > 1 and {step.part.split()[0] for step in found[1:]} == {"layer"}
    with pytest.raises(HeadscopeError, match="without layers that its class can hold"):
        found_steps(search_of(layers, SizeTarget(9.0, None)), record(tmp_path / "far"), None, best_effort=False)
    with pytest.raises(HeadscopeError, match="part 'layer' is unknown; did you mean 'layers'"):
        parts_in("neurons,layer")


def test_a_size_has_a_share_although_timings_give_it_none() -> None:
    prices, size = replace(PRICES, of_width=((3.0,), (0.0,))), even((0, 1, 2), 32, 4)
    assert prices.share(replace(size, neurons=(16,) * 3), size) == 0.001
    assert prices.share(size, size) == 1.0


def test_heads_that_cannot_go_are_named_with_the_reason() -> None:
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    reason = "its class has no width of heads"
    with pytest.raises(HeadscopeError, match=f"can lose no heads: {reason}.*name other parts by --parts"):
        original_of(model, [], QUIET, ("heads",))


@pytest.mark.parametrize("fine", [False, True])
def test_of_a_decoder_whole_kv_heads_go_with_the_heads_that_share_them(fine: bool) -> None:
    sizes: dict[str, Any] = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 6, "head_dim": 4}
    sizes |= {"num_key_value_heads": 3, "intermediate_size": 32, "vocab_size": len(tiny_tokenizer())}
    model = headscope.wrap(tiny_network(LlamaConfig(**sizes), kind=LlamaForCausalLM), tiny_tokenizer())
    with torch.no_grad():
        for layer, gone in enumerate((slice(8, 16), slice(0, 8))):  # of each layer two heads that add nothing
            weights: Any = model.projections[layer].output
            weights.weight[:, gone] = 0
    original = original_of(model, encode(model, tuple(headscope.read(TEXTS[:4]))), QUIET, ("heads",), fine=fine)
    reached, size = {original.size}, original.size
    while steps := [smaller for part, smaller in original.smaller(size, 4) if part.startswith("heads")]:
        reached.add(size := steps[0])
    assert {number for size in reached for number in size.heads} == {2, 4, 6}
    smaller = original.cut(once := original.size.with_numbers((0, 1), heads=4))
    assert original.kept(once).heads == ((0, 1, 4, 5), (2, 3, 4, 5))
    assert smaller.capture.heads == (4, 4) and sharing(smaller) == 2
    assert original.cache(original.size) == 2 * 3 * 4 * 4 and original.cache(once) == 2 * 2 * 4 * 4
    assert not gate_shapes(original)
    rows = list[int]()
    model.network.lm_head.register_forward_pre_hook(lambda head, states: rows.append(states[0].shape[1]))
    assert pass_seconds(model, torch.full((2, 8), 5)) > 0 and rows == [1]  # not the logits of all tokens


@pytest.mark.parametrize(("sizes", "said"), [([96, 96], ""), ([192, 96], "take 96 bytes, not 192")])
def test_what_a_decoder_keeps_of_a_token_is_said_if_it_falls(sizes: list[int], said: str) -> None:
    result = xr.Dataset({"cache": ("step", sizes)})
    assert said in cache(Numbers(result)) and bool(cache(Numbers(result))) == bool(said)
