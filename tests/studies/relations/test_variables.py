"""Scores as variables of a result."""

import numpy as np
import pytest
import xarray as xr

from headscope.statistics.bootstrap import Tally, poisson_draws, tally_by_input
from headscope.statistics.split_half import split_in_half
from headscope.studies.heads.relations.link_attention import LinkAttention, with_either
from headscope.studies.heads.relations.scores import best, score
from headscope.studies.heads.relations.variables import to_variables

LAYERS = (1, 3)
INPUTS = 120


def found_of(level: float) -> LinkAttention:
    """Layer 2, head 3 gives links so much, back; heads 1 and 2 as much, but from other words as much, or nearly so."""
    linked, elsewhere, others = (np.full((INPUTS, 4, 2), 0.125, np.float32) for _ in range(3))
    linked[:, 1:, 1] = others[:, 1, 1] = level
    others[:, 2, 1] = level - 0.0625
    relation = np.where(np.arange(INPUTS) < 10, "few", "obj")
    return LinkAttention(
        np.arange(INPUTS),
        np.arange(INPUTS),
        np.full(INPUTS, 9),
        relation,
        np.ones(INPUTS, int),
        linked,
        elsewhere,
        others,
        *np.zeros((2, *others.shape)),
    )


def result_of(untrained: float | None = 0.25) -> xr.Dataset:
    draws = poisson_draws(range(INPUTS), 0, 20).astype(np.uint8)
    relations = found_of(0.75).by_relation()
    beside: dict[str, Tally] | None = None
    if untrained is not None:
        plain = found_of(untrained).by_relation()
        beside = {name: tally_by_input(with_either(rows.linked), rows.input, draws) for name, rows in plain.items()}
    return xr.Dataset(
        to_variables(
            {name: score(rows, draws) for name, rows in relations.items()},
            {name: best(rows, draws, split_in_half(INPUTS, 0)) for name, rows in relations.items()},
            LAYERS,
            beside,
        )
    )


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    return result_of()


def special(result: xr.Dataset) -> list[tuple]:
    stacked = result["special"].stack(place=["layer", "head", "relation", "direction"])
    return stacked.where(stacked == 1, drop=True)["place"].values.tolist()


def test_the_percentile_is_that_of_the_heads_that_there_are(result: xr.Dataset) -> None:
    limit = result["percentile"].sel(relation="all", direction="target_to_source")
    np.testing.assert_allclose(limit, np.percentile([0.125, 0.75, 0.75, 0.75], 99))
    assert (result["percentile"].sel(direction="source_to_target") == 0.125).all()


def test_a_head_is_special_that_gains_on_both_baselines_in_enough_sentences(result: xr.Dataset) -> None:
    ways = ("target_to_source", "either")
    assert special(result) == [(2, 3, relation, way) for relation in ("all", "obj") for way in ways]
    assert (result["q_value"].sel(layer=2, head=3, direction="target_to_source") < 0.05).all()
    assert (result["q_value"].sel(layer=2, head=1) > 0.5).all()


def test_no_head_is_special_if_an_untrained_one_does_as_well() -> None:
    assert special(result_of(untrained=0.75)) == []
    without = result_of(untrained=None)
    assert "untrained" not in without and len(special(without)) == 4
