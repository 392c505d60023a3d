"""Run the study: from its options to a labelled result."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import xarray as xr
from scipy.stats import binomtest

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import joint_corpus, joint_resampled
from headscope.encoding.encoder import Words
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.ranges import Range
from headscope.results.files import without_intervals
from headscope.results.variables import Count, Variables
from headscope.results.vocabulary import PATTERNS
from headscope.storage.hashes import sha256_of
from headscope.studies.heads.patterns import STUDY
from headscope.studies.heads.patterns.classifier import WEIGHTS, Classifier, load
from headscope.studies.heads.patterns.exemplars import Clearest, Picks, clearest_of_both
from headscope.studies.heads.patterns.grid import MOST_TOKENS
from headscope.studies.heads.patterns.observer import PatternObserver, PatternState, pattern_pass

Read = dict[str, Any]


def run(
    model: Model,
    corpora: tuple[Corpus, ...],
    settings: Settings = DEFAULTS,
    *,
    shown: Annotated[int, Range(0, 100)] = 3,
    weights: Path | None = None,
) -> xr.Dataset:
    """The share of each pattern among the maps of each head, and of all heads.

    A share is the mean probability of a pattern over examples, at the natural rate of patterns: nearer to labels given
    by eye than counts of the most probable pattern, which a rare one seldom is.

    Arguments:

    * `corpora`: One or more corpora, measured apart.
    * `shown`: Number of example maps of each pattern in the report.
    * `weights`: Weights of another classifier; by default the built-in classifier.

    Raises `HeadscopeError` if no example of a corpus fits into the model.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), (read("sample", Options(limit=2)),))
    >>> result["share"].dims, round(float(result["share_total"].sum()), 6)
    (('layer', 'head', 'pattern'), 1.0)
    """
    classifier, clearest = load(weights, model.device), Clearest(model)
    attributes = provenance("patterns", model, joint_corpus(corpora), settings) | {
        "classifier_sha256": sha256_of([weights or WEIGHTS])
    }
    by_corpus: dict[str, xr.Dataset] = {}
    read: list[Read] = []
    for name, corpus in zip(_names(corpora), corpora, strict=True):
        try:
            by_corpus[name], picks, coverage = _of(_pass(model, corpus, settings, classifier, name))
            clearest.picks = clearest_of_both(clearest.picks, picks)
        except KeyboardInterrupt:
            if not (by_corpus and settings.keep_interrupted):
                raise
            coverage = {"interrupted": f"before '{corpus.name}'"}
        read.append(coverage)
        if "interrupted" in coverage:
            break
    names = xr.Variable("task", list(by_corpus))
    joined = xr.concat(by_corpus.values(), names) if len(corpora) > 1 else by_corpus.popitem()[1]
    for array in joined.data_vars.values() if len(corpora) > 1 else ():
        array.attrs["resampled"] = "each corpus"
    joined = joined.assign_coords(dominant=dominant(joined["share"]))
    if "task" in joined.dims:
        joined = joined.assign(same_in_all(joined["dominant"]))
    if shown:
        joined["map"] = clearest.of_patterns(shown, settings)
        share = joined["share"].mean("task") if "task" in joined.dims else joined["share"]
        joined["head_map"] = clearest.of_heads(share.values, settings)
    attributes |= _summed(read, _names(corpora)) | {"resampled": joint_resampled(corpora)}
    return results.check(joined.assign_attrs(attributes))


def first_pass(
    model: Model, corpora: tuple[Corpus, ...], settings: Settings, *, weights: Path | None
) -> PlannedPass[PatternState]:
    """What other studies may read together with this one: the first corpus."""
    return _pass(model, corpora[0], settings, load(weights, model.device), _names(corpora)[0])


def _pass(
    model: Model, corpus: Corpus, settings: Settings, classifier: Classifier, name: str
) -> PlannedPass[PatternState]:
    observer = PatternObserver(classifier.classify, classifier.natural)
    words = Words(model.tokenizer, min(model.max_tokens, MOST_TOKENS), settings.long)
    return pattern_pass(Pass(model, corpus, settings, words), observer, name, words.counts)


def _of(planned: PlannedPass[PatternState]) -> tuple[xr.Dataset, Picks, Read]:
    """Returns: the shares of one corpus, its clearest maps, and the attributes of its pass."""
    result = planned.read()
    tallies, heads = result.value.tallies, planned.model.capture.heads
    variables, total = Variables({"pattern": PATTERNS}, STUDY.source, STUDY.labels), tallies["share_total"]
    cases = Count(total.count, f"examples with {STUDY.labels['share_total'].what}", dims=("pattern",))
    variables.add_tally("share", tallies["share"], heads)
    variables.add("share_total", total.mean[0], interval=total.interval[0], count=cases)
    variables.add_tally("counted", tallies["counted"], heads)
    shares = xr.Dataset(variables.arrays)
    shares = without_intervals(shares) if planned.corpus.has_few_documents else shares
    return shares, result.value.picks, result.attributes


def _names(corpora: Sequence[Corpus]) -> list[str]:
    """The corpora's names; one that comes again is numbered."""
    names = [corpus.name for corpus in corpora]
    times = [names[: index + 1].count(name) for index, name in enumerate(names)]
    return [name if time == 1 else f"{name} ({time})" for name, time in zip(names, times, strict=True)]


def _summed(read: Sequence[Read], names: Sequence[str]) -> Read:
    """Totals over all corpora, and the counts of what was left out of each."""
    sums = {key: sum(attrs.get(key, 0) for attrs in read) for key in ("n_examples", "n_tokens", "duration_s")}
    skipped = Counter()
    for name, attrs in zip(names, read, strict=False):
        prefix = f"{name}: " if names[1:] else ""
        skipped.update({f"{prefix}{reason}": count for reason, count in json.loads(attrs.get("skipped", "{}")).items()})
    stopped = {key: value for key, value in read[-1].items() if key == "interrupted"}
    return sums | stopped | {"skipped": json.dumps(dict(skipped))}


def dominant(share: xr.DataArray) -> xr.DataArray:
    """The pattern with the largest share of a head's maps; "" where there is no such head."""
    names = np.array([*PATTERNS, ""])
    largest = xr.where(share.notnull().all("pattern"), share.fillna(0).argmax("pattern"), -1)
    return largest.copy(data=names[largest.values])


def same_in_all(main: xr.DataArray) -> dict[str, xr.DataArray]:
    """`same_pattern`: the share of heads whose `main` pattern is the same in all tasks; its interval is over heads.

    >>> main = xr.DataArray([[["block", "vertical"]], [["block", "diagonal"]]], dims=("task", "layer", "head"))
    >>> float(same_in_all(main)["same_pattern"])
    0.5
    """
    named = main.isel(task=0) != ""
    same, heads = int(((main == main.isel(task=0)).all("task") & named).sum()), int(named.sum())
    bounds = binomtest(same, heads).proportion_ci(method="wilson")
    variables = Variables({}, STUDY.source, STUDY.labels, cases="heads behind", resampled="heads")
    variables.add("same_pattern", same / heads, interval=[bounds.low, bounds.high], count=heads)
    return variables.arrays
