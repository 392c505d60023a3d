"""One pass over a corpus: the same numbers in whatever batches, blocks and shards, and nothing lost on Ctrl-C."""

from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

import headscope
from headscope import Model, Settings, catalog
from headscope.capture import observer
from headscope.corpora import Options, read
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.engine import fold, resampling_buffer
from headscope.engine.fold import Interrupted
from headscope.engine.resampling_buffer import Buffer
from headscope.statistics.bootstrap import Tally, merge
from support.tiny import tiny_bert, tiny_tokenizer

MEASURES: dict[str, ModuleType] = {name: catalog.load("measures", name) for name in catalog.names("measures")}
QUICK = Settings(resamples=20, batch_tokens=300)


@pytest.fixture(scope="module")
def model() -> Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


@pytest.fixture(scope="module")
def inputs(model: Model) -> list[Encoded]:
    return list(Words(model.tokenizer, model.max_tokens, "truncate").encode(read("sample", Options(limit=40))))


@pytest.fixture(scope="module")
def whole(model: Model, inputs: list[Encoded]) -> dict[str, Tally]:
    return fold(model, inputs, MEASURES, QUICK)


def assert_same(found: dict[str, Tally], expected: dict[str, Tally]) -> None:
    assert list(found) == list(expected)
    for name in expected:
        np.testing.assert_array_equal(found[name].count, expected[name].count, err_msg=name)
        np.testing.assert_allclose(found[name].mean, expected[name].mean, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(found[name].interval, expected[name].interval, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("batch_tokens", [1, 100, 4000])
def test_the_size_of_batches_changes_no_number(
    model: Model, inputs: list[Encoded], whole: dict[str, Tally], batch_tokens: int
) -> None:
    assert_same(fold(model, inputs, MEASURES, Settings(resamples=20, batch_tokens=batch_tokens)), whole)


def test_the_size_of_blocks_changes_no_number(
    model: Model, inputs: list[Encoded], whole: dict[str, Tally], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observer, "BLOCK_ELEMENTS", 1)
    monkeypatch.setattr(observer, "LEAST_ROWS", 7)
    assert_same(fold(model, inputs, MEASURES, QUICK), whole)


def test_shards_add_up_to_the_whole(model: Model, inputs: list[Encoded], whole: dict[str, Tally]) -> None:
    shards = [fold(model, inputs[start::3], MEASURES, QUICK) for start in range(3)]
    assert_same({name: merge(shard[name] for shard in shards) for name in MEASURES}, whole)


def test_values_are_tallied_a_few_at_a_time(
    model: Model, inputs: list[Encoded], whole: dict[str, Tally], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resampling_buffer, "TOGETHER", 5)
    assert_same(fold(model, inputs, MEASURES, QUICK), whole)


def test_heads_stand_in_a_row_layer_by_layer(model: Model, inputs: list[Encoded], whole: dict[str, Tally]) -> None:
    assert {len(tally.mean) for tally in whole.values()} == {sum(model.capture.heads)} == {12}


def test_progress_is_told_every_input_once(model: Model, inputs: list[Encoded]) -> None:
    told: list[int] = []
    fold(model, inputs, MEASURES, QUICK, lambda group: told.extend(each.index for each in group))
    assert sorted(told) == list(range(len(inputs)))


def test_no_inputs_have_no_tallies(model: Model) -> None:
    assert fold(model, [], MEASURES, QUICK) == {}


def test_ctrl_c_keeps_what_was_done(model: Model, inputs: list[Encoded]) -> None:
    done: list[Encoded] = []

    def stop_after_two(group: list[Encoded]) -> None:
        done.extend(group)
        if len(done) > len(group):
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        fold(model, inputs, MEASURES, QUICK, stop_after_two)
    assert 2 <= len(done) < len(inputs)
    assert_same(stopped.value.tallies, fold(model, done, MEASURES, QUICK))


def test_ctrl_c_while_values_are_tallied_counts_nothing_twice(
    model: Model, inputs: list[Encoded], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[Encoded] = []
    calls = iter(range(10**6))

    def interrupted_tally(*arguments):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return tally(*arguments)

    tally = resampling_buffer.tally
    monkeypatch.setattr(resampling_buffer, "TOGETHER", 5)
    monkeypatch.setattr(resampling_buffer, "tally", interrupted_tally)
    with pytest.raises(Interrupted) as stopped:
        fold(model, inputs, MEASURES, QUICK, done.extend)
    assert {int(each.count.max()) for each in stopped.value.tallies.values()} == {len(done)}
    assert_same(stopped.value.tallies, fold(model, done, MEASURES, QUICK))


def test_ctrl_c_while_the_corpus_is_read_keeps_what_was_done(model: Model, inputs: list[Encoded]) -> None:
    def stops() -> Iterator[Encoded]:
        yield from inputs[:5]
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        fold(model, stops(), MEASURES, QUICK)
    assert stopped.value.tallies == {}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_model_is_as_before_after_an_error_in_a_measure(inputs: list[Encoded], error: type[BaseException]) -> None:
    def fails(rows: object) -> torch.Tensor:
        raise error("broken measure")

    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    batch = {"input_ids": torch.from_numpy(inputs[0].inputs["input_ids"])[None]}
    before, implementation = model.network(**batch)[0], model.network.config._attn_implementation
    with pytest.raises(error):
        fold(model, inputs, {"broken": SimpleNamespace(observe=fails)}, QUICK)  # type: ignore[dict-item]
    assert model.network.config._attn_implementation == implementation
    assert not model.network._forward_pre_hooks and not model.network._forward_hooks
    assert torch.equal(model.network(**batch)[0], before)


def test_an_empty_buffer_has_no_tallies() -> None:
    assert Buffer(seed=0, resamples=5).flush() == {}
