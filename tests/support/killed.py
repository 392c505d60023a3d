"""The end of a process in the middle of its work, and Ctrl-C, within a test."""

from dataclasses import dataclass, field
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


@dataclass
class CtrlC:
    """A function that progress is told, with Ctrl-C at its second call; `done`: what it was told."""

    done: list[int] = field(default_factory=list)

    def __call__(self, number: int) -> None:
        self.done.append(number)
        if len(self.done) == 2:
            raise KeyboardInterrupt
