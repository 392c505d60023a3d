"""Highlights of `attributions` say what was planted, and nothing of methods that do not differ."""

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope.corpora import read
from headscope.passes import Settings
from headscope.studies.words.attributions import study, variables
from headscope.studies.words.attributions.faithfulness import SHARES, Faithfulness
from headscope.studies.words.attributions.methods import METHODS
from support.snapshot import assert_page
from support.tiny import tiny_bert, tiny_tokenizer


@pytest.fixture(scope="module")
def measured() -> xr.Dataset:
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    result = study.run(model, read(["the cat saw the bird", "a man ran"]), Settings(resamples=20), flow=0)
    others = ("altered", "effective", "importance_share")
    return result.drop_vars([name for name in map(str, result.variables) if name.startswith(others)])


def planted(measured: xr.Dataset, falls: dict[str, float], inputs: int = 60, of_flow: int = 60) -> xr.Dataset:
    """A result in which each method makes the target fall by so much, random order by .1.

    * `of_flow`: on how many inputs flow was taken.
    """
    random = np.random.default_rng(0)
    layers = measured.sizes["layer"]
    fall = np.array([falls.get(name, 0.1) for name in METHODS])[:, None, None]
    curve = 1 - fall + 0.02 * random.standard_normal((inputs, len(METHODS), layers, len(SHARES)))
    curve[of_flow:, METHODS.index("flow")] = np.nan
    orders = np.full((inputs, len(SHARES)), 0.9)
    numbers = np.arange(inputs)
    rows = Faithfulness(
        numbers, numbers, np.ones(inputs), np.zeros(inputs), curve, curve, curve[..., 0] * 0 + 0.5, orders, orders
    )
    result, made = measured.copy(), {}
    of_rows = variables.Variables(variables.COORDS, variables.STUDY.source, variables.STUDY.labels, arrays=made)
    draws = variables.poisson_draws(numbers, 0, 200)
    variables._add_scores(of_rows, rows, draws)
    variables._add_best_layers(of_rows, rows, draws, 0)
    return result.assign(made)


def test_a_method_is_the_most_faithful_only_where_it_is_planted(measured: xr.Dataset) -> None:
    """Not one of two that are alike, in random order, or of fewer inputs than the others."""
    falls = {
        "one leads": {"norm": 0.5, "rollout": 0.3, "attention": 0.2},
        "two are alike": {"norm": 0.5, "rollout": 0.5},
        "flow leads": {"flow": 0.6, "norm": 0.5},
        "random order": {},
    }
    cases = {name: planted(measured, fall) for name, fall in falls.items()}
    cases["two inputs"] = planted(measured, {}, inputs=2)
    cases["flow of few inputs"] = planted(measured, falls["flow leads"], of_flow=20)
    assert_page(__file__, {}, cases)
