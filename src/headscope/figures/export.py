"""Figures as files for a paper: SVG, PDF and PNG, made without a network, many of them in processes of their own."""

import base64
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from subprocess import PIPE, Popen
from typing import Any

import altair as alt

from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.figures import conversion
from headscope.figures.conversion import FORMATS, from_svg, to_files, to_svg
from headscope.storage.files import write_atomically
from headscope.storage.kept_inputs import entered

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
DEFAULT_FORMATS = ("svg", "pdf")

Converter = Callable[[dict[str, Any], str, Sequence[str]], dict[str, bytes]]
MOST_PROCESSES = 4

Save = Callable[[dict[str, Any], Path], Future[list[Path]]]


def svg(spec: dict[str, Any]) -> str:
    """A Vega-Lite specification as SVG; nothing is fetched. Raises `HeadscopeError` if vl-convert is not installed."""
    require("vl_convert")
    return to_svg(spec, VEGA_LITE)


def save(chart: alt.TopLevelMixin, stem: str | Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write `stem.svg`, `stem.pdf` and `stem.png`, or some of them; return their paths.

    Raises `HeadscopeError` for another format, without vl-convert, or if the folder cannot be written to.
    """
    return save_spec(chart.to_dict(), Path(stem), formats)


def save_spec(
    spec: dict[str, Any], stem: Path, formats: Sequence[str] = DEFAULT_FORMATS, convert: Converter = to_files
) -> list[Path]:
    """Write the files of a chart's Vega-Lite specification, each whole or not at all; see `save`."""
    check_formats(formats)
    if not formats:
        return []
    require("vl_convert")
    contents = convert(spec, VEGA_LITE, formats)
    return [write_atomically(stem.with_name(f"{stem.name}.{name}"), content) for name, content in contents.items()]


def check_formats(formats: Sequence[str]) -> None:
    """Raise `HeadscopeError` for a format of figure files that is not one of `FORMATS`."""
    if unknown := set(formats) - set(FORMATS):
        raise HeadscopeError(f"figure format '{min(unknown)}' is unknown; use {', '.join(FORMATS)}")


def of_svg(picture: str, format: str) -> bytes:
    """The content of a file of an SVG picture; `format` is one of `FORMATS`."""
    require("vl_convert")
    return from_svg(picture, format)


@contextmanager
def saving(formats: Sequence[str]) -> Iterator[Save]:
    """Within this context: a function that saves a chart as `save_spec` does, and returns at once.

    Charts that wait when an error ends the context are not saved. Without formats no process is started.
    """
    number = _number(formats)
    with entered(("processes of figures", number), partial(_processes, number)) as free:

        def convert(spec: dict[str, Any], version: str, formats: Sequence[str]) -> dict[str, bytes]:
            process = free.get()
            try:
                return _converted(process, spec=spec, version=version, formats=formats)
            finally:
                free.put(_running(process))

        executor = ThreadPoolExecutor(number or 1)
        try:
            yield lambda spec, stem: executor.submit(save_spec, spec, stem, formats, convert)
        finally:
            executor.shutdown(cancel_futures=True)


@contextmanager
def _processes(number: int) -> Iterator[SimpleQueue[Popen[str]]]:
    """Within this context processes that draw, each free until it is taken; a survey has the same for all pages."""
    free: SimpleQueue[Popen[str]] = SimpleQueue()
    for _ in range(number):
        free.put(_started())
    try:
        yield free
    finally:
        while not free.empty():
            free.get().communicate()


def _started() -> Popen[str]:
    return Popen([sys.executable, "-P", conversion.__file__, VEGA_LITE], stdin=PIPE, stdout=PIPE, text=True)


def _running(process: Popen[str]) -> Popen[str]:
    """The process, or a new one in the place of one that has ended."""
    if process.poll() is None:
        return process
    process.communicate()
    return _started()


def _number(formats: Sequence[str]) -> int:
    """The processes to start. One core is left to the page, which takes as long as the SVG of its charts."""
    cores = os.cpu_count() or 1
    return min(max(1, cores - 1 if set(formats) == {"svg"} else cores), MOST_PROCESSES) if formats else 0


def _converted(process: Popen[str], **arguments: Any) -> dict[str, bytes]:
    """The contents that a process converts a chart to. Raises `RuntimeError` if the chart cannot be converted."""
    assert process.stdin is not None and process.stdout is not None
    line = ""
    with suppress(BrokenPipeError):  # it has ended before it read
        print(json.dumps(arguments), file=process.stdin, flush=True)
        line = process.stdout.readline()
    if not line:
        process.wait()
        raise RuntimeError("the process that draws figures has ended")
    answer = json.loads(line)
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return {name: base64.b64decode(content) for name, content in answer.items()}
