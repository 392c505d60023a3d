"""A process of Ray that does not answer is lost, once its time is over."""

import socket

import pytest

from headscope.cluster.ray_cluster import Liveness, RayProcess, connect
from headscope.errors import ClusterLostError, HeadscopeError


def test_a_silent_process_is_lost_after_its_patience_and_one_that_answers_again_is_not(clock: list[float]) -> None:
    clock[0] = 100.0

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


def test_uv_run_outside_of_its_project_is_named_as_the_reason() -> None:
    class Ray:
        def init(self, **options: object) -> None:
            raise RuntimeError(
                "Your /project/pyproject.toml is not in the working_dir /texts, so the workers will not have access to "
                "the file. You can do so by specifying --directory in 'uv run'."
            )

    with pytest.raises(
        HeadscopeError, match=r"under 'uv run' .*Your /project/pyproject.toml is not in .*start the com"
    ):
        connect(Ray(), "auto")
