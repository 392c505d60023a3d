"""Fixtures that all tests share."""

import os

# Kernels of a GPU are run on this processor, by Triton's interpreter; triton reads it when torch imports it.
os.environ.setdefault("TRITON_INTERPRET", "1")

import atexit
import errno
import gc
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from hypothesis import settings
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import headscope.passes.settings as pass_settings
from headscope.capture import observer
from headscope.corpora import reading
from headscope.figures import export
from headscope.front.cli.errors import on_command_line
from headscope.outputs import size_and_speed
from headscope.passes import shards
from support import quick_models
from support.pages import not_written
from support.tiers import leave_slow

# A shell that starts the tests in the background makes them deaf to Ctrl-C, which some of them are about.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Other work on the machine is no failure; timing is for benchmarks/.
settings.register_profile("no deadline", settings(), deadline=None)
settings.register_profile("quick", settings.get_profile("no deadline"), max_examples=30)
settings.load_profile("no deadline")

CHROMIUM = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


# One process runs all tests of a file: those of these files take longest, and must not come last.
LONG = (
    *("studies/finetune/test_seeds_on_ray.py", "studies/test_contract.py", "studies/test_cases.py", "test_docs.py"),
    *("viewer/test_views.py", "report/test_accessible.py", "viewer/test_keyboard.py", "studies/test_claims.py"),
    *("measures/test_laws.py", "studies/prune/test_cut_heads.py", "report/test_browser.py", "test_extras.py"),
    *("passes/test_fused.py", "capture/test_families.py", "studies/shrink/test_gate_training.py"),
    *("studies/shrink/test_pseudo_labels.py", "studies/shrink/test_verify.py", "studies/finetune/test_study.py"),
    *("passes/test_shard_reader.py", "front/cli/test_survey_pass.py", "front/cli/test_survey.py"),
)


# Modules and tests stay: the garbage collector would look through them again and again, a fifth of their import.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer examples where tests are quick; docstrings, which are not below here, have the fixtures of a plugin."""
    config.pluginmanager.register(quick_models)
    if config.option.markexpr == "not thorough":
        settings.load_profile("quick")


def pytest_collection_finish() -> None:
    """Leave what was imported out of all later collections of garbage, which are rare: most garbage has no circle."""
    gc.freeze()
    atexit.register(gc.unfreeze)  # else libraries call what is left a leak
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules of kernels have no tests of their own, and cannot be imported without triton."""
    return True if collection_path.name in ("fused_kernels.py", "fused_attention.py") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave slow tests to the second tier, and put those of long files first, the longest before all."""
    leave_slow(items)
    order = {Path(__file__).parent / name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of public data sets; without it a test is skipped, or fails where HEADSCOPE_STRICT is 1."""
    path = Path(os.environ.get("HEADSCOPE_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not path.is_dir():
        absent = pytest.fail if os.environ.get("HEADSCOPE_STRICT") == "1" else pytest.skip
        absent(f"no data sets in '{path}'; HEADSCOPE_DATA names their folder")
    return path


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Chromium with a fresh profile; without it a test is skipped, or fails where HEADSCOPE_STRICT is 1."""
    chromium, driver = (shutil.which(name) for name in ("chromium", "chromedriver"))
    if chromium is None or driver is None:
        absent = pytest.fail if os.environ.get("HEADSCOPE_STRICT") == "1" else pytest.skip
        absent("no chromium and chromedriver on the path")
    options = webdriver.ChromeOptions()
    options.binary_location = str(chromium)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for argument in [*CHROMIUM.split(), f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"]:
        options.add_argument(argument)
    window = webdriver.Chrome(options=options, service=Service(driver))
    window.get("about:blank")  # not the page of a new tab, which loads on for a while
    yield window
    window.quit()


@pytest.fixture
def blocks_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that lets attention come in blocks of so many rows at least, and of so many cells."""

    def made(rows: int, cells: int = 1) -> None:
        monkeypatch.setattr(observer, "LEAST_ROWS", rows)
        monkeypatch.setattr(observer, "BLOCK_ELEMENTS", cells)

    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that have gone by, which a test sets."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No example of a corpus is kept in memory: each iteration reads its files."""
    monkeypatch.setattr(reading, "IN_MEMORY", 0)


@pytest.fixture
def six_in_a_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of passes have six examples each."""
    monkeypatch.setattr(shards, "EXAMPLES", 6)


@pytest.fixture
def hub_library(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that sets what the hub's library has read from the environment, such as ENDPOINT, by name."""

    def made(**values: object) -> None:
        for name, value in values.items():
            monkeypatch.setattr(f"huggingface_hub.constants.{name}", value)

    return made


@pytest.fixture
def never(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that makes each call of what it names, such as "torch.load", a failure of the test."""
    return lambda name: monkeypatch.setattr(name, lambda *_, **__: pytest.fail(f"{name} was called"))


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that makes each call of what it names an error of a full disk."""
    error = OSError(errno.ENOSPC, "No space left on device")
    return lambda name: monkeypatch.setattr(name, Mock(side_effect=error))


@pytest.fixture
def code_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of models is copied into a folder of the test, not into the user's cache."""
    for module in ("transformers.dynamic_module_utils", "transformers.utils.hub"):
        monkeypatch.setattr(f"{module}.HF_MODULES_CACHE", str(tmp_path / "modules"))


@pytest.fixture
def checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training keeps a checkpoint after each step."""
    monkeypatch.setattr("headscope.training.trainer.CHECKPOINT_SECONDS", 0.0)


@pytest.fixture
def journal_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass keeps a checkpoint after each shard."""
    monkeypatch.setattr(pass_settings, "SECONDS", 0)
    monkeypatch.setattr(pass_settings, "TIMES", 0)


@pytest.fixture
def pages_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies write no page: tests of their numbers need none."""
    monkeypatch.setattr("headscope.report.write", not_written)


@pytest.fixture(autouse=True, scope="session")
def lines_as_written() -> Iterator[None]:
    """Errors name options, as they are written, also where a test calls a function of Python."""
    with on_command_line():
        yield


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Tiny models compute faster on one thread: to start several takes longer than the work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True, scope="session")
def without_waiting() -> Iterator[None]:
    """What takes longer than most work of tests is left out.

    Files need not survive a power cut, pages of several results are written in this process, models are timed once
    after the round that warms up, and no garbage is looked for at the end of a training.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(export, "MOST_PROCESSES", 1)
        patch.setattr(size_and_speed, "ROUNDS", 2)
        patch.setattr("accelerate.utils.memory.gc", Mock())
        yield
