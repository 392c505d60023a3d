"""Highlights of `attributions` say what was planted, and nothing of methods that do not differ."""

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope.corpora import read
from headscope.passes import Settings
from headscope.report.study_page import study_page
from headscope.studies.words.attributions import study, variables
from headscope.studies.words.attributions.faithfulness import SHARES, Faithfulness
from headscope.studies.words.attributions.methods import METHODS
from support.tiny import tiny_bert, tiny_tokenizer


@pytest.fixture(scope="module")
def measured() -> xr.Dataset:
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    return study.run(model, read(["the cat saw the bird", "a man ran"]), Settings(resamples=20), flow=0)


def planted(
    measured: xr.Dataset, falls: dict[str, float], inputs: int = 60, of_flow: int = 60
) -> dict[str, str | None]:
    """The verdicts of a result in which each method makes the target fall by so much, random order by .1.

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
    return {finding.topic: finding.verdict for finding in study_page(result.assign(made)).highlights()}


def test_a_planted_method_is_the_most_faithful(measured: xr.Dataset) -> None:
    verdicts = planted(measured, {"norm": 0.5, "rollout": 0.3, "attention": 0.2})
    assert verdicts["3 methods of 11 find what the target needs"] == "holds"
    assert verdicts["Norm is the most faithful method"] == "holds"
    assert verdicts["Attention is less faithful than norm"] == "holds"


def test_two_methods_that_are_alike_are_not_told_apart(measured: xr.Dataset) -> None:
    verdicts = planted(measured, {"norm": 0.5, "rollout": 0.5})
    assert verdicts["2 methods of 11 find what the target needs"] == "holds"
    assert "The most faithful methods could not be told apart" in verdicts
    assert "holds" not in {verdicts[topic] for topic in verdicts if "most faithful" in topic}


@pytest.mark.parametrize("inputs", [2, 60])
def test_methods_in_random_order_are_no_claim(measured: xr.Dataset, inputs: int) -> None:
    assert "holds" not in planted(measured, {}, inputs).values()


def test_a_method_of_fewer_inputs_does_not_lead(measured: xr.Dataset) -> None:
    verdicts = planted(measured, {"flow": 0.6, "norm": 0.5}, of_flow=20)
    assert "Flow is the most faithful method" not in verdicts
    assert verdicts["Attention is less faithful than norm"] == "holds"
    assert planted(measured, {"flow": 0.6, "norm": 0.5})["Flow is the most faithful method"] == "holds"
