"""The table of a study of fine-tuning: its labels, its numbers, and that it goes on where it was."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from safetensors.numpy import load_file

import headscope
from headscope import HeadscopeError, Settings, results
from headscope.corpora.tasks import resampled, score
from headscope.corpora.tasks.task import limited
from headscope.outputs.outputs import logits
from headscope.outputs.task_inputs import encode_for_task
from headscope.report.study_page import study_page
from headscope.statistics.bootstrap import poisson_draws
from headscope.studies.training.finetune.variables import to_variables
from headscope.studies.training.finetune.ways import TABLE as INITS
from headscope.training import run_record
from headscope.training.run_record import TrainedOutputs
from headscope.training.trainer import loss_curve
from support.reference import levels
from support.runs import finetune as run
from support.small_tasks import birds, counts, tiny_folder

QUICK = Settings(resamples=20)
OPTIONS: dict[str, Any] = {"batch": 8, "epochs": 2, "learning_rate": 2e-3, "max_tokens": 32, "loading": {}}
TASKS = (birds(16, 24), counts(12, 24))


def with_options(**given: Any) -> dict[str, Any]:
    """The options of these tests with others beside or instead of them."""
    return {**OPTIONS, **given}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_folder(tmp_path_factory.mktemp("tiny"), num_hidden_layers=1))


@pytest.fixture(scope="module")
def table(folder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, Path, list[int]]:
    """A table of two tasks and two seeds, its folder, and the steps that were told and expected."""
    directory, steps = tmp_path_factory.mktemp("table"), [0, 0]

    def record(index: int, number: int) -> None:
        steps[index] += number

    settings = replace(QUICK, on_progress=lambda done: record(0, done), on_total=lambda total: record(1, total))
    return run(folder, TASKS, settings, directory=directory, table=True, seeds=2, **OPTIONS), directory, steps


def test_table_has_a_score_for_each_task_init_and_seed(table: tuple[xr.Dataset, Path, list[int]]) -> None:
    result, directory, steps = table
    results.check(result)
    assert result["score"].dims == ("task", "init", "metric")
    assert result["init"].values.tolist() == list(INITS)
    assert result["metric"].values.tolist() == ["accuracy", "f1", "pearson", "spearman"]
    assert result["seed"].values.tolist() == [0, 1]
    own = {"birds": ["accuracy", "f1"], "cats": ["pearson", "spearman"]}
    for task, metrics in own.items():
        there = result["score"].sel(task=task).notnull()
        assert there.sel(metric=metrics).all() and there.sum() == 2 * len(INITS)
    assert steps == [72, 72]  # 2 tasks, 3 inits that train, 2 seeds, 2 epochs of 3 batches
    assert result["epoch_score"].sel(init="pretrained").isnull().all()
    assert result["train_loss"].sel(init=["random", "frozen", "finetuned"]).notnull().all()
    assert results.read(results.save(result, directory)).equals(result)


def test_scores_are_those_of_the_kept_outputs(table: tuple[xr.Dataset, Path, list[int]]) -> None:
    result, directory, _ = table
    for task in TASKS:
        targets = task.targets(task.dev)
        draws = poisson_draws(range(len(targets)), 0, 20)
        for init in INITS:
            kept = [load_file(directory / "runs" / f"{task.name}-{init}-{seed}" / "run.safetensors") for seed in (0, 1)]
            for metric in task.metrics:
                labels = {"task": task.name, "init": init, "metric": metric}
                ours = [float(score(metric, one["outputs"], targets)) for one in kept]
                drawn = np.mean([resampled(metric, one["outputs"], targets, draws) for one in kept], axis=0)
                assert result["score_by_seed"].sel(labels).values.tolist() == pytest.approx(ours)
                assert float(result["score"].sel(labels)) == pytest.approx(np.mean(ours))
                assert float(result["score_std"].sel(labels)) == pytest.approx(abs(ours[0] - ours[1]) / 2**0.5)
                assert result["score_ci"].sel(labels).values == pytest.approx(np.quantile(drawn, levels(len(targets))))
                if init != "pretrained":
                    last = [score(metric, one["epoch_outputs"][1], targets) for one in kept]
                    assert float(result["epoch_score"].sel(labels | {"epoch": 2})) == pytest.approx(np.mean(last))
            if init != "pretrained":
                losses = np.mean([loss_curve(one["train_loss"]) for one in kept], axis=0)
                np.testing.assert_allclose(result["train_loss"].sel(task=task.name, init=init), losses)


def test_scores_of_chains_are_those_of_their_examples_and_nothing_learned_teaches_no_longer_ones(
    folder: str, tmp_path: Path
) -> None:
    task = headscope.read_task("inference", limit=12)
    result = run(folder, (limited(task, 8),), QUICK, directory=tmp_path, **with_options(max_tokens=128, epochs=1))
    outputs = load_file(tmp_path / "runs" / "inference-finetuned-0" / "run.safetensors")["outputs"]
    right = outputs.argmax(-1) == task.targets(task.dev)
    for depth in (1, 2, 3, 4):
        mine = [bool(answer) for answer, taken in zip(right, task.depths, strict=True) if taken == depth]
        part = result.sel(task="inference", init="finetuned", chain_length=depth)
        assert float(part["chain_score"]) == pytest.approx(np.mean(mine))
        assert int(part["chain_score_n_examples"]) == len(mine) == 24
    topics = [finding.topic for finding in study_page(result).highlights()]
    assert "inference: short chains teach longer ones" not in topics


def test_a_model_that_answers_all_chains_earns_the_claim(table: tuple[xr.Dataset, Path, list[int]]) -> None:
    task = headscope.read_task("inference", limit=12)
    outputs = np.eye(2)[task.targets(task.dev).astype(int)]
    verdicts = []
    for longest in (4, 3):  # of the chains that are right; all others get "no"
        answers = np.where(np.array(task.depths)[:, None] <= longest, outputs, [[1.0, 0.0]])
        trained = TrainedOutputs(answers, answers[None][:0], np.ones(8, np.float32))
        key, pairs = ("inference", "finetuned", (0, 0)), [(0, 0)]
        made = to_variables((task,), ("finetuned",), pairs, {key: trained}, {key: {}}, {}, QUICK)
        page = study_page(made.assign_attrs(table[0].attrs | {"recipe": '{"trained_depth": 2}'}))
        verdicts.append({finding.topic for finding in (*page.highlights(), *page.findings())})
    assert "inference: short chains teach longer ones" in verdicts[0]
    assert "inference: short chains are not shown to teach longer ones" in verdicts[1]


def test_same_answer_always_is_chance(table: tuple[xr.Dataset, Path, list[int]]) -> None:
    chance = table[0]["chance"]
    assert float(chance.sel(task="birds", metric="accuracy")) == 0.5
    assert float(chance.sel(task="cats", metric="pearson")) == 0.0


def test_models_of_the_first_seed_are_kept(table: tuple[xr.Dataset, Path, list[int]]) -> None:
    _, directory, _ = table
    trained = {f"{task.name}-{init}" for task in TASKS for init in INITS if init != "pretrained"}
    assert {path.name for path in (directory / "models").iterdir()} == trained
    model = headscope.load(str(directory / "models" / "birds-finetuned"), head=True)
    assert model.network.config.id2label == {0: "no", 1: "yes"}
    inputs, _ = encode_for_task(model, TASKS[0].dev, 32)
    kept = load_file(directory / "runs" / "birds-finetuned-0" / "run.safetensors")["outputs"]
    np.testing.assert_allclose(logits(model, inputs), kept, atol=1e-5)
    assert {path.name for path in (directory / "runs" / "birds-finetuned-0").iterdir()} == {
        "digests",
        "heads.safetensors",
        "run.safetensors",
        "settings.json",
    }


def test_table_that_has_ended_is_read_and_one_that_has_not_goes_on(
    folder: str, table: tuple[xr.Dataset, Path, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    result, directory, _ = table
    ran: list[str] = []
    train = headscope.studies.training.finetune.table1.train  # type: ignore[attr-defined]

    def noted(start: Any, examples: Any, *rest: Any, **options: Any) -> Any:
        ran.append(examples.dev.task.name)
        return train(start, examples, *rest, **options)

    monkeypatch.setattr("headscope.studies.training.finetune.table1.train", noted)
    kept = directory / "runs" / "cats-random-1"
    (kept / "run.safetensors").unlink()
    again = run(folder, TASKS, QUICK, directory=directory, table=True, seeds=2, **OPTIONS)
    assert ran == ["cats"]
    assert again.drop_vars("train_seconds").equals(result.drop_vars("train_seconds"))
    changing = ("started", "duration_s")
    assert {key: value for key, value in again.attrs.items() if key not in changing} == {
        key: value for key, value in result.attrs.items() if key not in changing
    }


def test_single_run_is_saved_as_model(folder: str, tmp_path: Path) -> None:
    result = run(folder, TASKS[:1], QUICK, directory=tmp_path, **OPTIONS)
    assert dict(result["score"].sizes) == {"task": 1, "init": 1, "metric": 2}
    assert not {"score_std", "score_by_seed", "paper_score"} & set(result)
    assert result.attrs["new_weights"] == "classifier.bias, classifier.weight"
    assert (tmp_path / "model" / "config.json").is_file()
    assert result.attrs["n_examples"] == 16
    recipe = json.loads(result.attrs["recipe"])
    assert (recipe["epochs"], recipe["learning_rate"], recipe["train_examples"]) == (2, 2e-3, {"birds": 24})
    with pytest.raises(HeadscopeError, match=r"holds a run with learning_rate 0\.002, now it is 0\.001"):
        run(folder, TASKS[:1], QUICK, directory=tmp_path, **with_options(learning_rate=1e-3))


def test_frozen_has_a_rate_of_its_own_and_inputs_that_are_cut_are_counted(folder: str, tmp_path: Path) -> None:
    options = with_options(init="frozen", frozen_rate=1e-2, max_tokens=8, epochs=1)
    result = run(folder, TASKS[:1], QUICK, directory=tmp_path, **options)
    settings = json.loads((tmp_path / "runs" / "birds-frozen-0" / "settings.json").read_text())
    assert settings["learning_rate"] == 1e-2
    long = [
        sum(len(example.first[0].text.split()) > 6 for example in corpus)
        for corpus in (TASKS[0].dev, TASKS[0].training())
    ]
    cut = json.loads(result.attrs["skipped"])
    assert cut["birds dev examples cut"] >= long[0] > 0
    assert cut["birds train examples cut"] >= long[1] > 0


def test_dev_labels_that_training_lacks_are_counted_with_the_result(folder: str, tmp_path: Path) -> None:
    task = TASKS[0]
    only = [example for example in task.training() if str(example.label) == task.labels[0]]
    train = replace(task.training(), n_examples=len(only), again=lambda: iter(only))
    lacking = replace(task, train=train)
    result = run(folder, (lacking,), QUICK, directory=tmp_path, **with_options(epochs=1))
    number = sum(str(example.label) == task.labels[1] for example in task.dev)
    assert json.loads(result.attrs["skipped"])["birds dev examples with a label that train lacks"] == number > 0


def test_paper_stands_beside_tasks_that_it_has(folder: str, tmp_path: Path) -> None:
    named = replace(TASKS[0], name="MRPC")
    result = run(folder, (named,), QUICK, directory=tmp_path, init="pretrained", **OPTIONS)
    paper = result["paper_score"].sel(task="MRPC", init="pretrained")
    assert paper.sel(metric=["f1", "accuracy"]).values.tolist() == [0.0, 0.316]
    assert not list(tmp_path.glob("model*"))


def test_train_limit_chooses_examples_once_for_all(folder: str, tmp_path: Path) -> None:
    task = birds(16, 60)
    some = limited(task, 20).training()
    names = [example.id for example in some]
    assert names == [example.id for example in limited(task, 20).training()]
    everything = [example.id for example in task.training()]
    assert len(names) == some.n_examples == 20
    assert names == [name for name in everything if name in names] != everything[:20]
    assert limited(task, 60) is task
    options = with_options(train_limit=["20", "birds=8"])
    result = run(folder, (task, TASKS[1]), QUICK, directory=tmp_path, **options)
    assert json.loads(result.attrs["recipe"])["train_examples"] == {"birds": 8, "cats": 20}
    kept = {
        name: load_file(tmp_path / "runs" / f"{name}-finetuned-0" / "run.safetensors") for name in ("birds", "cats")
    }
    assert {name: len(one["train_loss"]) for name, one in kept.items()} == {"birds": 2, "cats": 6}


@pytest.mark.parametrize("limit", ["many", "dogs=5", "birds=", "birds=0", "-3"])
def test_limit_that_says_nothing_is_refused(folder: str, tmp_path: Path, limit: str) -> None:
    with pytest.raises(HeadscopeError, match=f"train limit '{limit}' is not"):
        run(folder, TASKS[:1], QUICK, directory=tmp_path, train_limit=[limit], **OPTIONS)


def test_task_without_train_split_and_other_weights_are_refused(folder: str, tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="task 'birds' has no train split"):
        run(folder, (replace(TASKS[0], train=None),), QUICK, directory=tmp_path, **OPTIONS)
    with pytest.raises(HeadscopeError, match="trained in float32; use --precision bf16"):
        run(folder, TASKS, QUICK, directory=tmp_path, **with_options(loading={"dtype": "bfloat16"}))
    assert not list(tmp_path.iterdir())


def test_loss_curve_is_the_mean_of_each_part() -> None:
    losses = np.random.default_rng(0).random(150)
    np.testing.assert_allclose(loss_curve(losses), losses.reshape(50, 3).mean(1))
    uneven = loss_curve(losses[:137])
    assert uneven[0] == pytest.approx(losses[:2].mean()) and uneven[1] == pytest.approx(losses[2:5].mean())
    assert np.isnan(loss_curve(losses[:0])).all()


def test_a_run_from_before_the_count_of_cut_examples_is_read(tmp_path: Path) -> None:
    arrays = {"outputs": np.zeros((2, 2)), "epoch_outputs": np.zeros((1, 2, 2)), "train_loss": np.zeros(3)}
    run_record.save_file(arrays, tmp_path / "run.safetensors")
    ended = run_record.RunRecord(tmp_path).completed()
    assert ended is not None and int(ended.cut) == 0
