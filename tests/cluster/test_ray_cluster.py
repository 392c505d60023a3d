"""A process of Ray that does not answer is lost, once its time is over."""

import socket

import pytest

from headscope.cluster import ray_cluster
from headscope.cluster.ray_cluster import Liveness, RayProcess
from headscope.errors import ClusterLostError


def test_a_silent_process_is_lost_after_its_patience_and_one_that_answers_again_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(ray_cluster.time, "monotonic", lambda: clock[0])

    def after(seconds: float) -> None:
        clock[0] += seconds
        liveness.refuse_lost()

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        liveness = Liveness([RayProcess("its head", "127.0.0.1", port, 30)])
        after(0)
    after(10)
    after(29)
    with socket.create_server(("127.0.0.1", port)):
        after(10)
    after(10)
    after(29)
    with pytest.raises(ClusterLostError, match=rf"^the Ray cluster is lost: its head at '127.0.0.1:{port}' .* again"):
        after(2)
