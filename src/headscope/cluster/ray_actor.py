"""A worker of a Ray cluster: a process that runs a study, of which the passes are read together with other workers."""

import importlib
import os
import platform
import traceback
from collections.abc import Callable, Generator
from queue import Queue, SimpleQueue
from threading import Thread

import torch

from headscope.cluster.channel import ChannelClosed, Json, TaskChannel, message_of
from headscope.cluster.engine import Tasks
from headscope.errors import HeadscopeError

# Messages that wait for the coordinator; they may have 16 MiB each.
WAITING = 8
SECONDS = 2  # for the end of a study


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
        self.study.join(SECONDS)

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
