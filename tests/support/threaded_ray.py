"""Ray without a cluster: an actor is an object of this process, and each call of it a thread."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from headscope.cluster import on_ray
from headscope.cluster.ray_cluster import Liveness


def use_threaded_ray(monkeypatch: pytest.MonkeyPatch) -> "ThreadedRay":
    """Put a new Ray without a cluster in the place of Ray, for one test."""
    ray = ThreadedRay()
    monkeypatch.setattr(on_ray, "require", lambda name: ray)
    monkeypatch.setattr(on_ray, "liveness_of", lambda ray: Liveness(()))
    return ray


class Actor:
    """The handle of an actor, whose methods have a `remote`."""

    def __init__(self, actor: Any):
        self.actor = actor

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *arguments: _started(getattr(self.actor, name), *arguments))


class ThreadedRay:
    """The functions of Ray that headscope uses; `actors`: those that were started, with `options`; `killed`: ended."""

    exceptions = SimpleNamespace(RayError=ZeroDivisionError)

    def __init__(self) -> None:
        self.actors, self.killed = list[Actor](), list[Actor]()
        self.options = list[dict[str, Any]]()

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 4.0, "GPU": 2.0}

    def remote(self, **options: Any) -> Callable[[Callable[..., Any]], Any]:
        self.options.append(options)

        def started(kind: Callable[..., Any], *arguments: Any) -> Actor:
            self.actors.append(Actor(kind(*arguments)))
            return self.actors[-1]

        return lambda kind: SimpleNamespace(remote=lambda *arguments: started(kind, *arguments))

    def wait(self, calls: Sequence[Future[Any]], num_returns: int, timeout: float | None = None) -> Any:
        done, rest = wait(calls, timeout, FIRST_COMPLETED)
        return list(done), rest

    def get(self, call: Future[Any]) -> Any:
        return call.result()

    def kill(self, actor: Actor) -> None:
        self.killed.append(actor)
        actor.actor.take_message(b"")  # ends its thread as a damaged message does


def _started(call: Callable[..., Any], *arguments: Any) -> Future[Any]:
    future = Future[Any]()
    Thread(target=lambda: future.set_result(call(*arguments)), daemon=True).start()
    return future
