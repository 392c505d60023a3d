"""How far a stranger walks who follows one command through the package: files, rooms and returns.

A walk has the files whose functions a command calls, in the order in which each is entered for the first time. A room
is what stands at the root of the package: a folder, or a module. A return is a step back into a room that was left.
"report" is the way of a saved result to its page, "ablate" the whole command with its page, and "sweep" the part of it
from the start of the sweep to what its tallies give.

    python -m benchmarks.walks                                # the package as it is
    PYTHONPATH=OTHER/src python -m benchmarks.walks --json    # that of another source tree
"""

import argparse
import importlib
import json
import pkgutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from inspect import CO_OPTIMIZED
from io import StringIO
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

from transformers import BertConfig, BertForSequenceClassification

import headscope
from headscope.ablation.sweep import sweep

ROOT = Path(headscope.__file__).parent
ROWS = ("A man sings.", "It rains and rains.", "She left, but he stayed.", "We ate bread.", "Is it you?", "No, not me.")


@dataclass
class Walk:
    """The files of the package in the order in which their functions are called for the first time."""

    files: dict[str, None] = field(default_factory=dict)

    def enter(self, path: str) -> None:
        """Note the file of a function that is called."""
        if path.startswith(f"{ROOT}/") and path.endswith(".py"):
            self.files[path] = None

    @property
    def rooms(self) -> list[str]:
        """The rooms that are entered one after the other."""
        return [room for room, _ in groupby(Path(path).relative_to(ROOT).parts[0] for path in self.files)]

    def counts(self) -> dict[str, int]:
        """The numbers of files and rooms, and how often a room is entered again."""
        rooms = set(self.rooms)
        return {"files": len(self.files), "rooms": len(rooms), "returns": len(self.rooms) - len(rooms)}


def walked(call: Callable[[], Any], within: CodeType | None = None) -> tuple[Walk, Walk]:
    """The walk of a call, in all threads, and the part of it in which the function of the code `within` runs."""
    all_of_it, part, inside = Walk(), Walk(), False

    def step(frame: FrameType, event: str, _: Any) -> None:
        nonlocal inside
        code = frame.f_code
        if code is within and event in ("call", "return"):
            inside = event == "call"
        if event == "call" and code.co_flags & CO_OPTIMIZED:
            all_of_it.enter(code.co_filename)
            if inside:
                part.enter(code.co_filename)

    threading.setprofile(step)
    sys.setprofile(step)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return all_of_it, part


def command(words: Sequence[str]) -> None:
    """Run a command of the package in this process."""
    sys.argv = ["headscope", *words]
    with suppress(SystemExit), redirect_stdout(StringIO()):
        importlib.import_module("headscope.__main__").main()


def prepared(folder: Path) -> dict[str, list[str]]:
    """Write a tiny model, a task and a result; return the words of each command."""
    sizes: dict[str, Any] = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = BertConfig(**sizes, id2label={0: "0", 1: "1"}, label2id={"0": 0, "1": 1})
    BertForSequenceClassification(config).save_pretrained(folder / "model")
    headscope.load("minilm").tokenizer.save_pretrained(folder / "model")
    for split in ("train", "dev"):
        rows = "\n".join(f"{text}\t{number % 2}" for number, text in enumerate(ROWS))
        (folder / f"{split}.tsv").write_text(f"sentence\tlabel\n{rows}\n", encoding="utf-8")
    few = ["--resamples", "20", "--no-figures", "--quiet"]
    model, out = str(folder / "model"), str(folder / "profile")
    study = ["profile", model, "sample", "--limit", "9", *few, "-o", out]
    subprocess.run([sys.executable, "-m", "headscope", *study], check=True, stdout=subprocess.DEVNULL)
    task = ["--task", "made", "--data", str(folder)]
    return {"report": ["report", out], "ablate": ["ablate", model, *task, *few, "-o", str(folder / "ablate")]}


def main() -> None:
    """Print the numbers of each walk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one object, with the rooms in their order")
    as_json = parser.parse_args().json
    for module in pkgutil.walk_packages([str(ROOT)], "headscope."):  # what an import calls is no part of a walk
        with suppress(ImportError):
            importlib.import_module(module.name)
    with TemporaryDirectory() as folder:
        commands = prepared(Path(folder))
        report, _ = walked(lambda: command(commands["report"]))
        ablate, swept = walked(lambda: command(commands["ablate"]), sweep.__code__)
    walks = {"report": report, "ablate": ablate, "sweep": swept}
    if as_json:
        print(json.dumps({name: walk.counts() | {"walk": walk.rooms} for name, walk in walks.items()}))
    for name, walk in () if as_json else walks.items():
        print(f"{name:8}", ", ".join(f"{count} {word}" for word, count in walk.counts().items()))


if __name__ == "__main__":
    main()
