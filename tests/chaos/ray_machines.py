"""A Ray cluster of two machines, which are processes here; workers, the second one and the head are killed."""

import os
import signal
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import support

HEAD = ("raylet", "gcs_server")  # of the first machine: without them the cluster is lost
VICTIMS = (*HEAD, "command", "worker", "machine")
STARTING, READING = 6.0, 0.3  # seconds of a worker, about


class Machines:
    """The cluster, in a process of its own: the commands are forks of this one, which therefore uses no Ray."""

    def __init__(self) -> None:
        self.connection, theirs = get_context("fork").Pipe()
        self.process = get_context("fork").Process(target=_run, args=(self.connection, theirs))
        self.process.start()
        theirs.close()
        self.address = self.connection.recv_bytes().decode()

    def options(self) -> tuple[str, ...]:
        """The options of a command that runs here."""
        return "--engine", "ray", "--address", self.address, "--workers", "2"

    def workers(self) -> list[int]:
        """The processes of the workers that headscope started."""
        return [
            descendant
            for descendant in descendants(self.process.pid or 0)
            if _title(descendant).startswith("ray::RayActor")
        ]

    def kill(self, victim: str, command: int, random: Random) -> None:
        """Kill a victim; raises `ProcessLookupError` if there is none. A second machine is replaced."""
        if victim in ("machine", *HEAD):
            self.connection.send_bytes(victim.encode())
            self.connection.recv_bytes()
        elif workers := [command] if victim == "command" else self.workers():
            os.kill(random.choice(workers), signal.SIGKILL)
        else:
            raise ProcessLookupError

    def renew(self) -> None:
        """Start another cluster in the place of one that is lost, and so cannot be shut down."""
        for process in (*descendants(self.process.pid or 0), self.process.pid or 0):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.close()
        self.__init__()

    def close(self) -> None:
        """End the cluster."""
        self.connection.close()
        self.process.join()


def descendants(process: int) -> list[int]:
    """The children of a process, and theirs."""
    return [descendant for child in children(process) for descendant in (child, *descendants(child))]


def children(process: int) -> list[int]:
    """The children of a process, those of all its threads."""
    try:
        lists = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")]
    except OSError:
        return []
    return [int(number) for text in lists for number in text.split()]


def _title(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def _run(ours: Any, connection: Any) -> None:
    """The life of the process: it replaces the second machine or kills a part of the head when it is told to."""
    ours.close()
    os.environ["PYTHONPATH"] = f"{Path(support.__path__[0]).resolve().parent}:{os.environ.get('PYTHONPATH', '')}"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    machine = cluster.add_node(num_cpus=1)
    connection.send_bytes(str(cluster.address).encode())
    try:
        while victim := connection.recv_bytes().decode():
            if victim in HEAD:
                head: Any = cluster.head_node
                head.all_processes[victim][0].process.kill()
                connection.send_bytes(b"lost")
                continue
            cluster.remove_node(machine, allow_graceful=False)
            connection.send_bytes(b"lost")
            machine = cluster.add_node(num_cpus=1)
    except EOFError:
        cluster.shutdown()
