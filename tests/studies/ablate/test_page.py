"""Report of an ablation: what it says of a result made by hand, and that all its figures are drawn."""

import numpy as np
import pytest
import xarray as xr

from headscope.report.declared import parts_of
from headscope.studies.size.ablate.page import PAGE
from support.snapshot import assert_page

METRICS = ["accuracy", "cross_entropy"]
GAINS = np.array([[0.02, 0.0], [-0.1, -0.3]])


def interval(array, margin):
    return xr.concat([array - margin, array + margin], "bound").assign_coords(bound=["lower", "upper"])


def of_heads(values):
    return xr.DataArray(values, {"layer": [1, 2], "head": [1, 2]}, ("layer", "head"))


def result():
    gains = of_heads(GAINS).expand_dims(metric=METRICS).transpose("layer", "head", "metric")
    by_metric = xr.DataArray([0.8, 0.5], {"metric": METRICS}, ("metric",))
    halves = xr.DataArray([[0.01, 0.0]] * 2, {"half": ["first", "second"], "metric": METRICS}, ("half", "metric"))
    chosen = (("half", "metric"), [["1-1", "1-1"], ["1-2", "1-2"]])
    importance = of_heads(np.array([[0.1, 0.2], [0.3, 0.9]])).expand_dims(estimator=["michel"])
    correlation = xr.DataArray([[0.4, 0.6]], {"estimator": ["michel"], "metric": METRICS}, ("estimator", "metric"))
    means = {
        "baseline": (by_metric, 0.05),
        "head_gain": (gains, 0.05),
        "layer_gain": (gains.mean("head"), 0.05),
        "random_head_gain": (by_metric - 1.0, 0.01),
        "chosen_gain": (halves - 0.02, 0.005),
        "rank_correlation": (correlation, 0.1),
    }
    variables = {
        "choosing_gain": halves,
        "head_q_value": of_heads([[1.0, 1.0], [0.6, 0.001]]),
        "importance": importance,
    }
    for name, (array, margin) in means.items():
        variables |= {name: array, f"{name}_ci": interval(array, margin), f"{name}_n_examples": xr.DataArray(408)}
    attrs = {"long_name": "x", "units": "score", "source": "by hand"}
    made = {name: array.assign_attrs(attrs) for name, array in variables.items()}
    return xr.Dataset(made, attrs={"study": "ablate"}).assign_coords(chosen_head=chosen)


def test_the_pages_say_the_planted_numbers():
    """Without any head no answer of 408 changes: of 100, one in a hundred could not be seen."""
    unchanged = result()
    unchanged["head_gain"] = unchanged["head_gain"] * 0.0
    unchanged["head_gain_ci"] = interval(unchanged["head_gain"], 0.0)
    loss = result().sel(metric=["cross_entropy"])
    f1 = result().assign_coords(metric=["f1", "cross_entropy"])
    for made in (loss, f1):
        made["head_gain_ci"] = interval(made["head_gain"], 0.004)
    named = result()
    sets = {"head_set": ["1-1,2-2"], "metric": METRICS}
    named["set_gain"] = xr.DataArray([[-0.1, 0.2]], sets, ("head_set", "metric"))
    named["set_gain_ci"] = interval(named["set_gain"], 0.05)
    few = unchanged.assign(head_gain_n_examples=xr.DataArray(100))
    cases = {"all": result(), "unchanged": unchanged, "unchanged in few": few, "a loss": loss, "f1": f1}
    assert_page(__file__, cases | {"named sets": named}, claims())


def changed(margin=None, **arrays):
    """The result with other numbers, by name; an interval of `margin` around the last."""
    made = result().assign(arrays)
    for name in [*arrays][-1:] if margin is not None else []:
        made[f"{name}_ci"] = interval(made[name], margin)
    return made


def claims():
    """Heads and layers that are needed or not for sure, gains that the other half has or not, a task not learned."""
    made = result()
    layers = {"layer": [1, 2]}
    needed = xr.DataArray([0.2, 0.001], layers, ("layer",))
    alike = made["layer_gain"].copy()
    alike[0] = -0.18
    gain = made["chosen_gain"] + 0.05
    chance = {value: xr.DataArray([value, 0.6], {"metric": METRICS}, ("metric",)) for value in (0.5, 0.79, 0.9)}
    return {
        "no head is needed for sure": changed(head_q_value=made["head_q_value"] * 0 + 1),
        "two heads can be disabled": changed(
            0.004, head_gain_n_examples=xr.DataArray(1000), head_gain=made["head_gain"]
        ),
        "layer 2 matters most": changed(layer_q_value=needed),
        "two layers are alike": changed(0.05, layer_q_value=needed, layer_gain=alike),
        "no layer is needed for sure": changed(0.05, layer_q_value=needed * 0 + 1, layer_gain=alike),
        "the other half gains": changed(0.005, chosen_gain=gain),
        "the other half may gain": changed(0.5, chosen_gain=gain),
        **{f"chance is {value}": changed(chance=values) for value, values in chance.items()},
    }


def test_every_figure_is_a_chart_of_the_planted_numbers():
    drawn = {figure.name: figure.chart.data.values for figure in parts_of(PAGE.charts, result())}
    values = {name: [row["value"] for row in rows] for name, rows in drawn.items()}
    heads, layers = pytest.approx(GAINS.ravel().tolist()), pytest.approx(GAINS.mean(1).tolist())
    assert values == {
        "head_gain-accuracy": heads,
        "head_gain-cross_entropy": heads,
        "layer_gain-accuracy": layers,
        "layer_gain-cross_entropy": layers,
        "importance-michel": pytest.approx([0.1, 0.2, 0.3, 0.9]),
    }
    assert [row["second"] for row in drawn["importance-michel"]] == heads


def test_titles_name_metric_and_estimator_in_words():
    made = result()
    made["head_gain"].attrs["long_name"] = "gain of score without each head"
    made = made.assign_coords(estimator=["michel_code"])
    titles = {figure.name: figure.chart.title.text for figure in parts_of(PAGE.charts, made)}
    assert titles["head_gain-cross_entropy"] == "Gain of cross entropy without each head"
    assert titles["importance-michel_code"] == "Importance, code of Michel et al., and gain of cross entropy"
