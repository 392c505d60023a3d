"""Highlights of `layers` say what was planted, and nothing of scores that do not differ."""

import json

import xarray as xr

from headscope import results
from support.snapshot import assert_page

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


def test_gains_and_falls_are_claimed_where_they_are_planted() -> None:
    """What layers never had does not fall; cases of a few sentences, and random weights of one seed, are no claim."""
    both = planted(0.2, 0.15)
    random = {}
    for scores in ((0.5, 0.51, 0.49), (0.5, 0.7, 0.9)):
        by_seed = xr.concat([both["score_random"] * 0 + score for score in scores], "seed")
        by_seed[..., 0] -= 0.2  # of each seed the best layer counts
        made = both.drop_vars("score_random_by_seed").assign(score_random_by_seed=by_seed)
        random[f"seeds from {scores[0]} to {scores[-1]}"] = made
    cases = {
        "gain and fall": both,
        "no gain": planted(-0.05, 0.0, half=0.005),
        "unsure": planted(0.01, 0.02, half=0.05),
        "no fall": planted(0.2, 0.0, half=0.005),
        "a fall that is unsure": planted(0.2, 0.02, half=0.05),
        "a fall without a gain": planted(-0.05, 0.15),
        "five sentences": planted(0.2, 0.15, sentences=5),
    }
    assert_page(__file__, {}, cases | random)
