"""Seeds trained by workers of a Ray cluster, which die in the middle: the bits of one process."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import xarray as xr
from ray.cluster_utils import Cluster

from headscope import HeadscopeError, results
from headscope.front.cli import compute
from headscope.training import RunRecord
from headscope.training.run_record import ONE_FOLDER
from support.cli import run_command
from support.dying_worker import VICTIM
from support.ray_machine import cluster_of, find_support
from support.same import assert_same
from support.small_tasks import tiny_folder

SEEDS = 5
OPTIONS = ("--seeds", SEEDS, "--epochs", 2, "--batch", 4, "--learning-rate", 2e-3, "--head-examples", 4)
OPTIONS += ("--resamples", 5, "--no-baselines", "--no-figures", "--quiet")
ROWS = [("dog", 0), ("bird", 1), ("tree", 0), ("bird", 1), ("man", 0), ("bird", 1), ("river", 0), ("bird", 1)]
THIRD, FOURTH = "made-finetuned-2", "made-finetuned-3"


@pytest.fixture(scope="module")
def machine() -> Iterator[Cluster]:
    """A cluster of one machine with two processors, whose workers find the package `support`."""
    with cluster_of(2) as made:
        yield made


def command(folder: Path, *more: object) -> list[str]:
    words = ("finetune", "model", "--task", "made", "--data", "task", *OPTIONS, *more, "-o", folder)
    return [str(word) for word in words]


def tuned(folder: Path, *more: object) -> xr.Dataset:
    done = run_command(*command(folder, *more))
    assert done.exit_code == 0, done.output
    return results.read(folder)


@pytest.mark.always
def test_a_killed_worker_and_a_killed_command_end_with_the_bits_of_one_process(
    machine: Cluster, tmp_path: Path, pages_not_written: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    find_support(monkeypatch)
    monkeypatch.setattr(compute, "ENTRY", "support.dying_worker:work")
    tiny_folder(tmp_path / "model", num_hidden_layers=2)
    Path("task").mkdir()
    for split in ("train", "dev"):
        lines = [f"the {noun} saw the garden\t{label}" for noun, label in ROWS]
        Path("task", f"{split}.tsv").write_text("\n".join(["sentence\tlabel", *lines, ""]))
    ray = ("--engine", "ray", "--address", machine.address)
    one = tuned(Path("one"))
    words = (sys.executable, "-m", "support.dying_worker", THIRD, *command(Path("several"), *ray))
    assert subprocess.run(words, timeout=200).returncode == -9
    # The first two of five are done, and the third was killed behind its third step, of four.
    records = [RunRecord(Path("several", "runs", f"made-finetuned-{seed}")) for seed in range(SEEDS)]
    assert [record.completed() is not None for record in records] == [True, True, False, False, False]
    assert records[2].checkpoint() is not None
    Path(VICTIM).write_text(f"0 {FOURTH}")
    assert_same(tuned(Path("several"), *ray, "--workers", 2), one)
    assert not Path(VICTIM).exists()
    for record, seed in zip(records, range(SEEDS), strict=True):
        expected = RunRecord(Path("one", "runs", f"made-finetuned-{seed}")).completed()
        assert expected is not None and (record.completed().train_loss == expected.train_loss).all()  # type: ignore[union-attr]
    weights = [Path(folder, "model", "model.safetensors").read_bytes() for folder in ("one", "several")]
    assert weights[0] == weights[1]


def test_a_worker_with_another_folder_is_refused(tmp_path: Path) -> None:
    record = RunRecord(tmp_path / "run")
    with pytest.raises(HeadscopeError, match=f"'.*settings.json' is missing here; {ONE_FOLDER[:40]}"):
        record.refuse_other({"seed": 1})
    record.open({"seed": 1})
    record.refuse_other({"seed": 1})
    with pytest.raises(HeadscopeError, match="was begun with seed 1, now it is 2; all machines need the same files"):
        record.refuse_other({"seed": 2})
    with pytest.raises(HeadscopeError, match="lacks what a worker has trained"):
        record.refuse_missing()
