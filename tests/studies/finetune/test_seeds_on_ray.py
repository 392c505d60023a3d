"""Seeds trained by workers of a Ray cluster, one of which dies in the middle: the bits of one process."""

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

SEEDS = 2
OPTIONS = ("--seeds", SEEDS, "--epochs", 2, "--batch", 4, "--learning-rate", 2e-3, "--head-examples", 4)
OPTIONS += ("--resamples", 5, "--no-baselines", "--no-figures", "--quiet")
ROWS = [("dog", 0), ("bird", 1), ("tree", 0), ("bird", 1), ("man", 0), ("bird", 1), ("river", 0), ("bird", 1)]


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
def test_a_killed_worker_ends_with_the_bits_of_one_process(
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
    Path(VICTIM).write_text("made-finetuned-1")
    assert_same(tuned(Path("several"), *ray, "--workers", 1), one)
    assert not Path(VICTIM).exists()
    one_folder, several = (sorted(Path(folder, "runs").rglob("run.safetensors")) for folder in ("one", "several"))
    for kept, expected in zip(several, one_folder, strict=True):
        losses = [RunRecord(path.parent).completed().train_loss for path in (kept, expected)]  # type: ignore[union-attr]
        assert (losses[0] == losses[1]).all()
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
