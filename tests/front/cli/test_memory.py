"""Without memory or address space a command ends with one line."""

import pytest

from headscope.capture.transformers_logging import refusing
from headscope.front.cli import app

ERRORS = [
    MemoryError(),
    MemoryError("Cannot allocate memory (os error 12)"),
    OSError(12, "Cannot allocate memory"),
    ImportError("libtorch_cpu.so: failed to map segment from shared object"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"),
    RuntimeError("can't start new thread"),
]


def ending(error: Exception, monkeypatch, *arguments: str) -> object:
    def command() -> None:
        with refusing("model 'a' cannot be loaded", "download it again"):
            raise error

    monkeypatch.setattr(app, "application", lambda _: command)
    monkeypatch.setattr("sys.argv", ["headscope", *arguments])
    with pytest.raises(SystemExit) as end:
        app.main()
    return end.value.code


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_an_error_without_memory_is_one_line(error, monkeypatch, capsys) -> None:
    assert ending(error, monkeypatch) == 2
    line = capsys.readouterr().err
    assert line.startswith("headscope: no more memory or address space (") and line.count("\n") == 1
    assert "; free some, raise the limit (ulimit -v)" in line


def test_with_debug_it_is_raised(monkeypatch) -> None:
    with pytest.raises(MemoryError):
        ending(MemoryError(), monkeypatch, "--debug")
