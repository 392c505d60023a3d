"""Processor time of the pass that the studies of a survey share, beside that of the pass of each study by itself.

Compares, in turns within one run, on the same examples and for the built-in model, with one thread: (a) the first pass
of each study alone; (b) the pass that all of them share; (c) the plain forward passes. Time is that of the processor,
ratios are medians over rounds; nothing that follows a pass is timed.

    python -m benchmarks.survey CORPUS [--limit 200] [--rounds 3]
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from benchmarks.passes import plain_passes

from headscope import Model, load, read
from headscope.corpora import Corpus, Options
from headscope.encoding.encoder import Words
from headscope.front.survey.step_results import corpora_of
from headscope.passes import Settings
from headscope.passes.batches import by_length, collator
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.read_parts import read_parts
from headscope.passes.settings import PassJournal
from headscope.passes.shared_pass import alike, first_pass, read_together

STUDIES = ("profile", "patterns", "syntax", "relations", "clusters", "geometry", "trees", "structure", "probe")


def pass_of(study: str, model: Model, corpus: Corpus, folder: Path) -> PlannedPass[Any]:
    """The first pass of a study, which has not begun."""
    settings = Settings(journal=PassJournal(folder / study, {"study": study}))
    planned = first_pass(study, {"model": model, **corpora_of(study, [corpus]), "settings": settings})
    if planned is None:
        raise SystemExit(f"{study}: no pass")
    return planned


def alone(study: str, model: Model, corpus: Corpus, folder: Path) -> None:
    """The pass of a study by itself."""
    planned = pass_of(study, model, corpus, folder)
    with torch.inference_mode():
        read_parts(planned, planned.fold, replace(planned.settings, journal=None))


def shared(model: Model, corpus: Corpus, folder: Path) -> None:
    """The pass of all studies."""
    (group,) = alike({study: pass_of(study, model, corpus, folder) for study in STUDIES})
    assert len(group) == len(STUDIES)
    read_together(list(group.values()), Settings())


def timed(call: Callable[[], object]) -> float:
    """Seconds of the processor."""
    before = time.process_time()
    call()
    return time.process_time() - before


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, corpus = load("minilm"), read(given.corpus, Options(limit=given.limit))
    inputs = list(Words(model.tokenizer, model.max_tokens).encode(corpus))
    batches = [collator(model)(group) for group in by_length(inputs, Settings().batch_tokens)]
    times: dict[str, list[float]] = {}
    for number in range(given.rounds + 1):  # the first warms up
        row: dict[str, Callable[[Path], object]] = {"plain": lambda _: plain_passes(model, batches)}
        row |= {study: partial(alone, study, model, corpus) for study in STUDIES}
        row["shared"] = partial(shared, model, corpus)
        for name, call in row.items():
            with TemporaryDirectory() as scratch:
                seconds = timed(partial(call, Path(scratch)))
            times.setdefault(name, []).extend([seconds] if number else [])
    report(times, sum(map(len, inputs)))


def report(times: dict[str, list[float]], tokens: int) -> None:
    """Print the time of each pass, and the ratios."""
    print(f"torch {torch.__version__}, one thread; {tokens:,} tokens")
    for name, seconds in times.items():
        print(f"  {name:12s} {median(seconds):7.2f} s")
    print(f"shared / sum of all alone: {ratio(times, sum):.2f}; / slowest of them: {ratio(times, max):.2f}")
    least = [sum(rest) + plain for plain, rest in zip(times["plain"], zip(*own_parts(times), strict=True), strict=True)]
    print(f"what all do beside forward passes, and two of these: {median(least):.2f} s, the least that is possible")


def own_parts(times: dict[str, list[float]]) -> list[list[float]]:
    """The time of each study less that of a plain forward pass; one is left of both kinds."""
    less = [[max(0.0, a - b) for a, b in zip(times[study], times["plain"], strict=True)] for study in STUDIES]
    return [*less, times["plain"]]


def ratio(times: dict[str, list[float]], joined: Callable[[Sequence[float]], Any]) -> float:
    """The median over rounds of the shared pass over the joined times of all."""
    rounds = zip(*(times[study] for study in STUDIES), strict=True)
    return median(one / joined(several) for one, several in zip(times["shared"], rounds, strict=True))


if __name__ == "__main__":
    main()
