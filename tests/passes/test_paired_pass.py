"""One pass of several models: the numbers of passes of their own, in whatever batches, and nothing kept."""

import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain, islice
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

import headscope
from headscope import Model, Settings, catalog
from headscope.corpora import Options, read
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.passes import paired_pass
from headscope.passes.batches import by_length
from headscope.passes.observing import MeasureObserver
from headscope.passes.paired_pass import fold_pairs, lockstep
from headscope.statistics.bootstrap import Tally, merge
from support.killed import CtrlC
from support.passes import pass_over
from support.tiny import tiny_bert, tiny_network, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_config

MEASURES: dict[str, ModuleType] = {name: catalog.load("measures", name) for name in catalog.names("measures")}
COMPARISONS = {name: catalog.load("measures/comparisons", name) for name in ("similarity", "js_divergence")}
QUICK = Settings(resamples=20, batch_tokens=300)
Modules = Mapping[str, ModuleType]
# 16 steps of float32 at an entropy of 3.4 nats. Other batches and passes round otherwise: differences of entropies are
# commonly 7.5e-7 apart, and have been 1.04e-6.
ROUNDING = 4e-6


@pytest.fixture(scope="module")
def models() -> list[Model]:
    return [headscope.wrap(tiny_bert(seed), tiny_tokenizer(), f"seed {seed}") for seed in range(3)]


@pytest.fixture(scope="module")
def inputs(models: list[Model]) -> list[Encoded]:
    words = Words(models[0].tokenizer, models[0].max_tokens, "truncate")
    return list(words.encode(read("sample", Options(limit=40))))


def paired(
    models: list[Model],
    inputs: list[Encoded],
    measures: Modules = MEASURES,
    comparisons: Modules = COMPARISONS,
    settings: Settings = QUICK,
    pad_to: int = 0,
) -> dict[str, Tally]:
    return fold_pairs(pass_over(models[0], inputs, settings, pad_to), models[1:], measures, comparisons).value


@pytest.fixture(scope="module")
def all_tallies(models: list[Model], inputs: list[Encoded]) -> dict[str, Tally]:
    return paired(models, inputs)


def assert_same(found: dict[str, Tally], expected: dict[str, Tally]) -> None:
    assert list(found) == list(expected)
    for name in expected:
        np.testing.assert_array_equal(found[name].count, expected[name].count, err_msg=name)
        np.testing.assert_allclose(found[name].mean, expected[name].mean, atol=ROUNDING, err_msg=name)
        np.testing.assert_allclose(found[name].interval, expected[name].interval, atol=ROUNDING, err_msg=name)


def test_everything_is_there_for_each_later_model(all_tallies: dict[str, Tally]) -> None:
    assert set(all_tallies) == {
        *COMPARISONS,
        *(f"layer_{name}" for name in COMPARISONS),
        *(f"difference_{name}" for name in MEASURES),
    }
    assert all_tallies["similarity"].mean.shape == (12, 2) and all_tallies["layer_similarity"].mean.shape == (3, 2)
    assert all_tallies["difference_attention_to"].mean.shape == (12, 2, 4)


@pytest.mark.parametrize("batch_tokens", [1, 4000])
def test_the_size_of_batches_changes_no_number(
    models: list[Model], inputs: list[Encoded], all_tallies: dict[str, Tally], batch_tokens: int
) -> None:
    settings = Settings(resamples=20, batch_tokens=batch_tokens)
    assert_same(paired(models, inputs, settings=settings), all_tallies)


def test_shards_add_up_to_the_whole(models: list[Model], inputs: list[Encoded], all_tallies: dict[str, Tally]) -> None:
    shards = [paired(models, inputs[start::3]) for start in range(3)]
    assert_same({name: merge(shard[name] for shard in shards) for name in all_tallies}, all_tallies)


def test_three_models_are_two_pairs(models: list[Model], inputs: list[Encoded], all_tallies: dict[str, Tally]) -> None:
    for index in (1, 2):
        pair = paired([models[0], models[index]], inputs)
        for name, tally in pair.items():
            np.testing.assert_allclose(
                tally.mean[:, 0], all_tallies[name].mean[:, index - 1], atol=ROUNDING, err_msg=name
            )
            np.testing.assert_allclose(tally.interval[:, 0], all_tallies[name].interval[:, index - 1], atol=ROUNDING)


def test_differences_are_those_of_profiles(
    models: list[Model], inputs: list[Encoded], all_tallies: dict[str, Tally]
) -> None:
    first, *later = [
        pass_over(model, inputs, QUICK).collect(MeasureObserver(MEASURES)).read().value for model in models
    ]
    for name in MEASURES:
        for number, tallies in enumerate(later):
            change = tallies[name].mean - first[name].mean
            np.testing.assert_allclose(
                all_tallies[f"difference_{name}"].mean[:, number], change, atol=ROUNDING, err_msg=name
            )
            np.testing.assert_array_equal(all_tallies[f"difference_{name}"].count[number], tallies[name].count)


def test_a_paired_interval_is_narrower_than_that_of_two_passes(inputs: list[Encoded]) -> None:
    one, other = (headscope.wrap(tiny_bert(), tiny_tokenizer()) for _ in range(2))
    with torch.no_grad():
        for parameter in other.network.parameters():
            parameter += 0.02 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    entropy = {"entropy": MEASURES["entropy"]}
    beside = paired([one, other], inputs, entropy, {}, Settings(resamples=400))["difference_entropy"]
    first, later = (
        pass_over(model, inputs, Settings(resamples=400, seed=seed)).measure(["entropy"]).read().value["entropy"]
        for seed, model in enumerate((one, other))
    )
    apart = [tally.resampled_total / tally.resampled_count[:, None] for tally in (first, later)]
    unpaired = np.quantile(apart[1] - apart[0], [0.025, 0.975], axis=0)
    width = (beside.interval[..., 1] - beside.interval[..., 0])[:, 0]
    assert np.median(width / (unpaired[1] - unpaired[0])) < 0.5
    assert (width > 0).all()


def test_a_copy_of_the_model_has_changed_nowhere(models: list[Model], inputs: list[Encoded]) -> None:
    same = headscope.wrap(tiny_bert(0), tiny_tokenizer())
    found = paired([models[0], same], inputs)
    np.testing.assert_allclose(found["similarity"].mean, 1, atol=1e-6)
    np.testing.assert_allclose(found["js_divergence"].mean, 0, atol=1e-6)
    for name in MEASURES:
        changes = found[f"difference_{name}"].mean
        np.testing.assert_array_equal(changes[~np.isnan(changes)], 0, err_msg=name)


@pytest.mark.parametrize("masks", ["the same", "others"])
def test_keys_that_no_query_sees_change_no_number(
    inputs: list[Encoded], masks: str, blocks_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks_of(5, 2**8)
    windows = (8, 8) if masks == "the same" else (8, 12)
    configs = [
        tiny_config("modernbert", local_attention=window, vocab_size=len(tiny_vocabulary())) for window in windows
    ]
    networks = [tiny_network(config, seed) for seed, config in enumerate(configs)]
    models = [headscope.wrap(network, tiny_tokenizer(), str(number)) for number, network in enumerate(networks)]
    cells = []

    def seen(*arguments, by_ranges: bool):
        for layer, rows in lockstep(*arguments, by_ranges=by_ranges):
            cells.append((by_ranges, rows[0].attention.numel()))
            yield layer, rows

    monkeypatch.setattr(paired_pass, "lockstep", seen)
    found = paired(models, inputs[:8])
    ranged, full = (sum(size for by_ranges, size in cells if by_ranges is kind) for kind in (True, False))
    cells.clear()
    monkeypatch.setattr(paired_pass, "lockstep", lambda *arguments, by_ranges: seen(*arguments, by_ranges=False))
    assert_same(found, paired(models, inputs[:8]))
    total = sum(size for _, size in cells)
    assert (0 < ranged < 0.8 * total and not full) if masks == "the same" else full == total


def test_layers_are_means_of_their_heads(all_tallies: dict[str, Tally]) -> None:
    heads = all_tallies["similarity"].mean.reshape(3, 4, 2)
    np.testing.assert_allclose(all_tallies["layer_similarity"].mean, heads.mean(1), atol=1e-6)
    heads_wide = np.ptp(all_tallies["similarity"].interval, axis=-1).reshape(3, 4, 2)
    layers_wide = np.ptp(all_tallies["layer_similarity"].interval, axis=-1)
    assert (layers_wide > 0).all() and (layers_wide < heads_wide.max(1)).all()


def test_inputs_can_be_padded_to_a_length(
    models: list[Model], inputs: list[Encoded], all_tallies: dict[str, Tally]
) -> None:
    lengths = []

    def look(one, other):
        lengths.append(one.batch.real.shape[1])
        return COMPARISONS["similarity"].observe(one, other)

    looking = SimpleNamespace(observe=look, finish=COMPARISONS["similarity"].finish)
    found = paired(models, inputs, {}, {"similarity": looking}, QUICK, pad_to=64)  # type: ignore[dict-item]
    assert set(lengths) == {64}
    np.testing.assert_allclose(found["similarity"].mean, all_tallies["similarity"].mean, atol=1e-6)


def test_no_map_is_kept(models: list[Model], inputs: list[Encoded]) -> None:
    maps: list[weakref.ref[torch.Tensor]] = []
    most = 0

    def look(*rows):
        nonlocal most
        maps.extend(weakref.ref(row.attention) for row in rows)
        most = max(most, sum(weak() is not None for weak in maps[-40:]))
        return COMPARISONS["similarity"].observe(*rows)

    def on_progress(done: int) -> None:
        assert not any(weak() is not None for weak in maps)

    looking = SimpleNamespace(observe=look, finish=COMPARISONS["similarity"].finish)
    settings = replace(QUICK, on_progress=on_progress)
    paired(models, inputs, {}, {"similarity": looking}, settings)  # type: ignore[dict-item]
    assert len(maps) > 50
    assert most <= 2 * len(models)  # those of a block, and perhaps of the block before


def test_ctrl_c_keeps_what_was_done_and_leaves_no_thread(models: list[Model], inputs: list[Encoded]) -> None:
    stop, before = CtrlC(), threading.active_count()
    settings = replace(QUICK, on_progress=stop, keep_interrupted=True)
    tallies = paired(models, inputs, settings=settings)
    assert threading.active_count() == before
    two = list(chain(*islice(by_length(inputs, QUICK.batch_tokens, QUICK.seed), 2)))
    assert 2 <= len(two) == sum(stop.done) < len(inputs)
    assert_same(tallies, paired(models, two))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_a_comparison_leaves_the_models_as_before(
    models: list[Model], inputs: list[Encoded], error: type[BaseException]
) -> None:
    def fails(*rows: object) -> torch.Tensor:
        raise error("broken comparison")

    before = threading.active_count()
    with pytest.raises(error):
        paired(models, inputs, {}, {"broken": SimpleNamespace(observe=fails, __name__="headscope.broken")}, QUICK)  # type: ignore[dict-item]
    assert threading.active_count() == before
    for model in models:
        assert not model.network._forward_pre_hooks and not model.network._forward_hooks
        assert model.network.config._attn_implementation != "headscope"
