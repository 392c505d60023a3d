"""The processes of a Ray cluster: a worker there, what became of it, and whether its processes still answer.

Ray itself waits for a lost raylet without end, and for a lost GCS a minute, after which it ends the process.
"""

import importlib
import os
import platform
import re
import socket
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from queue import Queue, SimpleQueue
from threading import Thread
from typing import Any

import torch

from headscope.cluster.channel import ChannelClosed, Json, TaskChannel, Tasks, message_of
from headscope.errors import ClusterLostError, HeadscopeError

ANSWER_SECONDS = 10  # for an answer of a cluster that is joined
# Ray reads them as it is imported. A new cluster listens on the loopback interface, as it ever does on macOS and
# Windows, and its workers have the packages of this process, without a copy of the project of `uv run`.
THIS_MACHINE_ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
FAILED_START = "error raised in its creation task"
SECONDS = 2.0  # between two questions, and for an answer
# Seconds without an answer: nothing replaces a raylet, and some clusters start their GCS again.
RAYLET, GCS = 4.0, 30.0


def connect(ray: Any, address: str) -> None:
    """Connect to a cluster: "auto" for the one of this machine, "local" for a new one on this machine alone.

    Raises `HeadscopeError` if there is none.
    """
    local = address == "local"
    quiet: dict[str, Any] = {"include_dashboard": False} if local else {}
    host, _, port = (os.environ.get("RAY_ADDRESS", "") if address == "auto" else address).rpartition(":")
    try:
        if port.isdigit():  # first, since Ray tries for minutes
            socket.create_connection((host, int(port)), ANSWER_SECONDS).close()
        ray.init(address=address, log_to_driver=False, logging_level="error", **quiet)
    except Exception as error:  # Ray raises errors of many kinds, also plain ones
        if "uv run" in str(error):
            reason = _in_one_line(error).partition(". ")[0]
            raise HeadscopeError(
                f"--address {address}: under 'uv run' Ray copies this folder to its workers, and the project is not in "
                f"it ({reason}); start the command in the folder of the project, or set "
                "RAY_ENABLE_UV_RUN_RUNTIME_ENV=0 where all machines have the packages"
            ) from error
        remedy = "Ray needs memory, and room in /tmp or in RAY_TMPDIR" if local else "see 'ray status'"
        raise HeadscopeError(f"--address {address}: no Ray cluster ({_in_one_line(error)}); {remedy}") from error
    if local and not ip_address(host := ray.util.get_node_ip_address()).is_loopback:
        ray.shutdown()
        raise HeadscopeError(f"--address local: Ray listens on '{host}', not on this machine alone; update Ray")
    # It would print messages of many lines about lost processes on standard output.
    ray._private.worker.print_to_stdstream = lambda *_, **__: None


def refuse_lacking(ray: Any, gpus: float) -> None:
    """Raise `HeadscopeError` for a cluster that has no processor, or too few GPUs for a worker."""
    resources = ray.cluster_resources()
    if resources.get("CPU", 0) < 1:
        raise HeadscopeError("--engine ray: the Ray cluster has no processor; see 'ray status'")
    if gpus > resources.get("GPU", 0):
        raise HeadscopeError(f"--gpus-per-worker {gpus:g}: the Ray cluster has fewer; see 'ray status'")


def failed_start(error: Exception) -> str:
    """One line about a worker that could not start, such as without headscope; "" of one that died.

    >>> failed_start(RuntimeError("an error raised in its creation task (ip=10.0.0.2)\\nImportError: no torch"))
    "a worker on '10.0.0.2' cannot start (ImportError: no torch); all machines need the same packages"
    """
    text = str(error).strip()
    if FAILED_START not in text:
        return ""
    machine = re.search(r"\bip=([\w.:]+)", text)
    at = f" on '{machine[1]}'" if machine else ""
    return f"a worker{at} cannot start ({text.splitlines()[-1]}); all machines need the same packages"


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


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
    """The processes, and since when each is silent."""

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
                    "start the same command again; it resumes from its last checkpoint, if it has one"
                )
        self.asked = time.monotonic()


def liveness_of(ray: Any) -> Liveness:
    """The raylet of this machine and the GCS of the cluster."""
    context = ray.get_runtime_context()
    host, _, port = context.gcs_address.rpartition(":")
    (machine,) = (node for node in ray.nodes() if node["NodeID"] == context.get_node_id())
    raylet = RayProcess("the raylet of this machine", machine["NodeManagerAddress"], machine["NodeManagerPort"], RAYLET)
    return Liveness((raylet, RayProcess("its head (gcs_server)", host.strip("[]"), int(port), GCS)))


# Messages that wait for the coordinator; they may have 16 MiB each.
WAITING = 8
END_SECONDS = 2  # for the end of a study


class RayActor:
    """The process: Ray calls its methods for each message, while the study runs in a thread.

    * `entry`: a function as "module:name"; it is called with `job` and an `Engine`, in the coordinator's `folder`.
    """

    def __init__(self, entry: str, job: bytes, folder: str):
        self.inbox, self.outbox = SimpleQueue[bytes](), Queue[bytes](WAITING)
        self.study = Thread(target=_live, args=(entry, job, folder, TaskChannel(self)), daemon=True)
        self.study.start()

    def take_message(self, data: bytes) -> None:
        """Take a message of the coordinator."""
        self.inbox.put(data)

    def next_message(self) -> bytes:
        """Wait for a message to the coordinator."""
        return self.outbox.get()

    def end(self) -> None:
        """End the study, which removes its files, unless it is in the middle of a task."""
        self.inbox.put(message_of({"end": True}))
        self.study.join(END_SECONDS)

    def send_bytes(self, data: bytes) -> None:
        self.outbox.put(data)

    def recv_bytes(self) -> bytes:
        return self.inbox.get()


class _WorkerEngine:
    """The engine of a study in a worker: it does the tasks of a pass that it gets, and goes on with their total."""

    in_worker = True

    def __init__(self, channel: TaskChannel):
        self.channel = channel

    def values(self, tasks: Tasks) -> Generator[Json]:
        self.channel.ready(fingerprint=tasks.fingerprint(), machine=platform.node())
        yield self.channel.serve(tasks.do)

    def finish(self, total: Callable[[], Json]) -> None:
        """The coordinator has it."""

    def close(self) -> None:
        """The coordinator ends the worker."""


def _live(entry: str, job: bytes, folder: str, channel: TaskChannel) -> None:
    module, _, name = entry.partition(":")
    worker = f"a worker on '{platform.node()}'"
    try:
        torch.set_num_threads(1)
        os.chdir(folder)
        getattr(importlib.import_module(module), name)(job, _WorkerEngine(channel))
    except ChannelClosed:
        return
    except FileNotFoundError:
        channel.refuse(f"{worker} has no folder '{folder}'; all machines need the same files at the same paths")
    except HeadscopeError as error:
        channel.refuse(f"{worker}: {error}")
    except Exception as error:
        channel.fail(error, traceback.format_exc())
