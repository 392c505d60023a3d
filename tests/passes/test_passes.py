"""One pass over a corpus: the same numbers in whatever batches, blocks and shards, and nothing lost on Ctrl-C."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, cycle, islice
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import headscope
from headscope import Model, Settings, catalog
from headscope.corpora import read
from headscope.corpora.corpus import part
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.passes import Pass, accumulators, batches
from headscope.passes.accumulators import Buffer
from headscope.passes.batches import by_length
from headscope.passes.observing import MeasureObserver
from headscope.statistics.bootstrap import Tally, merge
from support.passes import pass_over
from support.tiny import tiny_bert, tiny_tokenizer

MEASURES: dict[str, ModuleType] = {name: catalog.load("measures", name) for name in catalog.names("measures")}
QUICK = Settings(resamples=20, batch_tokens=300)
KEEPING = replace(QUICK, keep_interrupted=True)


@pytest.fixture(scope="module")
def model() -> Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


@pytest.fixture(scope="module")
def inputs(model: Model) -> list[Encoded]:
    no_pairs = part(read("sample"), np.arange(40))
    return list(Words(model.tokenizer, model.max_tokens, "truncate").encode(no_pairs))


def tallies_of(model: Model, inputs: Iterable[Encoded], settings: Settings = QUICK) -> dict[str, Tally]:
    return pass_over(model, inputs, settings).collect(MeasureObserver(MEASURES)).read().value


@pytest.fixture(scope="module")
def all_tallies(model: Model, inputs: list[Encoded]) -> dict[str, Tally]:
    return tallies_of(model, inputs)


def groups_of(inputs: list[Encoded], settings: Settings = QUICK) -> list[list[Encoded]]:
    return list(by_length(inputs, settings.batch_tokens, settings.seed))


def stopping_after(batches: int, keep: bool = True) -> Settings:
    """Settings of a pass that is interrupted after some batches."""
    numbers = iter(range(1, 1000))

    def stop(inputs: int) -> None:
        if next(numbers) == batches:
            raise KeyboardInterrupt

    return replace(QUICK, keep_interrupted=keep, on_progress=stop)


def assert_same(found: dict[str, Tally], expected: dict[str, Tally]) -> None:
    assert list(found) == list(expected)
    for name in expected:
        np.testing.assert_array_equal(found[name].count, expected[name].count, err_msg=name)
        np.testing.assert_allclose(found[name].mean, expected[name].mean, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(found[name].interval, expected[name].interval, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("batch_tokens", [1, 100, 4000])
def test_the_size_of_batches_changes_no_number(
    model: Model, inputs: list[Encoded], all_tallies: dict[str, Tally], batch_tokens: int
) -> None:
    assert_same(tallies_of(model, inputs, Settings(resamples=20, batch_tokens=batch_tokens)), all_tallies)


def test_shards_add_up_to_the_whole(model: Model, inputs: list[Encoded], all_tallies: dict[str, Tally]) -> None:
    shards = [tallies_of(model, inputs[start::3]) for start in range(3)]
    assert_same({name: merge(shard[name] for shard in shards) for name in MEASURES}, all_tallies)


def test_values_are_tallied_a_few_at_a_time(
    model: Model, inputs: list[Encoded], all_tallies: dict[str, Tally], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accumulators, "TOGETHER", 5)
    assert_same(tallies_of(model, inputs), all_tallies)


def test_heads_stand_in_a_row_by_layer(model: Model, inputs: list[Encoded], all_tallies: dict[str, Tally]) -> None:
    assert {len(tally.mean) for tally in all_tallies.values()} == {sum(model.capture.heads)} == {12}


def test_every_input_is_done_once(model: Model, inputs: list[Encoded]) -> None:
    done: list[int] = []
    tallies = tallies_of(model, inputs, replace(QUICK, on_progress=done.append))
    assert done == list(map(len, groups_of(inputs))) and sum(done) == len(inputs) == tallies["entropy"].count


def test_texts_that_are_left_out_count_as_done(model: Model) -> None:
    done: list[int] = []
    corpus = read(["the cat saw it", "the cat " * 2000, "a dog ran"])
    result = Pass(model, corpus, replace(QUICK, on_progress=done.append)).measure(["entropy"]).read()
    assert sum(done) == corpus.n_examples == 3 and result.coverage.inputs == 2


def test_a_pass_gathers_what_its_observer_returns(
    model: Model, inputs: list[Encoded], all_tallies: dict[str, Tally]
) -> None:
    class Indices(MeasureObserver):
        def finish(self) -> tuple[list[int], torch.Tensor]:  # type: ignore[override]
            return self.batch.index.tolist(), super().finish()["entropy"].values.double()

    result = pass_over(model, inputs, QUICK).gather(Indices(MEASURES)).read()
    indices, values = zip(*result.value, strict=True)
    assert [list(index) for index in indices] == [[encoded.index for encoded in group] for group in groups_of(inputs)]
    np.testing.assert_allclose(torch.cat(values).mean(0), all_tallies["entropy"].mean, atol=1e-5)


def test_a_result_has_coverage_and_attributes(model: Model) -> None:
    corpus = part(read("sample"), np.arange(3))
    result = Pass(model, corpus, QUICK).measure(["entropy"]).read()
    assert list(result.value) == ["entropy"] and result.coverage.inputs == 3
    assert result.attributes["n_tokens"] == result.coverage.tokens > 9
    assert list(result.attributes) == ["n_examples", "n_tokens", "resampled", "skipped", "duration_s"]


def test_no_inputs_are_refused(model: Model) -> None:
    with pytest.raises(HeadscopeError, match="none of its 0 examples fits"):
        tallies_of(model, [])


def test_ctrl_c_keeps_what_was_done(model: Model, inputs: list[Encoded]) -> None:
    done = list(chain(*groups_of(inputs)[:2]))
    result = pass_over(model, inputs, stopping_after(2)).collect(MeasureObserver(MEASURES)).read()
    assert result.coverage.inputs == len(done) < len(inputs)
    assert_same(result.value, tallies_of(model, done))


def test_ctrl_c_ends_a_pass_that_keeps_nothing(model: Model, inputs: list[Encoded]) -> None:
    def stops(rows: object) -> torch.Tensor:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tallies_of(model, inputs, stopping_after(2, keep=False))
    stopped: Any = {"stopped": SimpleNamespace(observe=stops)}
    with pytest.raises(KeyboardInterrupt):
        pass_over(model, inputs, KEEPING).collect(MeasureObserver(stopped)).read()


def test_ctrl_c_while_values_are_tallied_counts_nothing_twice(
    model: Model, inputs: list[Encoded], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []
    calls = iter(range(10**6))

    def interrupted_tally(*arguments):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return tally(*arguments)

    tally = accumulators.tally
    monkeypatch.setattr(accumulators, "TOGETHER", 5)
    monkeypatch.setattr(accumulators, "tally", interrupted_tally)
    result = (
        pass_over(model, inputs, replace(KEEPING, on_progress=done.append)).collect(MeasureObserver(MEASURES)).read()
    )
    counts = {int(tally.count.max()) for tally in result.value.values()}
    assert counts - {0} == {sum(done)} == {result.coverage.inputs}  # no example is a pair of sentences
    assert_same(result.value, tallies_of(model, list(chain(*groups_of(inputs)[: len(done)]))))


def test_ctrl_c_while_the_corpus_is_read_keeps_what_was_done(model: Model, inputs: list[Encoded]) -> None:
    def stops(number: int) -> Iterator[Encoded]:
        yield from islice(cycle(inputs), number)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tallies_of(model, stops(5), KEEPING)
    result = pass_over(model, stops(batches.WINDOW + 5), KEEPING).measure(["entropy"]).read()
    assert result.coverage.inputs == batches.WINDOW
    assert result.attributes["interrupted"] == f"after {batches.WINDOW} of 0 examples"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_model_is_as_before_after_an_error_in_a_measure(inputs: list[Encoded], error: type[BaseException]) -> None:
    def fails(rows: object) -> torch.Tensor:
        raise error("broken measure")

    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    batch = {"input_ids": torch.from_numpy(inputs[0].inputs["input_ids"])[None]}
    before, implementation = model.network(**batch)[0], model.network.config._attn_implementation
    with pytest.raises(HeadscopeError if error is ValueError else error, match="broken measure"):
        broken: Any = {"broken": SimpleNamespace(observe=fails, VARIABLE=SimpleNamespace(name="broken"))}
        pass_over(model, inputs, QUICK).collect(MeasureObserver(broken)).read()
    assert model.network.config._attn_implementation == implementation
    assert not model.network._forward_pre_hooks and not model.network._forward_hooks
    assert torch.equal(model.network(**batch)[0], before)


def test_an_empty_buffer_has_no_tallies() -> None:
    assert Buffer(seed=0, resamples=5).flush() == {}


def test_nothing_runs_that_follows_the_attention_of_the_last_layer(model: Model, inputs: list[Encoded]) -> None:
    network: Any = model.network
    ran: list[str] = []
    for name, module in {"first": network.encoder.layer[0].output, "last": network.encoder.layer[-1].output}.items():
        module.register_forward_hook(lambda *_, name=name: ran.append(name))
    tallies_of(model, inputs[:2])
    assert set(ran) == {"first"}
    with torch.inference_mode():
        network(**batches.collator(model)(inputs[:2]).inputs)
    assert set(ran) == {"first", "last"}


def test_a_layer_whose_attention_was_not_seen_is_an_error(
    model: Model, inputs: list[Encoded], monkeypatch: pytest.MonkeyPatch
) -> None:
    network: Any = model.network
    monkeypatch.setattr(network.encoder, "layer", network.encoder.layer[:-1])
    with pytest.raises(RuntimeError, match=r"2 attention calls in a forward pass, expected 3"):
        tallies_of(model, inputs[:2])
