"""Highlights of `layers` say what was planted, and nothing of scores that do not differ."""

import json

import numpy as np
import pytest
import xarray as xr

from headscope import results
from headscope.report.study_page import study_page
from support.findings import verdicts_of

TASKS = ("one", "two", "three")


def planted(gain: float, fall: float, half: float = 0.02, sentences: int = 300) -> xr.Dataset:
    """Three tasks whose layer 2 of 3 scores .8, their embeddings `gain` and the last layer `fall` less."""
    score = xr.DataArray([[0.75, 0.8, 0.8 - fall]] * 3, {"task": list(TASKS), "layer": [1, 2, 3]}, ["task", "layer"])
    tasks = xr.zeros_like(score.isel(layer=0, drop=True))
    measured = {
        "score": score,
        "score_embeddings": tasks + 0.8 - gain,
        "score_majority": tasks + 0.2,
        "gain": tasks + gain,
        "last_layer_fall": tasks + fall,
    }
    variables = dict(measured)
    for name, array in measured.items():
        variables[f"{name}_ci"] = xr.concat([array - half, array + half], "bound")
    q = 0.003 if gain > half else 0.6
    variables |= {"chosen_layer": tasks + 2, "q_value": tasks + q, "score_n_examples": tasks + 900}
    variables |= {
        "score_random": score * 0 + 0.5,
        "score_random_by_seed": (score * 0 + 0.5).expand_dims("seed"),
        "centre_of_gravity": tasks + xr.DataArray([1.0, 2.0, 3.0], dims="task"),
    }
    described = {name: {"words": f"task {name}", "source": "x", "classes": 4} for name in TASKS}
    attrs = dict.fromkeys(results.ATTRIBUTES, "x") | {"study": "layers", "n_examples": 900, "n_tokens": 9000}
    attrs |= {"tasks": json.dumps(described), "left_out": "{}"}
    attrs |= {"sentences": json.dumps({"train": 500, "choose": 100, "report": sentences})}
    result = xr.Dataset(variables, {"bound": list(results.BOUNDS)}, attrs)
    return result.map(lambda array: array.assign_attrs(long_name="x", units="share", source="x"), keep_attrs=True)


def test_planted_gain_and_fall_hold() -> None:
    verdicts = verdicts_of(planted(0.2, 0.15))
    assert verdicts["Layers add to the embeddings for 3 tasks of 3"] == "holds"
    assert verdicts["The last layer is worse for 3 of 3 tasks to which layers add"] == "holds"
    assert verdicts["Centres of gravity"] is None


def test_no_difference_fails_or_is_undecided() -> None:
    assert verdicts_of(planted(-0.05, 0.0, half=0.005))["Layers add nothing to the embeddings"] == "fails"
    unsure = verdicts_of(planted(0.01, 0.02, half=0.05))
    assert unsure["It cannot be told whether layers add to the embeddings"] == "undecided"
    assert verdicts_of(planted(0.2, 0.0, half=0.005))["The last layer is as good as the others"] == "fails"
    assert (
        verdicts_of(planted(0.2, 0.02, half=0.05))["It cannot be told whether the last layer is worse"] == "undecided"
    )


def test_a_fall_of_what_layers_never_had_is_no_claim() -> None:
    assert not [topic for topic in verdicts_of(planted(-0.05, 0.15)) if "last layer" in topic]


def test_cases_of_a_few_sentences_are_no_claim() -> None:
    assert "holds" not in verdicts_of(planted(0.2, 0.15, sentences=5)).values()


def test_random_weights_of_one_seed_are_no_claim() -> None:
    (finding,) = (
        finding for finding in study_page(planted(0.2, 0.15)).highlights() if "random weights" in finding.text.lower()
    )
    assert finding.verdict == "undecided" and finding.text.endswith(
        "3 seeds are wanted for a comparison; this result has 1."
    )
    assert finding.claim and np.isclose(finding.claim.difference.value, 0.3)


@pytest.mark.parametrize(("scores", "verdict"), [((0.5, 0.51, 0.49), "holds"), ((0.5, 0.7, 0.9), "undecided")])
def test_training_made_the_difference_where_three_seeds_do(scores: tuple[float, ...], verdict: str) -> None:
    result = planted(0.2, 0.15)
    by_seed = xr.concat([result["score_random"] * 0 + score for score in scores], "seed")
    by_seed[..., 0] -= 0.2  # of each seed the best layer counts
    findings = study_page(result.drop_vars("score_random_by_seed").assign(score_random_by_seed=by_seed)).highlights()
    (beside,) = (finding for finding in findings if "random weights" in finding.text.lower())
    assert beside.verdict == verdict and "with random weights" in beside.text
    assert beside.claim and np.isclose(beside.claim.baseline, np.mean(scores))
