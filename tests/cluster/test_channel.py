"""A worker does the tasks that it is sent, and says how it fared; a closed connection ends it."""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from headscope.cluster.channel import LENGTH, SPAN, ChannelClosed, TaskChannel, message_of, record_of
from headscope.errors import HeadscopeError
from headscope.storage.codec import decode, encode
from headscope.storage.lines import Record

ARRAYS = {"a": np.eye(3)[:, 1:], "b": np.array(["é", ""]), "c": np.zeros((0, 2), np.uint8), "d": np.array(True)}


class Listed:
    """A connection that gives messages, or raises an error among them, and keeps what is sent."""

    def __init__(self, *messages: Record | bytes | Exception):
        self.messages, self.sent = list(messages), list[Record]()

    def send_bytes(self, data: bytes) -> None:
        record = record_of(data)
        assert record is not None
        self.sent.append(record)

    def recv_bytes(self) -> bytes:
        message = self.messages.pop(0)
        if isinstance(message, Exception):
            raise message
        return message if isinstance(message, bytes) else message_of(message)


def served(do: Callable[[int, TaskChannel], Any], *messages: Record | bytes | Exception) -> tuple[Any, list[Record]]:
    connection = Listed(*messages)
    return TaskChannel(connection).serve(do), connection.sent


def test_tasks_are_done_until_the_total_comes() -> None:
    total, sent = served(lambda task, channel: [task, "made"], {"task": 4}, {"task": 2}, {"total": {"n": 6}})
    assert total == {"n": 6} and sent == [{"value": [4, "made"]}, {"value": [2, "made"]}]


def test_progress_counts_from_the_start_of_each_task() -> None:
    def do(task: int, channel: TaskChannel) -> None:
        channel.progress(2)
        channel.progress(3)

    _, sent = served(do, {"task": 0}, {"task": 1}, {"total": None})
    assert sent == [{"done": 2}, {"done": 5}, {"value": None}] * 2


def test_a_size_is_answered_with_what_comes_before() -> None:
    def do(task: int, channel: TaskChannel) -> int:
        channel.piece(at=task)
        return channel.preceding(7)

    _, sent = served(do, {"task": 3}, {"preceding": 40}, {"total": None})
    assert sent == [{"piece": {"at": 3}}, {"size": 7}, {"value": 40}]


def test_an_error_is_said_and_the_next_task_is_done() -> None:
    def do(task: int, channel: TaskChannel) -> int:
        if task == 1:
            raise HeadscopeError("file 'x' is closed; open it")
        return 1 // task

    _, sent = served(do, {"task": 1}, {"task": 0}, {"task": 1}, {"total": None})
    assert sent[0] == sent[2] == {"refused": "file 'x' is closed; open it"}
    assert sent[1]["error"].startswith("ZeroDivisionError: ") and "return 1 // task" in sent[1]["trace"]


@pytest.mark.parametrize("last", [{"end": True}, b"damaged", EOFError(), ConnectionResetError()])
@pytest.mark.parametrize("within", [False, True], ids=["between tasks", "within a task"])
def test_a_connection_that_ends_closes_the_channel(last: Record | bytes | Exception, within: bool) -> None:
    connection = Listed({"task": 0}, last)
    with pytest.raises(ChannelClosed):
        TaskChannel(connection).serve(lambda task, channel: channel.preceding(1) if within else task)
    assert connection.sent == ([{"size": 1}] if within else [{"value": 0}])


def test_what_cannot_be_sent_closes_the_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    def send(data: bytes) -> None:
        raise BrokenPipeError

    connection = Listed()
    monkeypatch.setattr(connection, "send_bytes", send)
    with pytest.raises(ChannelClosed):
        TaskChannel(connection).ready()


def test_arrays_come_back_to_the_bit() -> None:
    record = record_of(message_of({"value": [encode(ARRAYS), encode(np.arange(4.0))], "size": 1}))
    assert record is not None and record["size"] == 1
    arrays, last = decode(record["value"][0], dict[str, np.ndarray]), decode(record["value"][1], np.ndarray)
    for name, array in [*ARRAYS.items(), ("last", np.arange(4.0))]:
        back = arrays.get(name, last)
        assert back.dtype == array.dtype and back.shape == array.shape and back.tobytes() == array.tobytes()
    last += 1  # arrays may be written to


def test_a_damaged_message_is_none() -> None:
    message = message_of({"value": encode(ARRAYS)})
    for number in range(0, len(message), 7):
        changed = bytearray(message)
        changed[number] ^= 1
        assert record_of(bytes(changed)) is None and record_of(message[:number]) is None


@pytest.mark.parametrize("span", [[0], [0, 10**9], [-9, 0], "ab", [0, 8, 0], None, [[], 1], [0.5, 1]])
def test_a_forged_place_is_no_array(span: Any) -> None:
    text = json.dumps({"value": {"dtype": "<f8", "shape": [1], "data": {SPAN: span}}}).encode()
    body = len(text).to_bytes(LENGTH) + text + bytes(16)
    record = record_of(sha256(body).digest() + body)
    if record is not None:
        with pytest.raises(ValueError):
            decode(record["value"], np.ndarray)
