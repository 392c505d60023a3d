"""Pruning finds the heads that matter, scores what is left, and saves a model that answers the same."""

import errno
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from transformers import BertForMaskedLM, BertForSequenceClassification, PreTrainedModel

import headscope
from headscope import HeadscopeError, Model, Settings, results
from headscope.capture.transformers_logging import quiet
from headscope.corpora.tasks import masked, score
from headscope.models.heads import parse
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.report.numbers import Numbers
from headscope.report.study_page import study_page
from headscope.results.vocabulary import attribute_kinds
from headscope.statistics.bootstrap import poisson_draws
from headscope.studies.size.prune import ranking
from headscope.studies.size.prune.page import subnetworks
from headscope.studies.size.prune.subnetworks import scored_parts
from support.findings import all_texts_of
from support.planted_task import DECIDES, planted_classifier, planted_task
from support.reference import levels
from support.runs import prune as run
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=50)
TASK = planted_task()


@pytest.fixture(scope="module")
def planted() -> Model:
    """Its head 2-3 decides alone."""
    return headscope.wrap(planted_classifier(), tiny_tokenizer())


def removed(result: xr.Dataset) -> list[tuple[int, int]]:
    """The heads that are gone, in their order."""
    order = result["removed_at"].stack(place=("layer", "head")).dropna("place")
    return [(int(value[0]), int(value[1])) for value in order.sortby(order)["place"].values]


def saying(folder: Path, values: np.ndarray, model: Model, **attributes: str) -> Path:
    """A folder as `ablate` writes it, with this importance of [layer, head] for each estimator and metric."""
    axes = {"layer": [1, 2], "head": [1, 2, 3, 4]}
    words = {"long_name": "importance", "units": "loss", "source": "made up"}
    variables = {
        "importance": xr.DataArray(values[..., None], axes | {"estimator": ["michel"]}, attrs=words),
        "head_score": xr.DataArray(0.75 - values[..., None], axes | {"metric": ["accuracy"]}, attrs=words),
        "baseline": xr.DataArray([0.75], {"metric": ["accuracy"]}, attrs=words),
    }
    made = dict.fromkeys(results.ATTRIBUTES, "") | {
        name: 1 for name, kind in attribute_kinds().items() if kind == "number"
    }
    made |= {"study": "ablate", "model_sha256": model.sha256} | attributes
    results.save(xr.Dataset(variables, attrs=made), folder)
    return folder


ORDER = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.7, 0.6, 0.8]])


@pytest.mark.parametrize("by", ["importance", "sweep"])
def test_all_heads_but_the_one_that_decides_can_go(by, planted, tmp_path):
    result = run(planted, TASK, QUICK, directory=tmp_path, by=by, share=1.0, keep=0)
    assert len(removed(result)) == 7 and DECIDES not in removed(result)
    assert result["heads_left"].isel(share_removed=-1).values.tolist() == [0, 1]
    assert (result["pruned_score"] == 1).all() and (result["reloaded_score"] == 1).all()
    loaded = headscope.load(str(tmp_path / "model"), head=True)
    assert loaded.network.config.headscope_pruning["removed"] == {"1": [1, 2, 3, 4], "2": [1, 2, 4]}


def test_one_head_of_each_layer_stays_by_default(planted, tmp_path):
    result = run(planted, TASK, QUICK, directory=tmp_path, share=1.0)
    assert result["heads_left"].isel(share_removed=-1).values.tolist() == [1, 1]
    assert DECIDES not in removed(result)
    assert float(result["pruned_score"].sel(metric="accuracy")[-1]) == 1


def test_scores_are_those_of_the_whole_model_with_the_heads_zeroed(planted, tmp_path):
    source = saying(tmp_path / "ablate", ORDER, planted)
    result = run(planted, TASK, QUICK, directory=tmp_path, from_=source, share=0.875, step=0.125)
    inputs, targets = task_inputs(planted, TASK, TASK.dev), TASK.targets(TASK.dev)
    answers = []
    for gone in range(7):
        names = ",".join(f"{layer}-{head}" for layer, head in removed(result)[:gone])
        disabled = parse(names, (4, 4)) if gone else np.zeros((2, 4), dtype=bool)
        with torch.inference_mode(), planted.changed(disabled, "zero"):
            answers.append(task_outputs(inputs))
    for metric in ("accuracy", "f1"):
        expected = [score(metric, answer, targets) for answer in answers]
        np.testing.assert_allclose(result["pruned_score"].sel(metric=metric), expected)
    assert len({round(float(one), 6) for one in result["pruned_score"].sel(metric="accuracy")}) > 1
    np.testing.assert_allclose(result["share_removed"], np.arange(7) / 8)


@pytest.mark.parametrize(("lead", "least", "most"), [(0.3, 30, 40), (0.0, 0, 4)])
def test_a_lead_of_the_good_part_is_claimed_where_it_is_planted_and_seldom_of_a_part_by_chance(lead, least, most):
    """Parts score 60% with a deviation of 8 points; the good one of noise is another of them."""
    targets, claimed = np.arange(200) % 2, 0
    task = SimpleNamespace(metrics=("accuracy",), dev=SimpleNamespace(units=range(200)))
    for trial in range(40):
        rng = np.random.default_rng(trial)
        shares = np.clip(0.6 + 0.08 * rng.standard_normal(23) + np.array([0, lead, *[0] * 21]), 0, 1)
        right = rng.random((23, len(targets))) < shares[:, None]
        outputs = np.where(right[..., None], np.eye(2)[targets], np.eye(2)[1 - targets])
        path: Any = SimpleNamespace(task=task, targets=targets, points=[SimpleNamespace(outputs=outputs[0])])
        numbers = scored_parts(path, [*outputs[1:]], QUICK)
        attributes = {"corpus": "dev", "chosen_on": "train"}
        verdicts = [finding.verdict for finding in subnetworks(Numbers(xr.Dataset(numbers, attrs=attributes)))]
        claimed += "holds" in verdicts
    assert least <= claimed <= most


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_good_bad_and_random_parts_are_scored_by_their_masks_on_the_same_examples(share, tmp_path):
    model = headscope.wrap(tiny_bert(kind=BertForSequenceClassification), tiny_tokenizer())
    settings = Settings(resamples=50, seed=3)
    result = run(model, TASK, settings, directory=tmp_path, share=share, step=0.25, keep=0, subnetworks=4)
    inputs, targets, gone = task_inputs(model, TASK, TASK.dev), TASK.targets(TASK.dev), removed(result)
    everything, size = [(layer, head) for layer in (1, 2, 3) for head in (1, 2, 3, 4)], 12 - len(gone)
    stay = [head for head in everything if head not in gone]

    def right(part: list[tuple[int, int]]) -> np.ndarray:
        without = ",".join(f"{layer}-{head}" for layer, head in everything if (layer, head) not in part)
        with torch.inference_mode(), model.changed(parse(without, (4, 4, 4)), "zero"):
            return task_outputs(inputs).argmax(1) == targets

    scores, leads = (result[name].sel(metric="accuracy") for name in ("subnetwork_score", "subnetwork_lead"))
    assert scores.sel(subnetwork="good") == right(stay).mean() == result["pruned_score"].sel(metric="accuracy")[-1]
    random = np.random.default_rng(3)
    drawn = [right([everything[at] for at in random.permutation(12)[:size]]) for _ in range(4)]
    np.testing.assert_allclose(scores.sel(subnetwork="random"), np.mean(drawn))
    as_good = sum(one.mean() >= right(stay).mean() for one in drawn)
    assert float(result["subnetwork_p_value"].sel(metric="accuracy")) == (1 + as_good) / 5
    lower, upper = scores["subnetwork"], result["subnetwork_score_ci"].sel(subnetwork="random", metric="accuracy")
    assert upper[0] <= np.mean(drawn) <= upper[1] and lower.values.tolist() == ["all", "good", "bad", "random"]
    if size <= len(gone):  # else the least important of those that stay are bad, too
        bad, draws = right(gone[:size]), poisson_draws(range(len(targets)), 3, 50)
        np.testing.assert_allclose(scores.sel(subnetwork="bad"), bad.mean())
        expected = np.quantile((draws @ right(stay) - draws @ bad) / draws.sum(1), levels(len(targets)))
        ours = result["subnetwork_lead_ci"].sel(subnetwork="bad", metric="accuracy")
        np.testing.assert_allclose(ours, expected)
    np.testing.assert_allclose(leads, scores.sel(subnetwork="good") - scores)


def test_the_page_shows_parts_of_the_model_where_they_were_asked_for(planted, tmp_path):
    result = run(planted, TASK, QUICK, directory=tmp_path, share=0.875, step=0.25, keep=0, subnetworks=24)
    assert result["subnetwork_score"].sel(metric="accuracy", subnetwork="good") == 1.0
    undecided = [
        finding for finding in study_page(result).findings() if finding.topic.startswith("The heads that stay")
    ]
    assert [finding.verdict for finding in undecided] == ["undecided"] * 2  # an eighth of all parts has it
    names = {table.name: table for table in study_page(result).tables()}
    assert {keys[0] for keys, _ in names["subnetworks"].rows} == {"all", "good", "bad", "random"}
    assert any("as many at random" in keys[0] for keys, _ in names["published"].rows)
    plain = run(planted, TASK, QUICK, directory=tmp_path / "plain", share=0.5)
    assert "subnetwork_score" not in plain
    assert "subnetworks" not in [table.name for table in study_page(plain).tables()]


def test_intervals_are_paired(tmp_path):
    """Of a model that errs with all its heads, too."""
    model = headscope.wrap(tiny_bert(kind=BertForSequenceClassification), tiny_tokenizer())
    result = run(model, TASK, QUICK, directory=tmp_path, share=0.5, step=0.25)
    inputs, targets = task_inputs(model, TASK, TASK.dev), TASK.targets(TASK.dev)
    loaded = headscope.load(str(tmp_path / "model"), head=True)
    before, after = (task_outputs(replace(inputs, model=variant)).argmax(1) == targets for variant in (model, loaded))
    assert 0 < before.mean() < 1 and (before != after).any()
    draws = poisson_draws(range(len(targets)), 0, 50)
    expected = np.quantile((draws @ after - draws @ before) / draws.sum(1), levels(len(targets)))
    last = result.isel(share_removed=-1).sel(metric="accuracy")
    np.testing.assert_allclose(last["score_change_ci"], expected)
    np.testing.assert_allclose(last["score_change"], after.mean() - before.mean())
    assert (result["score_change_ci"].isel(share_removed=0) == 0).all()
    np.testing.assert_allclose(last["pruned_score_ci"], np.quantile(draws @ after / draws.sum(1), levels(len(targets))))


@pytest.mark.parametrize("by", ["importance", "sweep"])
def test_a_saved_result_says_the_order_and_nothing_is_computed_again(by, planted, tmp_path, never):
    never("headscope.studies.size.prune.ranking.importance")
    never("headscope.studies.size.prune.ranking.sweep")
    source = saying(tmp_path / "ablate", ORDER, planted)
    result = run(planted, TASK, QUICK, directory=tmp_path, from_=source, by=by, share=0.75)
    assert removed(result) == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 3), (2, 2)]
    assert result.attrs["spared"] == 1, "it was the turn of 1-4"
    assert result.attrs["chosen_on"] == str(source)


def test_of_a_loss_the_heads_without_which_it_falls_go_first(planted, tmp_path):
    heads = ranking.HeadRanking("sweep", "michel")
    losses = masked(TASK.dev)
    source = saying(tmp_path, ORDER, planted)
    result = results.read(source).assign_coords(metric=["loss"])
    results.save(result, tmp_path / "loss")
    heads.read(tmp_path / "loss", planted, losses)
    assert heads.latest is not None
    np.testing.assert_allclose(heads.latest, -ORDER)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_sha256": "0"}, "is of model '', whose weights are not those of 'in memory'"),
        ({"estimator": "text_pruner"}, "has no importance 'text_pruner'; leave --from out"),
    ],
)
def test_a_saved_result_that_does_not_fit(changes, message, planted, tmp_path):
    estimator = changes.pop("estimator", "michel")
    source = saying(tmp_path / "ablate", ORDER, planted, **changes)
    with pytest.raises(HeadscopeError, match=message):
        run(planted, TASK, QUICK, directory=tmp_path, from_=source, estimator=estimator)


def test_steps_are_tested_in_their_order_where_heads_are_ranked_on_other_examples(planted, tmp_path):
    """The head that decides is the fourth to go."""
    source = saying(tmp_path / "ablate", np.array([[0.1, 0.2, 0.3, 0.9], [0.5, 0.6, 0.4, 0.7]]), planted)
    task = planted_task(240)
    result = run(planted, task, QUICK, directory=tmp_path, from_=source, tolerance=0.1, step=0.125)
    assert removed(result) == [(1, 1), (1, 2), (1, 3)]
    assert result["pruned_score"].sel(metric="accuracy").values.tolist() == [1, 1, 1, 1, 0.5]
    assert headscope.load(str(tmp_path / "model"), head=True).capture.heads == (1, 4)
    assert "choosing_gain" not in result and result["tested_gain_n_examples"] == 240
    texts = all_texts_of(result)
    assert texts["3 of 8 heads are removed"].startswith("Layers keep 1 to 4.")
    assert "ranked on other examples" in texts["Safe to remove: 3 heads for less than 0.10 of accuracy"]
    assert study_page(result).highlights()[0].verdict == "holds"
    assert "Safe to remove: 3 heads" in (tmp_path / "model" / "README.md").read_text()


@pytest.mark.parametrize("ranked_on_train", [True, False])
def test_too_few_examples_promise_nothing(planted, tmp_path, ranked_on_train):
    """No answer of 40 changes, but of 20 (or of 40) examples a twentieth may be lost unseen."""
    task = TASK if ranked_on_train else replace(TASK, train=None)
    result = run(planted, task, QUICK, directory=tmp_path, tolerance=0.05, step=0.125)
    assert removed(result) == []
    assert headscope.load(str(tmp_path / "model"), head=True).capture.heads == (4, 4)
    text = all_texts_of(result)["No head is removed"]
    there = "(there are 40)" if ranked_on_train else "on the half that chooses"
    assert there in text and ("(there are about 40)" in text) != ranked_on_train
    assert "These are too few to say how many examples" in text
    assert [finding.topic for finding in study_page(result).highlights()] == [
        "No head is removed",
        "0 of 8 heads are removed",
    ]


def test_a_tested_half_that_is_worse_breaks_the_promise(planted, tmp_path):
    result = run(planted, planted_task(240), QUICK, directory=tmp_path, tolerance=0.1, share=0.25, step=0.125)
    for value, topic in ((-0.08, "It cannot be told whether 2 heads can go"), (-0.3, "The promise is broken")):
        changed = result.copy(deep=True)
        changed["tested_gain"][-1], changed["tested_gain_ci"][-1] = value, [value - 0.05, value + 0.05]
        first, *_ = study_page(changed).highlights()
        assert first.topic.startswith(topic) and "With up to 12% of the heads removed it holds." in first.text
        assert all_texts_of(changed)[first.topic] == first.text


def test_without_a_tolerance_nothing_is_promised(planted, tmp_path):
    texts = all_texts_of(run(planted, TASK, QUICK, directory=tmp_path, share=0.25))
    assert texts["No promise"].startswith("No tolerance is given (--tolerance)")
    assert texts["No promise"].endswith("accuracy may be worse by up to 0.088."), "though none of 40 answers is lost"


def test_a_ranking_by_the_examples_that_would_test_it_is_no_promise(planted, tmp_path):
    source = saying(tmp_path / "ablate", ORDER, planted)
    texts = all_texts_of(
        run(planted, planted_task(240), QUICK, directory=tmp_path, from_=source, by="sweep", tolerance=0.1)
    )
    assert texts["No promise"].startswith("The ranking was measured on the examples that would test it")


def test_without_a_train_split_one_half_ranks_and_the_other_tests(planted, tmp_path):
    task = replace(planted_task(240), train=None)
    result = run(planted, task, QUICK, directory=tmp_path, tolerance=0.1, share=0.25, step=0.125)
    assert result.attrs["chosen_on"] == "one half of dev" and len(removed(result)) == 2
    assert result["choosing_gain_n_examples"] == 120 and result["tested_gain_n_examples"] == 120
    text = all_texts_of(result)["Safe to remove: 2 heads for less than 0.10 of accuracy"]
    assert "one half of the examples chose" in text


def test_a_task_that_is_not_learned_promises_nothing(tmp_path):
    """A model of random weights."""
    model = headscope.wrap(tiny_bert(kind=BertForSequenceClassification), tiny_tokenizer())
    for tolerance in (None, 0.4):
        result = run(model, planted_task(240), QUICK, directory=tmp_path, tolerance=tolerance, share=0.25)
        first, *rest = study_page(result).highlights()
        assert first.topic.startswith("The task is not learned")
        assert not any(finding.claim or "romise" in finding.topic for finding in rest)
        assert float(result["chance"].sel(metric="accuracy")) == 0.5


def test_nothing_is_removed_where_the_first_step_costs_too_much(planted, tmp_path):
    source = saying(tmp_path / "ablate", np.array([[0.5, 0.2, 0.3, 0.9], [0.5, 0.6, 0.1, 0.7]]), planted)
    result = run(planted, planted_task(240), QUICK, directory=tmp_path, from_=source, tolerance=0.1, step=0.125)
    assert removed(result) == []
    assert headscope.load(str(tmp_path / "model"), head=True).capture.heads == (4, 4)
    texts = all_texts_of(result)
    assert texts["0 of 8 heads are removed"] == "Each layer keeps 4."
    assert texts["No head is removed"].endswith("the measured loss is too large.")
    assert [figure.name for figure in study_page(result).figures()] == ["pruned_score", "score_change", "parameters"]


@pytest.mark.parametrize(("again", "times"), [(False, 1), (True, 3)])
def test_heads_are_ranked_once_or_anew_after_each_step(again, times, tmp_path, monkeypatch):
    """A model that reads other states after each step; later rankings count the heads that are left."""
    model = headscope.wrap(tiny_bert(kind=BertForSequenceClassification), tiny_tokenizer())
    rounds, measured = [], ranking.importance

    def counted(model: Model, *others: Any) -> dict[str, xr.DataArray]:
        rounds.append(model.capture.heads)
        return measured(model, *others)

    monkeypatch.setattr(ranking, "importance", counted)
    task = planted_task(8, 12)
    result = run(model, task, QUICK, directory=tmp_path, share=0.5, step=0.125, again=again)
    left = [tuple(value) for value in result["heads_left"].values.tolist()]
    assert rounds == left[:times]
    assert len(removed(result)) == len(set(removed(result))) == 6


@pytest.mark.parametrize("by", ["importance", "sweep"])
def test_heads_are_ranked_anew_where_a_layer_has_none_left(by, planted, tmp_path):
    source = saying(tmp_path / "ablate", np.array([[0.1, 0.2, 0.3, 0.4], [0.8, 0.7, 0.6, 0.5]]), planted)
    result = run(planted, TASK, QUICK, directory=tmp_path, by=by, from_=source, again=True, share=1.0, keep=0, step=0.5)
    assert result["heads_left"].values.tolist() == [[4, 4], [0, 4], [0, 1]]
    assert DECIDES not in removed(result) and (result["pruned_score"] == 1).all()


def test_words_behind_a_mask_where_there_is_no_task(tmp_path):
    """Of a loss, lower is better: pruning stops where it rises."""
    model = headscope.wrap(tiny_bert(kind=BertForMaskedLM), tiny_tokenizer())
    task = masked(planted_task(12).dev)
    loss = run(model, task, QUICK, directory=tmp_path, share=0.5, step=0.25)["pruned_score"].sel(metric="loss")
    assert loss.notnull().all() and len(set(loss.values)) == 3
    rise = float(loss[1] - loss[0])
    assert rise > 0
    stopped = run(model, task, QUICK, directory=tmp_path, share=0.5, step=0.25, tolerance=rise / 2)
    assert removed(stopped) == []


def test_what_is_measured_anew_belongs_to_the_heads_that_are_left(tmp_path, monkeypatch):
    """An importance that does not depend on other heads gives the same order whether it is asked once or anew."""

    def size_of_values(model: Model, *others: Any) -> dict[str, xr.DataArray]:
        heads = model.capture.heads
        sizes = np.full((len(heads), max(heads), 1), np.nan)
        for layer, projection in enumerate(model.projections):
            rows = projection.value.get_parameter("weight").detach().unflatten(0, (projection.heads, projection.width))
            sizes[layer, : projection.heads, 0] = rows.norm(dim=(1, 2))
        return {
            "importance": xr.DataArray(sizes, dims=("layer", "head", "estimator"), coords={"estimator": ["michel"]})
        }

    monkeypatch.setattr(ranking, "importance", size_of_values)
    model = headscope.wrap(tiny_bert(kind=BertForSequenceClassification), tiny_tokenizer())
    options: dict[str, Any] = {"share": 1.0, "step": 0.125}
    once, anew = (
        run(model, planted_task(4), QUICK, directory=tmp_path, again=again, **options) for again in (False, True)
    )
    assert len(removed(once)) == 9 and removed(once) == removed(anew)


def test_a_pruned_model_is_pruned_further(planted, tmp_path):
    """The order counts the heads of the model that was given."""
    run(planted, TASK, QUICK, directory=tmp_path, share=0.5)
    half = headscope.load(str(tmp_path / "model"), head=True)
    result = run(half, TASK, QUICK, directory=tmp_path / "again", share=1.0, keep=0)
    loaded = headscope.load(str(tmp_path / "again" / "model"), head=True)
    assert sum(half.capture.heads) == 4 and len(removed(result)) == 3
    assert result["removed_at"].shape == (2, max(half.capture.heads))
    lost = loaded.network.config.headscope_pruning["removed"]
    assert lost == {"1": [1, 2, 3, 4], "2": [1, 2, 4]}
    assert float(result["reloaded_score"].sel(metric="accuracy")) == 1


def test_training_in_between(tmp_path):
    """A random model learns its task while its heads go; what is saved is what was scored."""
    network = tiny_bert(kind=BertForSequenceClassification)
    model = headscope.wrap(network, tiny_tokenizer())
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    task = planted_task(16, 96)
    options = {"share": 0.5, "step": 0.25, "finetune_epochs": 1, "learning_rate": 1e-3}
    result = run(model, task, QUICK, directory=tmp_path, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert all(torch.equal(before[name], weight) for name, weight in network.state_dict().items())
    loaded = headscope.load(str(tmp_path / "model"), head=True)
    assert not torch.equal(loaded.network.get_parameter("classifier.weight"), before["classifier.weight"])
    plain = run(model, task, QUICK, directory=tmp_path / "plain", share=0.5, step=0.25)
    assert plain["pruned_score"][0].equals(result["pruned_score"][0])
    np.testing.assert_allclose(result["reloaded_score"], result["pruned_score"][-1].values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 0.0}, "share 0.0 is not a fraction of the heads"),
        ({"share": 1.5}, "share 1.5 is not a fraction of the heads"),
        ({"share": float("nan")}, "share nan is not a fraction of the heads"),
        ({"step": 0.0}, "step 0.0 is not a fraction of the heads"),
        ({"tolerance": -0.1}, "tolerance -0.1 is out of range; use 0 or more"),
        ({"tolerance": float("nan")}, "tolerance nan is out of range"),
        ({"keep": -1}, "keep -1 is out of range"),
        ({"by": "chance"}, "by 'chance' is unknown; use one of importance, sweep"),
        ({"estimator": "mine"}, "estimator 'mine' is unknown; use one of michel"),
        ({"from_": Path("nowhere")}, "result 'nowhere' does not exist"),
        ({"finetune_epochs": 1, "learning_rate": 0.0}, "learning_rate 0.0 is out of range"),
    ],
    ids=str,
)
def test_values_that_make_no_sense(options, message, planted, tmp_path):
    with pytest.raises(HeadscopeError, match=message):
        run(planted, TASK, QUICK, directory=tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_half_written(planted, tmp_path, monkeypatch):
    run(planted, TASK, QUICK, directory=tmp_path, share=0.25)
    before = headscope.load(str(tmp_path / "model"), head=True)
    save = PreTrainedModel.save_pretrained

    def full(network: PreTrainedModel, folder: Path, **others: Any) -> None:
        save(network, folder, **others)
        (folder / "model.safetensors").write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(PreTrainedModel, "save_pretrained", full)
    with pytest.raises(HeadscopeError, match="cannot be written: no space left on the disk") as error:
        run(planted, TASK, QUICK, directory=tmp_path, share=0.5)
    assert str(error.value).endswith("choose another folder with -o")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert headscope.load(str(tmp_path / "model"), head=True).sha256 == before.sha256


def test_a_saved_model_that_answers_otherwise_is_an_error(planted, tmp_path, monkeypatch):
    save = PreTrainedModel.save_pretrained

    def other(network: PreTrainedModel, folder: Path, **others: Any) -> None:
        with torch.no_grad():
            network.get_parameter("classifier.bias").add_(torch.tensor([1.0, 0.0]))
        save(network, folder, **others)

    monkeypatch.setattr(PreTrainedModel, "save_pretrained", other)
    with pytest.raises(RuntimeError, match="outputs of the saved model differ"):
        run(planted, TASK, QUICK, directory=tmp_path)


def test_what_was_done_before_ctrl_c_is_saved(planted, tmp_path):
    done = []

    def progress(number: int) -> None:
        done.append(number)
        if len(done) == 5:  # one ranking, four models
            raise KeyboardInterrupt

    settings = Settings(resamples=50, on_progress=progress, keep_interrupted=True)
    with quiet():
        result = run(planted, planted_task(4, 4), settings, directory=tmp_path, share=0.75, step=0.125)
    assert result.attrs["interrupted"] == "after 2 of 6 steps"
    assert headscope.load(str(tmp_path / "model"), head=True).capture.heads != (4, 4)
    assert len(removed(result)) == 2
    with pytest.raises(KeyboardInterrupt):
        done.clear()
        run(planted, planted_task(4, 4), Settings(on_progress=progress), directory=tmp_path, share=0.75, step=0.125)


def test_the_report_says_what_was_removed_and_what_it_cost(planted, tmp_path):
    source = saying(tmp_path / "ablate", ORDER, planted)
    result = run(planted, TASK, QUICK, directory=tmp_path, from_=source, share=0.75)
    result.attrs["corpus"] = result.attrs["chosen_on"]
    texts = all_texts_of(result)
    assert "1 head of low importance stayed: no layer keeps fewer than 1" in texts["6 of 8 heads are removed"]
    score, change = result["pruned_score"][-1, 0], result["score_change_ci"][-1, 0]
    cost = texts[f"Accuracy was 1.00 and is {float(score):.2f}"]
    assert "beyond chance" in cost and float(change.max()) < 0 and "n = 40 examples" in cost
    assert "1-1, 1-2, 1-3, 2-1" in texts["Removed first"]
    assert "scores the same: accuracy" in texts["Loaded from its folder"]
    short = " ".join(f"{finding.topic}. {finding.text}" for finding in study_page(result).highlights())
    full, kept = (float(size) for size in result["megabytes"].values[[0, -1]])
    assert f"takes {kept:.1f} MB instead of {full:.1f} MB" in short
    assert "8 inputs of 128 tokens" in short
    assert "too good" in texts["How heads were chosen"]
    assert [figure.name for figure in study_page(result).figures()] == [
        "pruned_score",
        "score_change",
        "parameters",
        "removed_at",
    ]
    assert json.loads(result.attrs["pruning"])["share"] == 0.75
    assert results.save(result, tmp_path).is_file()


def test_size_and_time_stand_with_the_result_and_on_the_card(planted, tmp_path):
    """All linear maps of a BERT layer are multiplied once for a token; attention twice for each key."""
    result = run(planted, TASK, QUICK, directory=tmp_path, share=0.5, step=0.25)
    networks = [planted.network, headscope.load(str(tmp_path / "model"), head=True).network]
    for network, index in zip(networks, (0, -1), strict=True):
        step = result.isel(share_removed=index)
        weights = {name: weight for name, weight in network.named_parameters()}
        assert float(step["megabytes"]) == pytest.approx(4 * sum(map(torch.numel, weights.values())) / 1e6)
        linear = sum(weight.numel() for name, weight in weights.items() if ".layer." in name and weight.ndim == 2)
        widths = [weight.shape[0] for name, weight in weights.items() if name.endswith("self.query.weight")]
        assert float(step["multiplications"]) == linear + 2 * 128 * sum(widths)
    seconds = json.loads(result.attrs["forward_s"])
    assert seconds["before"] > 0 and seconds["after"] > 0 and (seconds["inputs"], seconds["tokens"]) == (8, 128)
    card = (tmp_path / "model" / "README.md").read_text()
    before, after = (float(result["pruned_score"].sel(metric="accuracy")[index]) for index in (0, -1))
    assert f"| accuracy | {before:.3f} | {after:.3f} |" in card and "4 of 8 attention heads were removed" in card
    assert f"| megabytes | {float(result['megabytes'][0]):.1f} |" in card
