"""A table of ways and seeds: killed and continued, by workers, with bad seeds stopped, and its page."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope import HeadscopeError, Settings, results
from headscope.outputs.outputs import logits
from headscope.outputs.task_inputs import encode_for_task
from headscope.report.study_page import study_page
from headscope.training import RunRecord
from support.every_study import WHOLE_RESULTS, Run
from support.killed import Killed, kill
from support.runs import finetune as run
from support.small_tasks import birds, counts, tiny_folder

OPTIONS: dict[str, Any] = {"batch": 8, "epochs": 2, "learning_rate": 2e-3, "max_tokens": 32, "loading": {}}
OPTIONS |= {"baselines": False, "head_examples": 4}
TASKS = (birds(12, 16),)
DESIGN: dict[str, Any] = {"ways": "finetuned", "weight_seeds": 2, "order_seeds": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_folder(tmp_path_factory.mktemp("tiny"), num_hidden_layers=2))


def table(folder: str, directory: Path, workers: int = 1, **given: Any) -> xr.Dataset:
    return run(folder, TASKS, Settings(resamples=20, workers=workers), directory=directory, **OPTIONS | DESIGN | given)


@pytest.fixture(scope="module")
def tables(folder: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, xr.Dataset]:
    """A table of one way that nothing interrupts, and one of two ways, which reads the runs of the first."""
    directory = tmp_path_factory.mktemp("whole")
    return table(folder, directory), table(folder, directory, ways="finetuned,lora")


@pytest.fixture(scope="module")
def one_way(tables: tuple[xr.Dataset, xr.Dataset]) -> xr.Dataset:
    return tables[0]


@pytest.fixture(scope="module")
def two_ways(tables: tuple[xr.Dataset, xr.Dataset]) -> xr.Dataset:
    return tables[1]


def test_seeds_of_new_weights_and_of_the_order_are_apart(ended: Callable[[str, str], Run]) -> None:
    """In the result of the command, of two seeds each and of two ways."""
    result = results.read(ended("finetune", WHOLE_RESULTS).directory).sel(task="RTE", metric="accuracy")
    by_pair = result["score_by_pair"]
    assert (by_pair.sizes["seed"], by_pair.sizes["order_seed"]) == (2, 2) and bool(by_pair.notnull().all())
    np.testing.assert_allclose(result["score"], by_pair.mean(["seed", "order_seed"]))
    np.testing.assert_allclose(result["score_by_seed"], by_pair.mean("order_seed"))
    assert result["expected_best"].sizes["trials"] == 4
    assert bool(result["seed_deviation"].notnull().all()) and bool(result["head_agreement"].notnull().any())
    trained = result["trained_parameters"]
    assert float(trained.sel(init="frozen")) < 0.2 * float(trained.sel(init="finetuned"))
    gain = result["score"].sel(init="frozen") - result["score"].sel(init="finetuned")
    np.testing.assert_allclose(result["way_gain"].sel(init="frozen"), gain)


def test_the_models_of_all_seeds_are_kept_where_that_is_asked_for(folder: str, tmp_path: Path) -> None:
    made: dict[str, Any] = {"order_seeds": None, "epochs": 1}
    table(folder, tmp_path / "first", **made)
    assert not (tmp_path / "first" / "models").exists()
    with pytest.raises(HeadscopeError, match="all_models"):
        table(folder, tmp_path / "first", all_models=True, **made)
    result = table(folder, tmp_path / "all", all_models=True, **made)
    for name, path in (("birds-finetuned-0", "model"), ("birds-finetuned-1-0", "models/birds-finetuned-1-0")):
        model = headscope.load(str(tmp_path / "all" / path), head=True)
        inputs, _ = encode_for_task(model, TASKS[0].dev, 32)
        outputs = RunRecord(tmp_path / "all" / "runs" / name).completed().outputs  # type: ignore[union-attr]
        np.testing.assert_allclose(logits(model, inputs), outputs, atol=1e-5)
    assert result.attrs["recipe"] == table(folder, tmp_path / "all", all_models=True, **made).attrs["recipe"]


def test_runs_depend_on_both_seeds_alone(one_way: xr.Dataset, folder: str, tmp_path: Path) -> None:
    single = table(folder, tmp_path, weight_seeds=1, order_seeds=2)
    pairs = one_way["score_by_pair"].sel(seed=[0])
    np.testing.assert_array_equal(single["score_by_pair"], pairs)
    records = [RunRecord(tmp_path / "runs" / f"birds-finetuned-{seeds}") for seeds in ("0", "0-1")]
    one, other = (record.completed().train_loss for record in records)  # type: ignore[union-attr]
    assert not np.array_equal(one, other)


def test_table_killed_in_the_middle_of_a_run_ends_with_the_same_bits(
    one_way: xr.Dataset, folder: str, tmp_path: Path, checkpoints: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        kill(patch, RunRecord, "keep_checkpoint", 8)
        with pytest.raises(Killed):
            table(folder, tmp_path)
    done = [path for path in (tmp_path / "runs").iterdir() if (path / "run.safetensors").exists()]
    assert len(done) == 2, "the third of four runs was killed"
    assert table(folder, tmp_path).equals(one_way)


def test_workers_give_the_same_table(one_way: xr.Dataset, folder: str, tmp_path: Path) -> None:
    assert table(folder, tmp_path, workers=2).equals(one_way)


def test_bad_seeds_are_stopped_and_the_others_end_as_without(one_way: xr.Dataset, folder: str, tmp_path: Path) -> None:
    result = table(folder, tmp_path, stop_bad_seeds=0.5)
    kept = result["score_by_pair"].notnull()
    assert int(kept.sel(metric="accuracy").sum()) == 2
    np.testing.assert_array_equal(result["score_by_pair"].where(kept), one_way["score_by_pair"].where(kept))
    stopped = json.loads(result.attrs["recipe"])["stopped"]
    assert stopped == {"share": 0.5, "runs": 2, "of": 4, "epoch": 1, "saved": 0.25}
    assert not {"seed_deviation", "seed_spread", "expected_best", "stopping_loss", "score_std"} & set(result)
    texts = {finding.topic: finding.text for finding in study_page(result).findings()}
    assert "2 of 4 runs" in texts["Stopped runs"] and "saved 25%" in texts["Stopped runs"]
    with pytest.raises(HeadscopeError, match="a single epoch"):
        table(folder, tmp_path, stop_bad_seeds=0.5, epochs=1)


@pytest.mark.thorough
def test_page_says_what_seeds_and_ways_give(two_ways: xr.Dataset) -> None:
    page = study_page(two_ways)
    found = {finding.topic: finding for finding in (*page.highlights(), *page.findings())}
    seeds = next(finding for topic, finding in found.items() if "the seed of new weights" in topic)
    assert seeds.verdict == "undecided"  # four runs are too few for a claim
    assert "keeping the highest of 4" in found["birds: several runs"].text
    heads = found["birds: heads of all seeds"].text
    assert "Rank correlation of two runs over heads" in heads and ", entropy " in heads and ".25 to .46" in heads
    assert any("training all weights" in topic for topic in found)
    tables = {table.name: table for table in page.tables()}
    assert [names for names, _ in tables["ways"].rows] == [("birds", "finetuned"), ("birds", "LoRA")]
    assert len(tables["seeds"].rows) == 2
    names = {figure.name for figure in page.figures()}
    assert {"expected_best-birds", "important_runs-birds"} <= names


def test_two_stages_begin_with_the_first_task(folder: str, tmp_path: Path) -> None:
    tasks = (TASKS[0], counts(8, 16))
    options = OPTIONS | {"ways": "finetuned,two_stages", "epochs": 1}
    result = run(folder, tasks, Settings(resamples=20), directory=tmp_path, first_task="cats", **options)
    assert result["task"].values.tolist() == ["birds"]
    assert json.loads(result.attrs["recipe"])["first_task"] == "cats"
    with pytest.raises(HeadscopeError, match="first task 'dogs': name it and another one"):
        run(folder, tasks, Settings(), directory=tmp_path, first_task="dogs", **options)


@pytest.mark.parametrize("rate", ["lora", "lora=fast", "mix=1e-3", "lora=2"])
def test_rates_of_ways_that_say_nothing_are_refused(rate: str, folder: str, tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=f"way rate '{rate}' is not"):
        table(folder, tmp_path, way_rate=[rate])
