"""How often 95% intervals contain the value of a whole corpus, where a sample is whole documents.

A corpus is read once, and numbers of its sentences are kept. Then samples of whole documents are drawn from it, with
replacement, and each gets intervals as headscope makes them. A row is the share of the intervals, over heads (layers,
probes) and samples, that contain the value of all documents: by the number of documents; of 15 documents without the
correction for few of them; and of 86 documents whose sentences are resampled as if they were independent.

    python -m benchmarks.coverage TREEBANK [--phrases FOLDER] [--study trees ...] [--limit 2001] [--samples 60]

Without `--phrases`, a folder of bracketed documents, there is no `f1` of trees; without `--training`, a treebank, no
`structure`, `probe` and `layers`; without `--mentions`, a corpus with coreference, no `coreference`.
"""

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.coverage import attention, mentions, trained
from benchmarks.coverage.numbers import Number, Numbers, Sample, sample_of
from benchmarks.coverage.states import geometry

from headscope import Model, load, read
from headscope.corpora import Options
from headscope.statistics.intervals import interval

SIZES = (6, 15, 24, 45, 86)
FEW, MANY = 15, 86
HEADER = [*map(str, SIZES), f"{FEW}, not corrected", f"{MANY}, over sentences"]


def covered(numbers: Numbers, samples: int) -> dict[str, list[float]]:
    """The cells of each number's row."""
    cells: dict[str, list[float]] = {name: [] for name in numbers.by_name}
    for size in SIZES:
        drawn = [_documents(numbers.document, size, number) for number in range(samples)]
        for name, number in numbers.by_name.items():
            inside = [_contained(number.of(sample)[1], number.value(sample)) for sample in drawn]
            cells[name].append(float(np.nanmean(inside)))
    for name, number in numbers.by_name.items():
        cells[name] += [_uncorrected(numbers, number, samples), _alone(numbers, number, samples)]
    return cells


def _documents(document: np.ndarray, size: int, number: int) -> Sample:
    """A sample of so many documents, some perhaps twice."""
    chosen = np.random.default_rng([size, number]).integers(0, document.max() + 1, size)
    parts = [np.flatnonzero(document == drawn) for drawn in chosen]
    return sample_of(np.concatenate(parts), np.repeat(np.arange(size), list(map(len, parts))), number)


def _uncorrected(numbers: Numbers, number: Number, samples: int) -> float:
    drawn = [_documents(numbers.document, FEW, seed) for seed in range(samples)]
    inside = [_contained(interval(number.of(sample)[0]), number.value(sample)) for sample in drawn]
    return float(np.nanmean(inside))


def _alone(numbers: Numbers, number: Number, samples: int) -> float:
    """Where each sentence is drawn by itself."""
    contained = []
    for seed in range(samples):
        rows = _documents(numbers.document, MANY, seed).rows
        sample = sample_of(rows, np.arange(len(rows)), seed)
        contained.append(_contained(number.of(sample)[1], number.value(sample)))
    return float(np.nanmean(contained))


def _contained(bounds: np.ndarray, truth: np.ndarray) -> float:
    """The share of the known intervals that contain the truth."""
    known = np.isfinite(bounds).all(-1)
    inside = (bounds[known, 0] <= truth[known]) & (truth[known] <= bounds[known, 1])
    return float(inside.mean()) if known.any() else np.nan


def studies(model: Model, args: argparse.Namespace) -> dict[str, Callable[[], Numbers]]:
    """What measures the numbers of each study."""
    corpus = partial(read, args.treebank, Options(limit=args.limit))
    readers = (attention.profile, attention.trees, attention.relations, attention.gradients, attention.clusters)
    found: dict[str, Callable[[], Numbers]] = {
        reader.__name__: partial(lambda reader: attention.measured(reader, model, corpus()), reader)
        for reader in readers
    }
    found["trees"] = lambda: attention.measured(attention.trees, model, corpus(), shares=True)
    found["syntax"] = lambda: attention.measured(attention.syntax, model, corpus(), shares=True)
    found["geometry"] = lambda: geometry(model, corpus())
    if args.training:
        for of_probes in (trained.structure, trained.probe, trained.layers):
            found[of_probes.__name__] = partial(lambda made: made(model, corpus(), read(args.training)), of_probes)
    if args.mentions:
        found["coreference"] = lambda: mentions.coreference(model, read(args.mentions))
    if args.phrases:
        found["phrases"] = lambda: attention.measured(attention.trees, model, read(args.phrases, kind="brackets"))
    return found


def main() -> None:
    """Print the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("treebank")
    for name in ("phrases", "training", "mentions"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--study", nargs="*")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--samples", type=int, default=60)
    args = parser.parse_args()
    print(f"| number | {' | '.join(HEADER)} |\n| --- |{' ---: |' * len(HEADER)}")
    for study, measured in studies(load("minilm"), args).items():
        if study in (args.study or [study]):
            for name, row in covered(measured(), args.samples).items():
                print(f"| {name} | {' | '.join(f'{cell:.2f}' for cell in row)} |", flush=True)


if __name__ == "__main__":
    main()
