"""A profile by several processes, of growing corpora, and the merge of many shards.

python -m benchmarks.workers speed|size|merge

* `speed`: the built-in model on 4,096 sentences: one process with one thread, with all threads, and workers.
* `size`: a small model on 1,024 sentences, on ten and on a hundred times as many; each in a process of its own.
* `merge`: what the coordinator does with a message of a BERT-base (check and decode it, add it up); 10,000 shards, as a
  large corpus is added up.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from benchmarks.memory import peak
from transformers import BertConfig, BertModel

from headscope import Model, Settings, catalog, load, read, wrap
from headscope.cluster.channel import message_of, record_of
from headscope.passes.checkpoints import Checkpoints
from headscope.passes.coverage import Coverage
from headscope.passes.settings import PassJournal
from headscope.passes.shards import TOGETHER, ReadShards
from headscope.statistics.bootstrap import Tally
from headscope.storage.codec import decode, encode

WORDS = "the cat saw an old bird in a small garden and she ran from town to the river with her friends today".split()
SENTENCES = 1024
HEADS, MERGED = 144, 10_000


def sentences(folder: Path, number: int) -> Path:
    """A file of sentences of 8 to 20 words, the same for the same number."""
    random, path = Random(0), folder / f"{number}.txt"
    with path.open("w") as file:
        for _ in range(number):
            file.write(" ".join(random.choices(WORDS, k=random.randint(8, 20))) + ".\n")
    return path


def profiled(model: Model, path: Path, settings: Settings, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the pass of a profile."""
    corpus, started = read(str(path)), clock()
    catalog.load("studies", "profile").run(model, corpus, settings)
    return clock() - started


def speed() -> None:
    """Sentences a second."""
    model, threads = load("minilm"), torch.get_num_threads()
    with tempfile.TemporaryDirectory() as scratch:
        path = sentences(Path(scratch), 4 * SENTENCES)
        for name, workers, used in (("1 thread", 1, 1), (f"{threads} threads", 1, threads), ("2 workers", 2, threads)):
            torch.set_num_threads(used)
            seconds = profiled(model, path, Settings(workers=workers))
            print(f"{name}: {4 * SENTENCES / seconds:.0f} sentences a second", flush=True)


def size() -> None:
    """Seconds and MiB by the number of sentences, each in a process of its own."""
    for times in (1, 10, 100):
        subprocess.run([sys.executable, "-m", "benchmarks.workers", "one", str(times * SENTENCES)], check=True)


def one(number: int) -> None:
    """The pass over so many sentences: processor time, the share of checkpoints, and the peak of memory."""
    config = BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
    model, cost = wrap(BertModel(config).eval(), load("minilm").tokenizer), list[float]()
    write = Checkpoints._write

    def timed(self: Checkpoints, *written: Any) -> None:
        started = time.process_time()
        write(self, *written)
        cost.append(time.process_time() - started)

    Checkpoints._write = timed  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as scratch:
        path, seconds = sentences(Path(scratch), number), list[float]()
        settings = Settings(journal=PassJournal(Path(scratch) / "journal", {}), on_notice=print)
        above, most = peak(lambda: seconds.append(profiled(model, path, settings, time.process_time)))
    print(
        f"{number} sentences: {1000 * seconds[0] / number:.3f} ms each, {len(cost)} checkpoints with "
        f"{sum(cost) / seconds[0]:.2%} of the time, {above:.1f} MiB above the model, {most:.0f} MiB",
        flush=True,
    )


def merge() -> None:
    """Seconds of processor time for a shard."""
    for resamples in (1000, 100):
        part = shard(resamples)
        started = time.process_time()
        message = message_of({"value": encode(part)})
        sent = time.process_time()
        received = decode((record_of(message) or {})["value"], ReadShards[dict[str, Tally]])
        decoded = time.process_time()
        part.plus(received, _added)
        merged = time.process_time()
        print(
            f"{resamples} resamples: {len(message) / 2**20:.1f} MiB; worker {sent - started:.3f} s; "
            f"coordinator {decoded - sent:.3f} s to read, {merged - decoded:.3f} s to add",
            flush=True,
        )
    one, started = shard(10), time.process_time()
    parts = [TOGETHER] * (MERGED // TOGETHER)
    total = reduce(_plus, (reduce(_plus, [one] * number) for number in parts))
    error = max(
        float(np.abs(tally.total / (MERGED * one.state[name].total) - 1).max()) for name, tally in total.state.items()
    )
    print(f"{MERGED} shards: {time.process_time() - started:.1f} s; relative error of a sum {error:.1e}")


def shard(resamples: int) -> ReadShards[dict[str, Tally]]:
    """A shard of a profile of 144 heads, of as many numbers as one of the built-in corpus."""
    random = np.random.default_rng(0)
    shapes = {"profile": (HEADS, 32)}
    state = {
        name: Tally(
            random.random(shape),
            np.full(shape[1:], 1024),
            random.random((resamples, *shape)),
            random.random((resamples, *shape[1:])),
        )
        for name, shape in shapes.items()
    }
    return ReadShards(state, 1, Coverage(1024))


def _plus(one: ReadShards, other: ReadShards) -> ReadShards:
    return one.plus(other, _added)


def _added(one: dict[str, Tally], other: dict[str, Tally]) -> dict[str, Tally]:
    return {name: values + other[name] for name, values in one.items()}


if __name__ == "__main__":
    name, *number = sys.argv[1:]
    {"speed": speed, "size": size, "merge": merge, "one": lambda: one(int(number[0]))}[name]()
