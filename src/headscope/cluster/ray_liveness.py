"""Whether the two processes of Ray still answer that a command cannot do without.

Ray itself waits for a lost raylet without end, and for a lost GCS a minute, after which it ends the process.
"""

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from headscope.errors import ClusterLostError

SECONDS = 2.0  # between two questions, and for an answer
# Seconds without an answer: nothing replaces a raylet, and some clusters start their GCS again.
RAYLET, GCS = 4.0, 30.0


@dataclass(frozen=True)
class RayProcess:
    """A process of Ray; it is lost once nothing listens at its address for `patience` seconds."""

    name: str
    host: str
    port: int
    patience: float

    def answers(self) -> bool:
        """Whether something listens at its address."""
        try:
            socket.create_connection((self.host, self.port), SECONDS).close()
        except OSError:
            return False
        return True


@dataclass
class Liveness:
    """The processes, and since when one is silent."""

    processes: Sequence[RayProcess]
    silent: dict[RayProcess, float] = field(default_factory=dict)
    asked: float = 0.0

    def refuse_lost(self) -> None:
        """Raise `ClusterLostError` if a process is lost."""
        if time.monotonic() - self.asked < SECONDS:
            return
        for process in self.processes:
            if process.answers():
                self.silent.pop(process, None)
            elif time.monotonic() - self.silent.setdefault(process, time.monotonic()) >= process.patience:
                raise ClusterLostError(
                    f"the Ray cluster is lost: {process.name} at '{process.host}:{process.port}' does not answer; "
                    "start the same command again, it goes on from its last checkpoint"
                )
        self.asked = time.monotonic()


def liveness_of(ray: Any) -> Liveness:
    """The raylet of this machine and the GCS of the cluster."""
    context = ray.get_runtime_context()
    host, _, port = context.gcs_address.rpartition(":")
    (machine,) = (each for each in ray.nodes() if each["NodeID"] == context.get_node_id())
    raylet = RayProcess("the raylet of this machine", machine["NodeManagerAddress"], machine["NodeManagerPort"], RAYLET)
    return Liveness((raylet, RayProcess("its head (gcs_server)", host.strip("[]"), int(port), GCS)))
