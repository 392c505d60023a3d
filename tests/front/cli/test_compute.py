"""Studies on a Ray cluster of two machines, which are processes here: the bits of one process. The journal of a run."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster
from transformers import BertForMaskedLM

from headscope import HeadscopeError, results
from headscope.cluster.on_ray import RayEngine
from headscope.front.cli import compute
from headscope.passes import shards
from support import small_shards
from support.cli import run_command
from support.ray_machine import cluster_of
from support.same import assert_same
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

OPTIONS = ("--limit", 30, "--resamples", 5, "--batch-tokens", 100, "--examples", 0, "--no-figures")


@pytest.fixture(scope="module")
def machines() -> Iterator[Cluster]:
    """A cluster of one machine with one processor, whose workers find the package `support`."""
    with cluster_of(1) as made:
        yield made


@pytest.fixture(autouse=True)
def small(pages_not_written: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "EXAMPLES", small_shards.EXAMPLES)
    monkeypatch.setattr(compute, "ENTRY", "support.small_shards:work")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
    network = tiny_bert(0, BertForMaskedLM, **sizes)
    return save_tiny(tmp_path_factory.mktemp("model"), network, tiny_tokenizer())


def result_of(folder: Path, *words: object) -> Any:
    done = run_command(*words, *OPTIONS, "-o", folder)
    assert done.exit_code == 0, done.output
    return results.read(folder)


def ray_options(machines: Cluster) -> tuple[object, ...]:
    return "--engine", "ray", "--address", machines.address, "--workers", 2


def test_two_passes_with_a_killed_worker_and_a_lost_machine_give_the_bits_of_one_process(
    model: Path, machines: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("probe", model, "sample", "--epochs", 1, "--seeds", 1)
    one = result_of(tmp_path / "one", *words)
    machine, messages, wait = machines.add_node(num_cpus=1), list[int](), RayEngine.wait

    def losing(self: RayEngine, workers: Any) -> Any:
        ready = wait(self, workers)
        messages.append(1)
        if len(messages) == 6:
            process: Any = ray.get(self.members[0].actor.__ray_call__.remote(lambda actor: os.getpid()))
            os.kill(process, signal.SIGKILL)
        if len(messages) == 14:
            machines.remove_node(machine, allow_graceful=False)
        return ready

    monkeypatch.setattr(RayEngine, "wait", losing)
    assert_same(result_of(tmp_path / "ray", *words, *ray_options(machines)), one)
    assert len(messages) > 14


def test_no_cluster_and_no_gpu_are_one_line(model: Path, machines: Cluster, tmp_path: Path) -> None:
    for words, line in (
        (("sample", "--engine", "ray", "--address", "127.0.0.1:1"), "--address 127.0.0.1:1: no Ray cluster"),
        (("sample", *ray_options(machines), "--gpus-per-worker", 1), "--gpus-per-worker 1: the Ray cluster has fewer"),
        (("-", *ray_options(machines)), "corpus '-': workers cannot read standard input"),
    ):
        refused = run_command("profile", model, *words, "-o", tmp_path)
        assert refused.exit_code == 2 and line in refused.output


def test_a_worker_that_is_killed_while_it_reads_leaves_no_folder(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch := tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    left = list[list[Path]]()

    class Worker:
        in_worker = True

        def __init__(self, entry: str, job: bytes, **options: Any):
            compute.work(job, self)

        def values(self, tasks: Any) -> None:
            left.append(list(scratch.iterdir()))
            raise HeadscopeError("killed")

    monkeypatch.setattr("headscope.cluster.on_ray.RayEngine", Worker)
    for study in ("profile", "probe"):
        ended = run_command(study, model, "sample", *OPTIONS, "--engine", "ray", "-o", tmp_path / study)
        assert "killed" in ended.output
    assert left == [[], []]
