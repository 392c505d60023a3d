"""One pass of several models: the numbers of passes of their own, in whatever batches, and nothing kept."""

import threading
import weakref
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

import headscope
from headscope import Model, Settings, catalog
from headscope.corpora import Options, read
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.engine.fold import Interrupted, fold
from headscope.statistics.bootstrap import Tally, merge
from headscope.studies.compare.paired_pass import fold_pairs
from support.tiny import tiny_bert, tiny_tokenizer

MEASURES: dict[str, ModuleType] = {name: catalog.load("measures", name) for name in catalog.names("measures")}
COMPARISONS = {name: catalog.load("comparisons", name) for name in ("similarity", "js_divergence")}
QUICK = Settings(resamples=20, batch_tokens=300)


@pytest.fixture(scope="module")
def models() -> list[Model]:
    return [headscope.wrap(tiny_bert(seed), tiny_tokenizer(), f"seed {seed}") for seed in range(3)]


@pytest.fixture(scope="module")
def inputs(models: list[Model]) -> list[Encoded]:
    words = Words(models[0].tokenizer, models[0].max_tokens, "truncate")
    return list(words.encode(read("sample", Options(limit=40))))


@pytest.fixture(scope="module")
def whole(models: list[Model], inputs: list[Encoded]) -> dict[str, Tally]:
    return fold_pairs(models, inputs, MEASURES, COMPARISONS, QUICK)


def assert_same(found: dict[str, Tally], expected: dict[str, Tally]) -> None:
    assert list(found) == list(expected)
    for name in expected:
        np.testing.assert_array_equal(found[name].count, expected[name].count, err_msg=name)
        np.testing.assert_allclose(found[name].mean, expected[name].mean, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(found[name].interval, expected[name].interval, atol=1e-6, err_msg=name)


def test_everything_is_there_for_each_later_model(whole: dict[str, Tally]) -> None:
    assert set(whole) == {
        *COMPARISONS,
        *(f"layer_{name}" for name in COMPARISONS),
        *(f"difference_{name}" for name in MEASURES),
    }
    assert whole["similarity"].mean.shape == (12, 2) and whole["layer_similarity"].mean.shape == (3, 2)
    assert whole["difference_attention_to"].mean.shape == (12, 2, 4)


@pytest.mark.parametrize("batch_tokens", [1, 4000])
def test_the_size_of_batches_changes_no_number(
    models: list[Model], inputs: list[Encoded], whole: dict[str, Tally], batch_tokens: int
) -> None:
    settings = Settings(resamples=20, batch_tokens=batch_tokens)
    assert_same(fold_pairs(models, inputs, MEASURES, COMPARISONS, settings), whole)


def test_shards_add_up_to_the_whole(models: list[Model], inputs: list[Encoded], whole: dict[str, Tally]) -> None:
    shards = [fold_pairs(models, inputs[start::3], MEASURES, COMPARISONS, QUICK) for start in range(3)]
    assert_same({name: merge(shard[name] for shard in shards) for name in whole}, whole)


def test_three_models_are_two_pairs(models: list[Model], inputs: list[Encoded], whole: dict[str, Tally]) -> None:
    for place in (1, 2):
        pair = fold_pairs([models[0], models[place]], inputs, MEASURES, COMPARISONS, QUICK)
        for name, tally in pair.items():
            np.testing.assert_allclose(tally.mean[:, 0], whole[name].mean[:, place - 1], atol=1e-6, err_msg=name)
            np.testing.assert_allclose(tally.interval[:, 0], whole[name].interval[:, place - 1], atol=1e-6)


def test_differences_are_those_of_profiles(models: list[Model], inputs: list[Encoded], whole: dict[str, Tally]) -> None:
    first, *later = [fold(model, inputs, MEASURES, QUICK) for model in models]
    for name in MEASURES:
        for place, tallies in enumerate(later):
            change = tallies[name].mean - first[name].mean
            np.testing.assert_allclose(whole[f"difference_{name}"].mean[:, place], change, atol=1e-6, err_msg=name)
            np.testing.assert_array_equal(whole[f"difference_{name}"].count[place], tallies[name].count)


def test_a_paired_interval_is_narrower_than_that_of_two_passes(inputs: list[Encoded]) -> None:
    one, other = (headscope.wrap(tiny_bert(), tiny_tokenizer()) for _ in range(2))
    with torch.no_grad():
        for parameter in other.network.parameters():
            parameter += 0.02 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    entropy = {"entropy": MEASURES["entropy"]}
    paired = fold_pairs([one, other], inputs, entropy, {}, Settings(resamples=400))["difference_entropy"]
    first, later = (
        fold(model, inputs, entropy, Settings(resamples=400, seed=seed))["entropy"]
        for seed, model in enumerate((one, other))
    )
    apart = [tally.resampled_total / tally.resampled_count[:, None] for tally in (first, later)]
    unpaired = np.quantile(apart[1] - apart[0], [0.025, 0.975], axis=0)
    width = (paired.interval[..., 1] - paired.interval[..., 0])[:, 0]
    assert np.median(width / (unpaired[1] - unpaired[0])) < 0.5
    assert (width > 0).all()


def test_a_copy_of_the_model_has_changed_nowhere(models: list[Model], inputs: list[Encoded]) -> None:
    same = headscope.wrap(tiny_bert(0), tiny_tokenizer())
    found = fold_pairs([models[0], same], inputs, MEASURES, COMPARISONS, QUICK)
    np.testing.assert_allclose(found["similarity"].mean, 1, atol=1e-6)
    np.testing.assert_allclose(found["js_divergence"].mean, 0, atol=1e-6)
    for name in MEASURES:
        changes = found[f"difference_{name}"].mean
        np.testing.assert_array_equal(changes[~np.isnan(changes)], 0, err_msg=name)


def test_layers_are_means_of_their_heads(whole: dict[str, Tally]) -> None:
    heads = whole["similarity"].mean.reshape(3, 4, 2)
    np.testing.assert_allclose(whole["layer_similarity"].mean, heads.mean(1), atol=1e-6)
    heads_wide = np.ptp(whole["similarity"].interval, axis=-1).reshape(3, 4, 2)
    layers_wide = np.ptp(whole["layer_similarity"].interval, axis=-1)
    assert (layers_wide > 0).all() and (layers_wide < heads_wide.max(1)).all()


def test_inputs_can_be_padded_to_a_length(models: list[Model], inputs: list[Encoded], whole: dict[str, Tally]) -> None:
    lengths = []

    def look(one, other):
        lengths.append(one.attention.shape[-1])
        return COMPARISONS["similarity"].observe(one, other)

    looking = SimpleNamespace(observe=look, finish=COMPARISONS["similarity"].finish)
    found = fold_pairs(models, inputs, {}, {"similarity": looking}, QUICK, pad_to=64)  # type: ignore[dict-item]
    assert set(lengths) == {64}
    np.testing.assert_allclose(found["similarity"].mean, whole["similarity"].mean, atol=1e-6)


def test_no_map_is_kept(models: list[Model], inputs: list[Encoded]) -> None:
    maps: list[weakref.ref[torch.Tensor]] = []
    most = 0

    def look(*rows):
        nonlocal most
        maps.extend(weakref.ref(each.attention) for each in rows)
        most = max(most, sum(each() is not None for each in maps[-40:]))
        return COMPARISONS["similarity"].observe(*rows)

    def done(group: list[Encoded]) -> None:
        assert not any(each() is not None for each in maps)

    looking = SimpleNamespace(observe=look, finish=COMPARISONS["similarity"].finish)
    fold_pairs(models, inputs, {}, {"similarity": looking}, QUICK, done)  # type: ignore[dict-item]
    assert len(maps) > 50
    assert most <= 2 * len(models)  # those of a block, and perhaps of the block before


def test_ctrl_c_keeps_what_was_done_and_leaves_no_thread(models: list[Model], inputs: list[Encoded]) -> None:
    done: list[Encoded] = []
    before = threading.active_count()

    def stop_after_two(group: list[Encoded]) -> None:
        done.extend(group)
        if len(done) > len(group):
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        fold_pairs(models, inputs, MEASURES, COMPARISONS, QUICK, stop_after_two)
    assert threading.active_count() == before
    assert 2 <= len(done) < len(inputs)
    assert_same(stopped.value.tallies, fold_pairs(models, done, MEASURES, COMPARISONS, QUICK))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_a_comparison_leaves_the_models_as_before(
    models: list[Model], inputs: list[Encoded], error: type[BaseException]
) -> None:
    def fails(*rows: object) -> torch.Tensor:
        raise error("broken comparison")

    before = threading.active_count()
    with pytest.raises(error):
        fold_pairs(models, inputs, {}, {"broken": SimpleNamespace(observe=fails)}, QUICK)  # type: ignore[dict-item]
    assert threading.active_count() == before
    for model in models:
        assert not model.network._forward_pre_hooks and not model.network._forward_hooks
        assert model.network.config._attn_implementation != "headscope"
