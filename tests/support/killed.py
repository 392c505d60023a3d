"""The end of a process in the middle of its work, within a test."""

from typing import Any

import pytest


class Killed(BaseException):
    """As the end of a process: nothing is written after it."""


def kill(monkeypatch: pytest.MonkeyPatch, target: object, name: str, call: int) -> None:
    """Let a function raise `Killed` instead of doing its work, at its `call`-th call from 1."""
    calls, work = [], getattr(target, name)

    def killing(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            raise Killed
        return work(*args)

    monkeypatch.setattr(target, name, killing)
