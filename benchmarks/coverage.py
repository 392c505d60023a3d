"""How often 95% intervals contain the value of a whole treebank, where a sample is whole documents.

A treebank is read once, and its sums by document are kept. Then samples of whole documents are drawn from it, with
replacement, and each gets three intervals: over documents as headscope makes them, over documents without the
correction for few of them, and over sentences as if these were independent. A row is the share of the intervals,
over heads and samples, that contain the value of all documents.

    python -m benchmarks.coverage TREEBANK.conllu [--limit 2000] [--samples 100]
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headscope import Corpus, Model, catalog, load, read
from headscope.corpora import Options
from headscope.encoding.encoder import Words
from headscope.passes import Settings
from headscope.passes.batches import by_length
from headscope.passes.observing import MeasureObserver, observing
from headscope.statistics.bootstrap import Tally, poisson_draws, tally
from headscope.statistics.intervals import interval
from headscope.studies.syntax.observer import DependencyObserver

SIZES = (6, 15, 24, 45, 86)
MEASURES = ("entropy", "attention_to")
RELATIONS = ("det", "nsubj", "obj", "advmod")
RESAMPLES = 400


@dataclass(frozen=True)
class Sums:
    """Of one number: the sums and the numbers of cases of each sentence, by the document of the sentence."""

    totals: Float[np.ndarray, "sentence head"]
    cases: Int[np.ndarray, " sentence"]
    document: Int[np.ndarray, " sentence"]


def measured(model: Model, corpus: Corpus) -> dict[str, Sums]:
    """The sums of measures of a profile and of the accuracies of `syntax`."""
    words = Words(model.tokenizer, model.max_tokens, aligned=True, by_document=True)
    groups = list(by_length(words.encode(corpus), Settings().batch_tokens))
    rows: dict[str, list[tuple[int, int, np.ndarray, int]]] = defaultdict(list)
    for name, totals, cases, sentence, document in (*_profile(model, groups), *_syntax(model, groups)):
        rows[name].append((sentence, document, totals, cases))
    return {
        name: Sums(np.stack([row[2] for row in some]), np.array([row[3] for row in some]), _numbers(some))
        for name, some in rows.items()
    }


def _numbers(rows: list[tuple[int, int, np.ndarray, int]]) -> Int[np.ndarray, " sentence"]:
    return np.unique([row[1] for row in rows], return_inverse=True)[1]


def _profile(model: Model, groups: list) -> Iterator[tuple[str, np.ndarray, int, int, int]]:
    observer = MeasureObserver({name: catalog.load("measures", name) for name in MEASURES})
    with observing(model, observer) as observe:
        for group in groups:
            for name, found in observe(group).items():
                values, valid = found.values.numpy(), found.valid.numpy()
                for row, encoded in enumerate(group):
                    first = (row, slice(None), *[0] * (values.ndim - 2))
                    if valid[(row, *[0] * (valid.ndim - 1))]:
                        yield f"profile: {name}", values[first], 1, encoded.index, encoded.unit


def _syntax(model: Model, groups: list) -> Iterator[tuple[str, np.ndarray, int, int, int]]:
    heads = sum(model.capture.heads)
    observer = DependencyObserver()
    with observing(model, observer) as observe:
        for group in groups:
            found, units = observe(group), {encoded.index: encoded.unit for encoded in group}
            for relation in RELATIONS:
                here = found[found.relation == relation]
                for sentence in np.unique(here.input).tolist():
                    right = here[here.input == sentence].unpacked(heads)[..., 0]
                    yield f"syntax: {relation}", right.sum(0).astype(float), len(right), sentence, units[sentence]


def covered(sums: Sums, size: int, samples: int) -> dict[str, float]:
    """The share of intervals that contain the value of all documents."""
    truth = sums.totals.sum(0) / sums.cases.sum()
    rng, inside = np.random.default_rng(size), defaultdict(list)
    by_document = [np.flatnonzero(sums.document == number) for number in range(sums.document.max() + 1)]
    for sample in range(samples):
        chosen = [by_document[number] for number in rng.integers(0, len(by_document), size)]
        sentences = np.concatenate(chosen)
        unit = np.repeat(np.arange(size), [len(some) for some in chosen])
        for how, numbers in {"documents": unit, "sentences": np.arange(len(sentences))}.items():
            draws = poisson_draws(numbers + 1000 * sample, seed=0, resamples=RESAMPLES)
            found = tally(sums.totals[sentences], sums.cases[sentences], draws)
            inside[how].append(_contains(found.interval, truth))
            if how == "documents":
                inside["uncorrected"].append(_contains(_plain(found), truth))
    return {how: float(np.nanmean(some)) for how, some in inside.items()}


def _plain(found: Tally) -> Float[np.ndarray, "head 2"]:
    return interval(found.resampled_total / found.resampled_count[:, None])


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
    parser.add_argument("--limit", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=100)
    args = parser.parse_args()
    corpus = read(args.treebank, Options(limit=args.limit))
    print(f"{corpus.n_examples:,} sentences in {corpus.n_documents:,} documents; {args.samples} samples of each size")
    print("| number | documents | over documents | without correction | over sentences |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, sums in measured(load("minilm"), corpus).items():
        for size in SIZES:
            row = covered(sums, size, args.samples)
            print(f"| {name} | {size} | {row['documents']:.2f} | {row['uncorrected']:.2f} | {row['sentences']:.2f} |")


if __name__ == "__main__":
    main()
