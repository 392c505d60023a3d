"""Workers on a Ray cluster: each runs the same study on its own, and reads the shards that it is given.

A set of tasks is a pass of the study. A worker that lags, since it has just started, is sent the totals of earlier
passes, and so goes on to the one that is read now.
"""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any

from headscope.catalog import require
from headscope.cluster.channel import Json, Tasks, message_of, record_of
from headscope.cluster.coordinator import ordered_values
from headscope.cluster.ray_cluster import (
    THIS_MACHINE_ALONE,
    RayActor,
    connect,
    failed_start,
    liveness_of,
    refuse_lacking,
)
from headscope.errors import HeadscopeError
from headscope.storage.hashes import difference
from headscope.storage.lines import Record

SECONDS = 10  # for the end of the studies of idle workers
WAIT = 2  # seconds for a message, before the cluster is asked whether it is there
# They may differ between machines of a cluster.
OF_MACHINE = {"device", "threads"}


class RayEngine:
    """Workers on a cluster, which is asked for as many as it has room for.

    * `entry`: a function as "module:name", which a worker calls with `job` and its `Engine`.
    * `workers`: the most workers, each with one processor and `gpus` GPUs.
    * `address`: of a cluster, "auto" for the one of this machine, "local" for a new one on this machine alone.

    Raises `HeadscopeError` without Ray, without that cluster, or if it has no processor or no such GPU.
    """

    in_worker = False

    def __init__(self, entry: str, job: bytes, *, workers: int = 1, address: str = "local", gpus: float = 0):
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if address == "local":
            os.environ |= THIS_MACHINE_ALONE
        self.ray, self.workers, self.gpus = require("ray"), workers, gpus
        self.started = not self.ray.is_initialized()
        if self.started:
            connect(self.ray, address)
        self.arguments = (entry, job, os.getcwd())
        self.members, self.totals = list[_RayWorker](), list[Callable[[], Json]]()
        self.fingerprint: dict[str, str | int] = {}
        try:
            refuse_lacking(self.ray, gpus)
            self.liveness = liveness_of(self.ray)
        except HeadscopeError:
            self.close()
            raise

    def values(self, tasks: Tasks) -> Generator[Json]:
        self.fingerprint = tasks.fingerprint()
        return ordered_values(self, self.workers, tasks)

    def finish(self, total: Callable[[], Json]) -> None:
        self.totals.append(total)

    def close(self) -> None:
        ends = [member.actor.end.remote() for member in self.members if member.free]
        if ends:
            self.ray.wait(ends, num_returns=len(ends), timeout=SECONDS)
        for member in list(self.members):
            member.end()
        if self.started:
            self.ray.shutdown()

    def start(self) -> "_RayWorker":
        """A worker of an earlier pass, or a new one."""
        for member in list(self.members):
            if member.free and member.passes > len(self.totals):
                member.end()  # it waits in the middle of a pass that starts anew
            elif member.free:
                member.free = False
                member.catch_up()
                return member
        actor = self.ray.remote(num_cpus=1, num_gpus=self.gpus, max_concurrency=2)(RayActor)
        self.members.append(_RayWorker(self, actor.remote(*self.arguments)))
        return self.members[-1]

    def wait(self, workers: Sequence["_RayWorker"]) -> list["_RayWorker"]:
        """The workers that have something to receive, once there is one."""
        pending, first = {worker.pending: worker for worker in workers}, []
        while not first:
            first, _ = self.ray.wait(list(pending), num_returns=1, timeout=WAIT)
            self.liveness.refuse_lost()
        ready, _ = self.ray.wait(list(pending), num_returns=len(pending), timeout=0)
        return [pending[reference] for reference in ready]


class _RayWorker:
    """An actor, the pass in which it is, and its next message."""

    def __init__(self, engine: RayEngine, actor: Any):
        self.engine, self.actor, self.passes, self.free = engine, actor, 0, False
        self.pending = actor.next_message.remote()

    def send(self, record: Record) -> None:
        """Send a message; that a worker has died shows at the next `receive`."""
        self.actor.take_message.remote(message_of(record))

    def receive(self) -> Record | None:
        """The next message; None from a worker that died, or sent a damaged one."""
        try:
            message = record_of(self.engine.ray.get(self.pending))
        except self.engine.ray.exceptions.RayError as error:
            line = failed_start(error)
            return {"refused": line} if line else None
        self.pending = self.actor.next_message.remote()
        return self._arrived(message) if message and "ready" in message else message

    def catch_up(self) -> bool:
        """Send the total of the worker's pass if that has ended. Returns: whether it has."""
        if behind := 0 < self.passes <= len(self.engine.totals):
            self.send({"total": self.engine.totals[self.passes - 1]()})
        return behind

    def release(self) -> None:
        """Keep the worker for the next pass."""
        self.free = True

    def end(self, *, dead: bool = False) -> str:
        """End the actor. Returns: how it ended."""
        with suppress(ValueError):
            self.engine.members.remove(self)
        self.engine.ray.kill(self.actor)  # one that sent a damaged message lives
        return "their process or machine ended"

    def _arrived(self, message: Record) -> Record:
        """The worker is at its next pass: the message, or one that says nothing if that pass has ended."""
        self.passes += 1
        if self.catch_up():
            return {"done": 0}
        theirs, ours = (
            {name: value for name, value in fingerprint.items() if name not in OF_MACHINE}
            for fingerprint in (message["fingerprint"], self.engine.fingerprint)
        )
        if changed := difference(theirs, ours):
            remedy = "all machines need the same files and versions"
            return {"refused": f"a worker on '{message['machine']}' has {changed} here; {remedy}"}
        return message
