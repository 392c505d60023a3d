"""The results of two studies in one folder: the cards of all heads, and the index, for people and for programs."""

from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path

import pytest
import xarray as xr

from headscope import results
from headscope.front.cli import head
from headscope.report.cards.model_results import models_in
from support.every_study import STUDIES, Run

PAIRS = [*combinations(STUDIES, 2)]
# Each study stands beside another one first; all other pairs are thorough.
NEXT = {*[*pairwise(STUDIES)][::2]}
NUMBERED = [
    pytest.param(number, pair, id="-".join(pair), marks=() if pair in NEXT else pytest.mark.thorough)
    for number, pair in enumerate(PAIRS)
]


@pytest.fixture(scope="module")
def saved(ended: Callable[[str, str], Run]) -> dict[str, xr.Dataset]:
    return {study: results.read(ended(study, "annotated").directory) for study in STUDIES}


@pytest.mark.parametrize(("number", "pair"), NUMBERED)
def test_heads_have_cards_from_any_two_studies(
    number: int, pair: tuple[str, str], saved: dict[str, xr.Dataset]
) -> None:
    """One head a pair, in turn: a study has cards of all its heads beside the others."""
    models = [model for model in models_in({Path(name): saved[name] for name in pair}) if len(model.numbers)]
    if models:
        head._index(models, show := head.Printer(True, "cards"))
        head._cards(models, [models[0].heads[number % len(models[0].heads)]], None, show)
        assert len(show.values) >= 2
