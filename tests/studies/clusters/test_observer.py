"""Divergences of all pairs of heads, against loops in float64 over Hugging Face's eager attentions; and their laws."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
import torch

import headscope
from headscope import Model, Settings
from headscope.corpora import Options, read
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.statistics.bootstrap import Tally
from headscope.studies.heads.clusters import observer as module
from headscope.studies.heads.clusters.observer import NAME, DivergenceObserver, divergences, entropies_of_means
from support.passes import pass_over
from support.tiny import tiny_bert, tiny_tokenizer

HEADS = (4, 4, 4)
QUICK = Settings(resamples=20, batch_tokens=300)


@pytest.fixture(scope="module")
def model() -> Model:
    return headscope.wrap(tiny_bert(), tiny_tokenizer())


@pytest.fixture(scope="module")
def inputs(model: Model) -> list[Encoded]:
    return list(Words(model.tokenizer, model.max_tokens, "truncate").encode(read("sample", Options(limit=24))))


def found(model: Model, inputs: list[Encoded], settings: Settings = QUICK, *, as_coded: bool = False) -> Tally:
    return pass_over(model, inputs, settings).collect(DivergenceObserver(HEADS, as_coded=as_coded)).read().value[NAME]


def entropy(row: np.ndarray) -> float:
    positive = row[row > 0]
    return -float(positive @ np.log(positive))


def naive(maps: np.ndarray, smooth: float = 0.0) -> list[float]:
    """The divergence of each pair of heads [head, query, key], summed over queries: row by row in float64."""
    maps = maps.astype(np.float64) * (1 - smooth) + smooth / maps.shape[-1]
    return [
        sum(entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2 for p, q in zip(one, other, strict=True))
        for one, other in combinations(maps, 2)
    ]


def eager_maps(encoded: Encoded) -> np.ndarray:
    """The maps of one unpadded example, heads of all layers in a row."""
    network = tiny_bert()
    network.set_attn_implementation("eager")
    inputs = {name: torch.from_numpy(values)[None] for name, values in encoded.inputs.items()}
    with torch.inference_mode():
        return torch.cat(network(**inputs, output_attentions=True).attentions, dim=1)[0].numpy()


def test_closed_forms() -> None:
    rows = torch.tensor([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [1.0, 0, 0, 0]])
    half = entropy(np.array([0.75, 0.25])) - np.log(2) / 2
    expected = [half, np.log(2), 0, np.log(2), half, np.log(2)]
    np.testing.assert_allclose(divergences(rows), expected, atol=1e-7)


def test_a_head_has_no_divergence_from_its_like_and_all_are_within_bounds() -> None:
    rows = torch.rand(5, 7, 300, generator=torch.Generator().manual_seed(0)).pow(20)
    rows /= rows.sum(-1, keepdim=True)
    rows = torch.cat([rows, rows[:1]])
    its = divergences(rows.flatten(1)) / 7
    assert its[4] == 0 and (np.delete(its, 4) > 0.01).all() and (its <= np.log(2)).all()


def test_divergences_are_those_of_loops_in_double_precision(model: Model, inputs: list[Encoded]) -> None:
    expected = np.mean([np.array(naive(eager_maps(encoded))) / len(encoded) for encoded in inputs], axis=0)
    its = found(model, inputs)
    np.testing.assert_allclose(its.mean, expected, atol=1e-5)
    assert its.count == len(inputs) and expected.min() > 0.01


def test_as_coded_smooths_and_sums_over_tokens(model: Model, inputs: list[Encoded]) -> None:
    expected = np.sum([naive(eager_maps(encoded), smooth=0.001) for encoded in inputs], axis=0)
    np.testing.assert_allclose(found(model, inputs, as_coded=True).total, expected, rtol=1e-5)


@pytest.mark.parametrize("batch_tokens", [1, 100, 4000])
def test_batches_and_their_padding_change_no_number(model: Model, inputs: list[Encoded], batch_tokens: int) -> None:
    together, again = found(model, inputs), found(model, inputs, Settings(resamples=20, batch_tokens=batch_tokens))
    np.testing.assert_allclose(again.mean, together.mean, atol=1e-5)
    np.testing.assert_allclose(again.interval, together.interval, atol=1e-5)


def test_blocks_of_rows_and_of_cells_change_no_number(
    model: Model, inputs: list[Encoded], blocks_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = found(model, inputs).mean
    blocks_of(7)
    monkeypatch.setattr(module, "BLOCK", 2**12)
    np.testing.assert_allclose(found(model, inputs).mean, together, atol=1e-5)


def test_any_number_of_threads_gives_the_same() -> None:
    cells = torch.rand(6, 40_000, generator=torch.Generator().manual_seed(2))
    before, one = torch.get_num_threads(), entropies_of_means(cells)
    torch.set_num_threads(3)
    try:
        np.testing.assert_array_equal(entropies_of_means(cells), one)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("logarithm", [(np.log, 1.0), (np.log2, np.log(2))])
def test_either_logarithm_gives_the_same(logarithm: tuple[np.ufunc, float], monkeypatch: pytest.MonkeyPatch) -> None:
    cells = torch.rand(6, 900, generator=torch.Generator().manual_seed(4))
    expected = entropies_of_means(cells)
    monkeypatch.setattr(module, "_logarithm", lambda: logarithm)
    np.testing.assert_allclose(entropies_of_means(cells), expected, rtol=1e-6)


def test_what_a_gpu_computes_is_what_the_processor_does() -> None:
    halves = torch.rand(6, 500, generator=torch.Generator().manual_seed(3)).clamp_min(module.NOWHERE)
    np.testing.assert_allclose(module._by_torch(halves), module._by_numpy(halves.numpy()), rtol=1e-5)


def test_no_map_is_held_beyond_its_batch(model: Model, inputs: list[Encoded]) -> None:
    reader = DivergenceObserver(HEADS)
    pass_over(model, inputs[:3], QUICK).collect(reader).read()
    assert reader.maps is None
