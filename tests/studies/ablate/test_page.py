"""Report of an ablation: what it says of a result made by hand, and that all its figures are drawn."""

import numpy as np
import pytest
import xarray as xr

from headscope.studies.ablate.page import figures as charts
from headscope.studies.ablate.page.findings import findings, highlights

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


def test_findings_say_what_helps_what_hurts_and_what_is_noise():
    said = {finding.topic: finding.text for finding in findings(result())}
    assert said["With all heads"] == "Accuracy 0.80 [0.75, 0.85], cross entropy 0.50 [0.45, 0.55]. n = 408 examples."
    gains = "Gains of accuracy: 1 head, 0.020 to 0.020, median 0.020; 0 beyond chance (q < 0.05, Benjamini-Hochberg"
    assert said["Gains without a head"].startswith(gains)
    losses = "Losses of accuracy: 2 heads, -0.30 to -0.10, median -0.20; 1 beyond chance"
    assert said["Losses without a head"].startswith(losses) and ": 2-2 (-0.30" in said["Losses without a head"]
    assert (
        "The score without a head is higher for 1 of 4 heads, the same for 1, lower for 2. 1 head changes"
        in (said["Heads by their effect"])
    )
    assert ": 2-2. With 408 examples, accuracy that is worse by " in said["Heads by their effect"]
    assert (
        "0.010. On the other half it gains -0.010 [-0.015, -0.005]: not confirmed" in (said["Chosen on the first half"])
    )
    assert "lowers accuracy: -0.20 [-0.21, -0.19], beyond chance" in said["A random head"]
    assert "layer 2: -0.20 [-0.25, -0.15]" in said["Whole layers"]
    assert "Michel et al. 0.60 [0.50, 0.70]" in said["Importance by gradient"]
    assert ".25 to .46 between two seeds" in said["The importance of heads is that of one training"]


def shown(made):
    """The highlights by topic."""
    return {finding.topic: finding for finding in highlights(made)}


def test_highlights_name_the_heads_that_the_task_needs():
    made = result()
    needed = shown(made)["The task needs 1 head"]
    assert needed.text == "Without head 2-2 accuracy falls the most, by 0.30." and needed.verdict == "holds"
    made["head_q_value"] = made["head_q_value"] * 0 + 1
    unsure = shown(made)["The task needs no single head for sure"]
    assert unsure.verdict == "undecided"
    # Intervals of 0.05 either way: by the normal distribution, (2.50 + 0.84) standard errors are 8.5 points.
    assert unsure.text.endswith(
        "With 408 examples, accuracy that is worse by 8.7 points is found in 80% of cases (corrected for 4 heads); "
        "less may go unseen."
    )
    for name in ("head_gain_n_examples", "head_gain_ci"):
        assert "is found in" not in str(highlights(made.drop_vars(name)))


def test_heads_that_lose_less_than_a_point_for_sure_can_be_disabled():
    made = result()
    none = shown(made)["No head is shown to be free"]
    assert none.verdict == "undecided" and "of the median head is more than can be told from these." in none.text
    made["head_gain_ci"], made["head_gain_n_examples"] = interval(made["head_gain"], 0.004), xr.DataArray(1000)
    free = shown(made)["2 of 4 heads can be disabled for less than 0.010 of accuracy"]
    assert free.verdict == "holds" and free.text.endswith("(q < 0.05, Benjamini-Hochberg over 4 heads).")


def test_that_no_answer_changed_is_no_proof_in_few_examples():
    """Without any head, no answer of 408 changes; of 100 one in a hundred could not be seen."""
    made = result()
    made["head_gain"] = made["head_gain"] * 0.0
    made["head_gain_ci"] = interval(made["head_gain"], 0.0)
    assert "4 of 4 heads can be disabled for less than 0.010 of accuracy" in shown(made)
    made["head_gain_n_examples"] = xr.DataArray(100)
    text = shown(made)["No head is shown to be free"].text
    assert text.endswith("is more than can be told from these.")


def test_of_a_loss_the_test_is_that_of_a_normal_estimate():
    made = result().sel(metric=["cross_entropy"])
    made["head_gain_ci"] = interval(made["head_gain"], 0.004)
    assert "2 of 4 heads can be disabled for less than 0.010 of cross entropy" in shown(made)


def test_heads_are_counted_by_a_metric_that_few_answers_do_not_move():
    made = result().assign_coords(metric=["f1", "cross_entropy"])
    made["head_gain_ci"] = interval(made["head_gain"], 0.004)
    assert "2 of 4 heads can be disabled for less than 0.010 of cross entropy" in shown(made)


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
        assert highlights(made)[0].topic.startswith("The task is not learned")
        assert not any(finding.claim for finding in highlights(made))
        assert findings(made)[0].verdict in ("undecided", "fails")
        assert not any(finding.claim for finding in findings(made)[1:])
    made["chance"] = xr.DataArray([0.5, 0.6], {"metric": METRICS}, ("metric",))
    assert "The task needs 1 head" in shown(made)


def test_highlights_begin_with_the_named_sets():
    made = result()
    made["set_gain"] = xr.DataArray([[-0.1, 0.2]], {"head_set": ["1-1,2-2"], "metric": METRICS}, ("head_set", "metric"))
    made["set_gain_ci"] = interval(made["set_gain"], 0.05)
    first = highlights(made)[0]
    assert first.topic == "Named sets"
    assert first.text == "Gain with the heads of a set disabled: 1-1,2-2: -0.10 [-0.15, -0.050]."


def test_a_gain_that_is_sure_is_not_called_noise():
    sure = result()
    sure["head_gain_ci"] = sure["head_gain_ci"] + 0.05
    assert "noise" not in {finding.topic: finding.text for finding in findings(sure)}["Gains without a head"]


def test_every_figure_is_a_chart_of_the_planted_numbers():
    drawn = {figure.name: figure.chart.data.values for figure in charts.figures(result())}
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
    titles = {figure.name: figure.chart.title.text for figure in charts.figures(made)}
    assert titles["head_gain-cross_entropy"] == "Gain of cross entropy without each head"
    assert titles["importance-michel_code"] == "Importance, code of Michel et al., and gain of cross entropy"
