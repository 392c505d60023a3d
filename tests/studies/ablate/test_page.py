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
    assert_page(__file__, cases | {"named sets": named})


def shown(made):
    """The highlights by topic."""
    return {finding.topic: finding for finding in parts_of(PAGE.highlights, made)}


def test_highlights_name_the_heads_that_the_task_needs():
    made = result()
    needed = shown(made)["The task needs 1 head"]
    assert needed.text == "Without head 2-2 accuracy falls the most, by 0.30." and needed.verdict == "holds"
    made["head_q_value"] = made["head_q_value"] * 0 + 1
    unsure = shown(made)["The task needs no single head for sure"]
    assert unsure.verdict == "undecided"
    # Intervals of 0.05 either way: by the normal distribution, (2.50 + 0.84) standard errors are 8.5 points.
    assert "worse by 8.7 points" in unsure.text
    for name in ("head_gain_n_examples", "head_gain_ci"):
        assert "is found in" not in str(parts_of(PAGE.highlights, made.drop_vars(name)))


def test_heads_that_lose_less_than_a_point_for_sure_can_be_disabled():
    made = result()
    none = shown(made)["No head is shown to be free"]
    assert none.verdict == "undecided"
    made["head_gain_ci"], made["head_gain_n_examples"] = interval(made["head_gain"], 0.004), xr.DataArray(1000)
    free = shown(made)["2 of 4 heads can be disabled for less than 0.010 of accuracy"]
    assert free.verdict == "holds" and free.text.endswith("(q < 0.05, Benjamini-Hochberg over 4 heads).")


def test_a_layer_matters_most_only_where_it_is_apart_from_the_next():
    made = result()
    made["layer_q_value"] = xr.DataArray([0.2, 0.001], {"layer": [1, 2]}, ("layer",))
    assert shown(made)["Layer 2 matters most"].verdict == "holds"
    made["layer_gain"][0] = -0.18
    made["layer_gain_ci"] = interval(made["layer_gain"], 0.05)
    assert shown(made)["Layers 1 and 2 cannot be told apart"].verdict == "undecided"
    made["layer_q_value"] = made["layer_q_value"] * 0 + 1
    assert shown(made)["No layer alone is needed for sure"].verdict == "undecided"
    made["layer_q_value"] = made["layer_q_value"] * 0 + 0.2
    assert "in five samples of six." in shown(made)["No layer alone is needed for sure"].text


def test_a_gain_that_the_other_half_does_not_have_is_not_confirmed():
    made = result()
    assert shown(made)["The gain by disabling a head is not confirmed"].verdict == "fails"
    made["chosen_gain"] = made["chosen_gain"] + 0.05
    made["chosen_gain_ci"] = interval(made["chosen_gain"], 0.005)
    assert shown(made)["Disabling a head helps"].verdict == "holds"
    made["chosen_gain_ci"] = interval(made["chosen_gain"], 0.5)
    assert shown(made)["No gain by disabling a head is confirmed"].verdict == "undecided"


def test_a_task_that_is_not_learned_is_said_first_and_nothing_is_claimed():
    made = result()
    for chance in (0.79, 0.9):
        made["chance"] = xr.DataArray([chance, 0.6], {"metric": METRICS}, ("metric",))
        assert parts_of(PAGE.highlights, made)[0].topic.startswith("The task is not learned")
        assert not any(finding.claim for finding in parts_of(PAGE.highlights, made))
        assert parts_of(PAGE.findings, made)[0].verdict in ("undecided", "fails")
        assert not any(finding.claim for finding in parts_of(PAGE.findings, made)[1:])
    made["chance"] = xr.DataArray([0.5, 0.6], {"metric": METRICS}, ("metric",))
    assert "The task needs 1 head" in shown(made)


def test_a_gain_that_is_sure_is_not_called_noise():
    sure = result()
    sure["head_gain_ci"] = sure["head_gain_ci"] + 0.05
    assert (
        "noise"
        not in {finding.topic: finding.text for finding in parts_of(PAGE.findings, sure)}["Gains without a head"]
    )


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
