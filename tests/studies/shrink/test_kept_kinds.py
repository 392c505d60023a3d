"""Kinds of the heads that stay: an exact test by layer, planted kinds are found, and random heads claim nothing."""

import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import headscope
from headscope import HeadscopeError, Settings, results
from headscope.report.declared import parts_of
from headscope.report.kinds import head_kinds
from headscope.report.numbers import Numbers
from headscope.report.study_page import study_page
from headscope.studies.size.shrink.kept_kinds import ANY, by_chance, kinds_of_heads, variables
from headscope.studies.size.shrink.original import original_of
from headscope.studies.size.shrink.page import PAGE, kept_kinds
from headscope.studies.size.shrink.texts import encode
from support.findings import texts_of
from support.idle_neurons import TEXTS, idle
from support.runs import shrink as run
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=20)
COUNTS = (12,) * 6


def heads(rows: Any) -> np.ndarray:
    """Heads by their numbers in each layer, from 0."""
    made = np.zeros((len(rows), 12), dtype=bool)
    for layer, some in enumerate(rows):
        made[layer, list(some)] = True
    return made


def naive(stays: np.ndarray, marked: np.ndarray, counts: tuple[int, ...]) -> list[float]:
    """The share of all choices of as many heads of each layer that have each number of marked ones."""
    choices = [combinations(range(number), int(row.sum())) for number, row in zip(counts, stays, strict=True)]
    numbers = [
        sum(int(marked[layer, list(some)].sum()) for layer, some in enumerate(choice)) for choice in product(*choices)
    ]
    return [numbers.count(number) / len(numbers) for number in range(max(numbers) + 1)]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_chance_is_the_share_of_all_choices(data: st.DataObject) -> None:
    counts = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    both = np.zeros((2, len(counts), max(counts)), dtype=bool)
    for layer, number in enumerate(counts):
        for one in range(2):
            both[one, layer, list(data.draw(st.sets(st.integers(0, number - 1))))] = True
    chances = by_chance(both[0], both[1], counts)
    np.testing.assert_allclose(
        np.trim_zeros(chances, "b"), np.trim_zeros(naive(both[0], both[1], counts), "b"), atol=1e-12
    )


def result_of(stays: np.ndarray, marked: dict[str, np.ndarray]) -> xr.Dataset:
    """The variables of heads that stay."""
    return xr.Dataset(variables(marked, stays, COUNTS))


def test_kept_heads_that_are_exactly_the_positional_ones_are_found() -> None:
    positional, others = heads([(0, 5)] * 6), heads([(1, 2, 3), (), (7,), (8, 9), (), (11,)])
    made = result_of(positional, {"positional": positional, "syntactic": others})
    assert made["kept_kind_share"].values.tolist() == [1, 0]
    assert made["random_kind_share"].values[0] == pytest.approx(2 / 12)
    assert made["kept_kind_p_value"].values[0] == pytest.approx((1 / 66) ** 6)
    findings = list(kept_kinds(Numbers(made)))
    assert [one.verdict for one in findings] == ["holds", "undecided"]
    assert findings[0].topic == "More heads that stay are positional than of random ones"
    assert "100% of the heads that stay are positional, and 17% of random heads" in findings[0].text
    (table,) = parts_of(PAGE.tables, made)
    assert len(table.rows) == 2


def test_heads_that_avoid_a_kind_fail() -> None:
    most = heads([range(8)] * 6)
    made = result_of(heads([(8, 9, 10)] * 6), {"positional": most})
    assert [one.verdict for one in kept_kinds(Numbers(made))] == ["fails"]


def test_heads_of_a_kind_in_layers_that_stay_as_they_are_say_nothing() -> None:
    """All heads of the layers with marked heads stay: that says nothing of the heads, only of the layers."""
    made = result_of(
        heads([range(12), range(12), (), (), (), ()]), {"positional": heads([(0, 1), (2,), (), (), (), ()])}
    )
    assert made["kept_kind_excess"].values == pytest.approx(0) and made["kept_kind_p_value"].values == pytest.approx(1)
    assert [one.verdict for one in kept_kinds(Numbers(made))] == ["undecided"]


@pytest.mark.always
def test_random_heads_that_stay_claim_nothing_beyond_the_rate_of_errors() -> None:
    random, wrong = np.random.default_rng(0), 0
    for _ in range(80):
        stays, marked = (
            heads([random.permutation(12)[: random.integers(1, most)] for _ in range(6)]) for most in (8, 7)
        )
        made = result_of(stays, {"positional": marked})
        lower, upper = made["kept_kind_excess_ci"].values[0]
        fewer = by_chance(stays, marked, COUNTS)[: int((stays & marked).sum()) + 1].sum()
        assert (lower > 0) == (float(made["kept_kind_p_value"][0]) <= 0.025) and (upper <= 0) == (fewer < 0.025)
        (found,) = kept_kinds(Numbers(made))
        wrong += found.verdict != "undecided"
    assert wrong <= 8  # of 80, where 4 are the most that are expected


def test_kinds_are_those_of_the_atlas_and_of_rare_words(tmp_path: Path) -> None:
    correlation = np.zeros((3, 4))
    correlation[0, 1], correlation[2, 3] = -0.5, -0.39
    frequency = xr.DataArray(correlation, {"layer": [1, 2, 3], "head": [1, 2, 3, 4]}, ("layer", "head"))
    marked = study_page(xr.Dataset({"frequency_correlation": frequency}, attrs={"study": "profile"})).kinds()
    assert [(one.layer, one.head, one.kind) for one in marked] == [(1, 2, "rare")]


OPTIONS: dict[str, Any] = {"size": "0.065MB", "groups": 2, "epochs": 0, "parts": "neurons,heads,layers"}


@pytest.mark.always
def test_heads_that_gates_keep_are_compared_with_the_kinds_of_a_profile(tmp_path: Path) -> None:
    model, corpus = headscope.wrap(tiny_bert(), tiny_tokenizer()), headscope.read(TEXTS)
    profile = headscope.profile(model, corpus, QUICK, frequency=True)
    results.save(profile, tmp_path / "profile")
    chosen: dict[str, Any] = {"method": "gates", "fine": True, "heads_of": [str(tmp_path / "profile")]}
    made = run(model, corpus, QUICK, directory=tmp_path / "out", **OPTIONS, **chosen)
    assert made["head_kind"].values.tolist() == ["positional", "rare words"] and ANY not in made["head_kind"]
    near = {"previous", "next"}
    positional = {head for head, some in head_kinds([profile]).items() if near & {one.kind for one in some}}
    assert int(made["kind_heads"][0]) == len(positional)
    stays = {(int(layer) + 1, int(head) + 1) for layer, head in np.argwhere(made["head_stays"].values)}
    assert len(stays) == int(made["layer_heads"].isel(step=-1).sum())
    assert float(made["kept_kind_share"][0]) == pytest.approx(len(stays & positional) / len(stays))
    assert any("positional" in topic for topic in texts_of(made))
    assert json.loads(made.attrs["shrinking"])["method"] == "gates"


def test_results_without_kinds_and_models_that_keep_all_heads_are_refused(tmp_path: Path) -> None:
    model, corpus = idle(), headscope.read(TEXTS[:4])
    inputs = encode(model, tuple(corpus))
    plain, fine = (original_of(model, inputs, QUICK, fine=one) for one in (False, True))
    made = headscope.profile(idle(layers=2), corpus, QUICK)
    results.save(made, tmp_path / "other")
    results.save(made[["entropy"]].assign_attrs(made.attrs), tmp_path / "none")
    with pytest.raises(HeadscopeError, match="keeps all heads, so --heads-of has none to compare; add --fine"):
        kinds_of_heads([str(tmp_path / "other")], plain)
    with pytest.raises(HeadscopeError, match="of profile measures no kind of heads; name one of profile, syntax"):
        kinds_of_heads([str(tmp_path / "none")], fine)
    with pytest.raises(HeadscopeError, match="is of a model with other heads; name a result of this model"):
        kinds_of_heads([str(tmp_path / "other")], fine)
    assert kinds_of_heads([], plain) == {}
