"""Scores as variables of a result."""

import numpy as np
import pytest
import xarray as xr

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.split_half import split_in_half
from headscope.studies.heads.syntax.scores import best, score
from headscope.studies.heads.syntax.study import to_variables
from support.made_answers import made

LAYERS = (1, 3)
SENTENCES = 120


@pytest.fixture(scope="module")
def result() -> xr.Dataset:
    """Layer 2, head 3 finds every object, dependent to head, of which the offset -1 has a half; "few" are too few."""
    words = [(sentence, 2, sentence % 2, 3, "few" if sentence < 10 else "obj") for sentence in range(SENTENCES)]
    right = np.zeros((SENTENCES, 4, 2))
    right[:, 3, 0] = 1
    draws = poisson_draws(range(SENTENCES), 0, 20).astype(np.uint8)
    relations = made(words, right).by_relation()
    return xr.Dataset(
        to_variables(
            {name: score(its, draws, split_in_half(SENTENCES, 0)) for name, its in relations.items()},
            {name: best(its, draws, split_in_half(SENTENCES, 0)) for name, its in relations.items()},
            LAYERS,
        )
    )


def test_a_head_is_special_that_beats_the_offset_in_enough_words(result: xr.Dataset) -> None:
    special = result["special"].stack(place=["layer", "head", "relation", "direction"])
    assert special.where(special == 1, drop=True)["place"].values.tolist() == [
        (2, 3, "all", "dependent_to_head"),
        (2, 3, "obj", "dependent_to_head"),
    ]
    assert (result["q_value"].sel(layer=2, head=3, direction="dependent_to_head", relation=["all", "obj"]) < 0.05).all()
    assert result["baseline"].values.tolist() == [0.5] * 3


def test_the_interval_of_a_head_that_is_always_or_never_right_has_the_bound_that_n_allows(result: xr.Dataset) -> None:
    obj, few = (result.sel(relation=name, layer=2, direction="dependent_to_head") for name in ("obj", "few"))
    for name, words in ((obj, 110), (few, 10)):
        bounds = name["accuracy_ci"].sel(head=[1, 3])
        assert bounds.sel(bound=["lower"], head=1) == 0 and bounds.sel(bound=["upper"], head=3) == 1
        allowed = 1 - 0.025 ** (1 / words)  # of Clopper and Pearson; 20 resamples estimate n by half
        upper, lower = float(bounds.sel(head=1, bound="upper")), float(bounds.sel(head=3, bound="lower"))
        assert upper == pytest.approx(allowed, rel=0.6) and lower == pytest.approx(1 - upper)


def test_a_head_is_special_by_the_half_on_which_the_offset_was_not_chosen() -> None:
    selection_half = split_in_half(SENTENCES, 0)
    syntactic_heads = np.zeros(SENTENCES, int)  # in both halves the offset -1 is right for every other word
    for half in (selection_half, ~selection_half):
        syntactic_heads[half] = np.arange(half.sum()) % 2
    right = np.zeros((SENTENCES, 4, 2))
    right[:, 1], right[:, 3, 0] = 1, selection_half | (syntactic_heads == 1)
    words = [(sentence, 2, int(head), 3, "obj") for sentence, head in enumerate(syntactic_heads)]
    draws = poisson_draws(range(SENTENCES), 0, 20).astype(np.uint8)
    obj = made(words, right).by_relation()["obj"]
    variables = to_variables(
        {"obj": score(obj, draws, selection_half)}, {"obj": best(obj, draws, selection_half)}, LAYERS
    )
    result = xr.Dataset(variables).sel(relation="obj", direction="dependent_to_head", layer=2)
    assert float(result["accuracy"].sel(head=3) - result["baseline"]) == 0.25
    assert (result["q_value"].sel(head=[1, 3]) < 0.05).all()
    assert result["special"].sel(head=1) == 1 and "on the other half" in result["special"].attrs["long_name"]
    assert result["special"].sel(head=3) == 0
