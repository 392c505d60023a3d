"""How often 95% intervals contain the value of a whole treebank, where a sample is whole documents.

A treebank is read once, and its sums by sentence are kept. Then samples of whole documents are drawn from it, with
replacement, and each gets three intervals: over documents as headscope makes them, over documents without the
correction for few of them, and over sentences as if these were independent. A row is the share of the intervals,
over heads (of `geometry`, layers) and samples, that contain the value of all documents.

    python -m benchmarks.coverage TREEBANK [--study trees ...] [--limit 2000] [--samples 100]
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from benchmarks.coverage_sums import STUDIES, Sums, measured
from jaxtyping import Float, Int

from headscope import load, read
from headscope.corpora import Options
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import effective_units, interval

SIZES = (6, 15, 24, 45, 86)
RESAMPLES = 400


def covered(
    numbers: Mapping[str, Sums], document: Int[np.ndarray, " sentence"], size: int, samples: int
) -> dict[str, dict[str, float]]:
    """The share of intervals that contain the value of all documents, by number and kind of interval."""
    units = {"documents": document, "sentences": np.arange(len(document))}
    truths = {name: sums.resampled(np.ones((1, len(document))), document)[0][0] for name, sums in numbers.items()}
    inside: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in numbers}
    rng = np.random.default_rng(size)
    for sample in range(samples):
        for how, draws in _draws(document, rng.integers(0, document.max() + 1, size), sample).items():
            for name, sums in numbers.items():
                values, cases = sums.resampled(draws, units[how])
                bounds = interval(values, float(effective_units(cases)))
                inside[name][how].append(_contains(bounds, truths[name]))
                if how == "documents":
                    inside[name]["uncorrected"].append(_contains(interval(values), truths[name]))
    return {name: {how: float(np.nanmean(some)) for how, some in each.items()} for name, each in inside.items()}


def _draws(document: np.ndarray, chosen: np.ndarray, sample: int) -> dict[str, Float[np.ndarray, "resample sentence"]]:
    """How often each resample has each sentence of the treebank, of a sample of documents that may have copies."""
    parts = [np.flatnonzero(document == number) for number in chosen]
    sentences, unit = np.concatenate(parts), np.repeat(np.arange(len(parts)), list(map(len, parts)))
    units = {"documents": unit, "sentences": np.arange(len(sentences))}
    draws = {}
    for how, each in units.items():
        whole = np.zeros((len(document), RESAMPLES))
        np.add.at(whole, sentences, poisson_draws(each + 1000 * sample, 0, RESAMPLES).T)
        draws[how] = whole.T
    return draws


def _contains(bounds: Float[np.ndarray, "head 2"], truth: Float[np.ndarray, " head"]) -> float:
    known = np.isfinite(bounds).all(-1)
    return (
        float(((bounds[known, 0] <= truth[known]) & (truth[known] <= bounds[known, 1])).mean())
        if known.any()
        else np.nan
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("treebank")
    parser.add_argument("--study", nargs="*", choices=STUDIES)
    parser.add_argument("--limit", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=100)
    args = parser.parse_args()
    corpus = read(args.treebank, Options(limit=args.limit))
    print(f"{corpus.n_examples:,} sentences in {corpus.n_documents:,} documents; {args.samples} samples of each size")
    print("| number | documents | over documents | without correction | over sentences |")
    print("| --- | ---: | ---: | ---: | ---: |")
    numbers = measured(load("minilm"), corpus, args.study or STUDIES)
    document = np.unique(corpus.units, return_inverse=True)[1]
    rows = {size: covered(numbers, document, size, args.samples) for size in SIZES}
    for name in numbers:
        for size in SIZES:
            row = rows[size][name]
            print(f"| {name} | {size} | {row['documents']:.2f} | {row['uncorrected']:.2f} | {row['sentences']:.2f} |")


if __name__ == "__main__":
    main()
