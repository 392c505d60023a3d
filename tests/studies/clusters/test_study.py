"""Heads that do the same are one cluster, whatever layer they are in; and the study as a whole."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope import HeadscopeError, Settings, results
from headscope.results.vocabulary import attribute_kinds
from headscope.studies.heads.clusters import study
from support.planted import looks_at_offset, looks_at_piece, planted
from support.tiny import tiny_tokenizer
from support.typed import corpus_of

QUICK = Settings(resamples=20, batch_tokens=100)
KINDS = {
    (1, 2): looks_at_offset(-1),
    (2, 1): looks_at_offset(-1),
    (2, 4): looks_at_offset(-1),
    (1, 3): looks_at_piece("[SEP]"),
    (2, 3): looks_at_piece("[SEP]"),
}
TEXTS = ("the cat saw a bird .", "a dog ran .", "she was in the garden , at night .", "it is old .")


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted(KINDS), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return study.run(model, corpus_of(*TEXTS), QUICK)


def kind(layer: int, head: int) -> str:
    return {(1, 3): "sep", (2, 3): "sep"}.get((layer, head), "previous" if (layer, head) in KINDS else "several")


HEADS = list(product((1, 2), (1, 2, 3, 4)))


def test_heads_that_do_the_same_are_one_cluster(result: xr.Dataset) -> None:
    numbers = {kind(*head): set() for head in HEADS}
    for layer, head in HEADS:
        numbers[kind(layer, head)].add(int(result["cluster"].sel(layer=layer, head=head)))
    assert [len(number) for number in numbers.values()] == [1, 1, 1] and len(set.union(*numbers.values())) == 3
    assert int(result["cluster"].sel(layer=1, head=1)) == 1
    assert float(result["cluster_stability"]) == 1


def test_heads_that_do_the_same_are_at_no_distance_and_lie_on_one_point(result: xr.Dataset) -> None:
    for one, other in product(HEADS, HEADS):
        pair = dict(zip(("layer", "head", "other_layer", "other_head"), (*one, *other), strict=True))
        apart = float(result["divergence"].sel(pair))
        assert (apart < 1e-6) == (kind(*one) == kind(*other)), (one, other)
        points = [result["position"].sel(layer=layer, head=head) for layer, head in (one, other)]
        assert float(np.linalg.norm(points[0] - points[1])) == pytest.approx(apart, abs=0.02)


def test_two_sure_heads_that_share_no_token_are_ln_2_apart(result: xr.Dataset) -> None:
    apart = result["divergence"].sel(layer=1, head=2, other_layer=2, other_head=3)
    # All tokens but [CLS], which has none before it, look elsewhere.
    lengths = [len(tiny_tokenizer()(text)["input_ids"]) for text in TEXTS]
    first = [np.log(2) - _of_uniform(length) for length in lengths]
    expected = np.mean([np.log(2) - divergence / length for divergence, length in zip(first, lengths, strict=True)])
    assert float(apart) == pytest.approx(expected, abs=1e-4)


def _of_uniform(length: int) -> float:
    """The divergence of looking at all tokens alike from looking at one of them."""
    mean = np.full(length, 0.5 / length)
    mean[0] += 0.5
    return float(-(mean * np.log(mean)).sum() - np.log(length) / 2)


def test_within_and_between_layers_are_means_of_pairs(result: xr.Dataset) -> None:
    matrix = result["divergence"].values.reshape(8, 8)
    layer = np.repeat([1, 2], 4)
    pairs = [(i, j) for i in range(8) for j in range(i)]
    within = np.mean([matrix[pair] for pair in pairs if layer[pair[0]] == layer[pair[1]]])
    between = np.mean([matrix[pair] for pair in pairs if layer[pair[0]] != layer[pair[1]]])
    found = [float(result[name]) for name in ("within_layer", "between_layers", "layer_gap")]
    np.testing.assert_allclose(found, [within, between, between - within], atol=1e-7)
    by_layer = result["layer_divergence"]
    np.testing.assert_allclose(by_layer.sel(layer=1, other_layer=2), between, atol=1e-7)
    np.testing.assert_allclose(by_layer.values, by_layer.values.T)
    assert 0.05 < float(result["layer_gap_p_value"]) <= 1, "planted without regard to layers"
    for name in ("within_layer", "layer_gap", "divergence", "layer_divergence"):
        bounds = result[f"{name}_ci"]
        assert (bounds.sel(bound="lower") <= result[name] + 1e-9).all()
        assert (bounds.sel(bound="upper") >= result[name] - 1e-9).all()


def test_heads_of_a_layer_that_are_all_alike_are_a_gap_beyond_chance() -> None:
    alike = {(1, head): looks_at_offset(-1) for head in (1, 2, 3, 4)}
    result = study.run(headscope.wrap(planted(alike), tiny_tokenizer()), corpus_of(*TEXTS), QUICK)
    assert float(result["within_layer"]) == pytest.approx(0, abs=1e-6) and float(result["layer_gap"]) > 0.1
    assert (result["layer_gap_ci"] > 0.1).all() and float(result["layer_gap_p_value"]) < 0.06


def test_behaviour_says_what_was_planted(result: xr.Dataset) -> None:
    for layer, head in HEADS:
        assert result["behaviour"].sel(layer=layer, head=head) == kind(layer, head), (layer, head)


def test_one_example_is_enough_but_has_no_interval(model: headscope.Model) -> None:
    result = study.run(model, corpus_of(*TEXTS[:1]), QUICK, clusters=2)
    assert set(np.unique(result["cluster"])) == {1, 2} and int(result["divergence_n_examples"]) == 1
    assert result["layer_gap"].notnull() and result["layer_gap_ci"].isnull().all()


@pytest.mark.parametrize("number", [0, 9])
def test_a_number_of_clusters_that_cannot_be_is_refused(model: headscope.Model, number: int) -> None:
    with pytest.raises(HeadscopeError, match=f"clusters {number}: the model has 8 heads"):
        study.run(model, corpus_of(*TEXTS), QUICK, clusters=number)


def saved(folder: Path, study: str, variables: dict[str, xr.DataArray], sha256: str = "") -> Path:
    attrs = dict.fromkeys(results.ATTRIBUTES, "") | {
        name: 1 for name, kind in attribute_kinds().items() if kind == "number"
    }
    attrs |= {"study": study, "model_sha256": sha256, "model": "other"}
    result = xr.Dataset(variables, attrs=attrs)
    for array in result.data_vars.values():
        array.attrs |= {"long_name": "made", "units": "made", "source": "made"}
    return results.save(result, folder).parent


def shares(task: bool = False) -> dict[str, xr.DataArray]:
    coords = {"layer": [1, 2], "head": [1, 2, 3, 4], "pattern": list(results.PATTERNS)}
    array = xr.DataArray(np.full((2, 4, 5), 0.1), coords, tuple(coords))
    array.loc[{"pattern": "block"}] = 0.6
    array.loc[{"layer": 1, "head": 2}] = [0, 1, 0, 0, 0]
    return {"share": xr.concat([array, array * 0 + 0.2], xr.Variable("task", ["a", "b"])) if task else array}


def known_relations() -> dict[str, xr.DataArray]:
    coords = {
        "layer": [1, 2],
        "head": [1, 2, 3, 4],
        "relation": ["all", "det", "obj"],
        "direction": list(results.DIRECTIONS),
    }
    accuracy = xr.DataArray(np.zeros((2, 4, 3, 2)), coords, tuple(coords))
    special = accuracy.copy()
    accuracy.loc[{"layer": 2, "head": 1}] = [[1, 1], [0.8, 0.2], [0.2, 0.7]]
    special.loc[{"layer": 2, "head": 1}] = 1
    accuracy.loc[{"layer": 1, "head": 1, "relation": "det"}] = 0.9
    baseline = xr.DataArray([0.1, 0.5, 0.3], {"relation": coords["relation"]}, ("relation",))
    return {"accuracy": accuracy, "special": special, "baseline": baseline}


@pytest.mark.parametrize("task", [False, True])
def test_patterns_and_relations_come_from_other_results(model: headscope.Model, tmp_path: Path, task: bool) -> None:
    patterns = saved(tmp_path / "patterns", "patterns", shares(task))
    syntax = saved(tmp_path / "syntax", "syntax", known_relations())
    result = study.run(model, corpus_of(*TEXTS), QUICK, patterns=patterns, syntax=syntax)
    assert result["dominant"].values.tolist() == [["block", "diagonal", "block", "block"], ["block"] * 4]
    assert result["best_relation"].sel(layer=2, head=1) == "obj", "gains 40 points, det 30"
    assert (result["best_relation"].sel(layer=1) == "").all(), "not special"
    results.save(result, tmp_path / "out")
    xr.testing.assert_allclose(results.read(tmp_path / "out"), result)


def test_results_of_other_models_and_other_studies_are_refused(model: headscope.Model, tmp_path: Path) -> None:
    other = saved(tmp_path / "other", "patterns", shares(), sha256="1")
    with pytest.raises(HeadscopeError, match=r"is of model 'other', not 'in memory' .* run 'headscope patterns'"):
        study.run(model, corpus_of(*TEXTS), QUICK, patterns=other)
    with pytest.raises(HeadscopeError, match="has a result of 'patterns'; name one that 'headscope syntax' wrote"):
        study.run(model, corpus_of(*TEXTS), QUICK, syntax=other)
    with pytest.raises(HeadscopeError, match="does not exist"):
        study.run(model, corpus_of(*TEXTS), QUICK, syntax=tmp_path / "nowhere")
