"""The options of a worker reach Ray, also where no machine has a GPU."""

from types import SimpleNamespace
from typing import Any

import pytest

from headscope.cluster.on_ray import RayEngine
from headscope.cluster.ray_cluster import connect
from headscope.errors import HeadscopeError
from support.threaded_ray import use_threaded_ray

JOBS: list[bytes] = []


def work(job: bytes, engine: Any) -> None:
    """What a worker runs."""
    JOBS.append(job)


def test_gpus_and_processors_of_a_worker_reach_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    JOBS.clear()
    ray = use_threaded_ray(monkeypatch)
    RayEngine(f"{__name__}:work", b"job", workers=2, gpus=0.5).start()
    (options,) = ray.options
    assert options["num_cpus"] == 1 and options["num_gpus"] == 0.5
    ray.actors[0].actor.study.join()
    assert JOBS == [b"job"]
    with pytest.raises(HeadscopeError, match=r"^--gpus-per-worker 3: the Ray cluster has fewer"):
        RayEngine(f"{__name__}:work", b"job", gpus=3)


def test_a_pass_that_starts_anew_has_new_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are left wait for tasks of the pass that was given up."""
    ray = use_threaded_ray(monkeypatch)
    engine = RayEngine(f"{__name__}:work", b"job")
    left = engine.start()
    left.passes, left.free = 1, True
    assert engine.start() is not left and left not in engine.members and ray.killed == [left.actor]


@pytest.mark.parametrize(
    ("address", "error", "line"),
    [
        (
            "10.0.0.1",
            RuntimeError("Version mismatch: of\n    Ray: 1.0"),
            r"no Ray cluster \(Version mismatch: of Ray: 1.0\); see",
        ),
        (
            "local",
            Exception("The current node timed out."),
            r"no Ray cluster \(The current node timed out.\); Ray needs memory",
        ),
        ("auto", None, r"no Ray cluster \(.*refused.*\); see 'ray status'$"),
    ],
)
def test_whatever_ray_raises_is_one_line(
    address: str, error: Exception | None, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**options: Any) -> None:
        if error is not None:
            raise error

    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(HeadscopeError, match=f"^--address {address}: {line}"):
        connect(SimpleNamespace(init=init), address)


def test_a_cluster_without_processors_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = use_threaded_ray(monkeypatch)
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"memory": 1.0})
    with pytest.raises(HeadscopeError, match=r"^--engine ray: the Ray cluster has no processor; see 'ray status'$"):
        RayEngine(f"{__name__}:work", b"job")


def test_a_cluster_of_ones_own_that_others_could_reach_is_refused() -> None:
    ended: list[str] = []
    util = SimpleNamespace(get_node_ip_address=lambda: "10.0.0.1")
    ray = SimpleNamespace(init=lambda **_: None, util=util, shutdown=lambda: ended.append("ended"))
    with pytest.raises(HeadscopeError, match=r"^--address local: Ray listens on '10.0.0.1', not on this machine alone"):
        connect(ray, "local")
    assert ended
