"""Accuracies of phenomena, conditions and suites, beside baselines and controls, as labelled variables."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int

from headscope.corpora.suites import ClozeItem
from headscope.linguistics.sentence import number_of
from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.results.vocabulary import PIECES
from headscope.statistics.bootstrap import CHUNK, Tally, merge, poisson_draws, tally, tally_by_input
from headscope.statistics.intervals import interval, of_differences
from headscope.statistics.rank_correlation import spearman
from headscope.studies.words.cloze import BEYOND, FACTS, ITEMS, STUDY
from headscope.studies.words.cloze.item_scores import ItemScores

# Units of means of logarithms, and of means of zeros and ones.
LOGARITHMS, SHARES = ("perplexity", "rank"), (ITEMS, FACTS)
DIFFERENCES = ("control_fall", "baseline_gain", "answer_gain", "among_gain", "best_wording_gain", "first_wording_gain")
Columns = Mapping[str, Float[np.ndarray, "item *label"]]
Fact = TypeVar("Fact")


def to_variables(
    items: Sequence[ClozeItem],
    suites: Sequence[str],
    own: ItemScores,
    baselines: Mapping[str, ItemScores],
    controls: Mapping[str, ItemScores],
    settings: Settings,
    *,
    vocabulary: int,
    judged: Columns | None = None,
) -> dict[str, xr.DataArray]:
    """The variables of a result; `suites` is the suite of each item, `vocabulary` the number of pieces.

    * `judged`: what a classifier of acceptability has right; conditions that have no name are then their phenomenon.
    """
    phenomena, group = grouped([item.phenomenon for item in items])
    names, suite = grouped(suites)
    unnamed = [item.phenomenon if judged else None for item in items]
    named = [f"{item.phenomenon}: {item.condition}" if item.condition else "" for item in items]
    conditions, condition = grouped([name or other for name, other in zip(named, unnamed, strict=True)])
    coords = {
        "phenomenon": phenomena,
        "condition": conditions,
        "suite": names,
        "baseline": list(baselines),
        "control": list(controls),
        "pieces": PIECES,
    }
    variables = Variables(coords, STUDY.source, STUDY.labels)
    scored = ~np.isnan(own.correct)
    columns = {"accuracy": own.correct, "margin": own.good - own.bad}
    for name, others in (("accuracy_baseline", baselines), ("accuracy_control", controls)):
        if others:
            columns[name] = np.stack([np.where(scored, scores.correct, np.nan) for scores in others.values()], axis=1)
    if controls:
        columns["prediction_kept"] = np.stack([_same_choice(own, scores) for scores in controls.values()], axis=1)
    if np.isfinite(beyond := _beyond(items, own)).any():
        columns["accuracy_beyond"] = beyond
    units = units_of(items)
    add_by_group(variables, columns, group, settings, units=units)
    _add_by_lemma(variables, own.correct, [item.lemma for item in items], group, settings)
    choices = np.array([len(item.candidates) if item.bad else vocabulary for item in items])
    members = [choices[(group == number) & scored] for number in range(len(phenomena))]
    variables.add("chance", [np.mean(1 / options) if len(options) else np.nan for options in members])
    if conditions:
        by_condition = {"accuracy_by_condition": own.correct, **(judged or {})}
        if baselines:
            by_condition["baseline_by_condition"] = columns["accuracy_baseline"]
        add_by_group(variables, by_condition, condition, settings, units=units)
    of_suites = {"accuracy_by_suite": own.correct}
    if own.pieces.any():
        size = np.minimum(own.pieces, len(PIECES))[:, None]
        right = np.where(size == np.arange(1, len(PIECES) + 1), own.correct[:, None], np.nan)
        of_suites["accuracy_by_pieces"] = right
    add_by_group(variables, of_suites, suite, settings, units=units)
    return variables.arrays


def _same_choice(own: ItemScores, changed: ItemScores) -> Float[np.ndarray, " item"]:
    """1 where the best text, or the best answer of the phenomenon, is the same in both, else 0."""
    known = (own.choice >= 0) & (changed.choice >= 0)
    return np.where(known, own.choice == changed.choice, np.nan)


def _beyond(items: Sequence[ClozeItem], own: ItemScores) -> Float[np.ndarray, " item"]:
    """1 where an answer in a gap beats the wrong ones by more than the threshold; NaN for all other items."""
    known = np.array([bool(item.bad and item.good.is_answer) for item in items]) & ~np.isnan(own.correct)
    return np.where(known, np.exp(own.good) - np.exp(own.bad) > BEYOND, np.nan)


def add_by_group(
    variables: Variables,
    columns: Columns,
    group: Int[np.ndarray, " item"],
    settings: Settings,
    cases: str = "items",
    units: Int[np.ndarray, " item"] | None = None,
) -> None:
    """Add the means of columns over the items of each group that have a value, with bootstrap intervals over items.

    The number of an item's unit alone decides how often a resample has it: all columns are resampled together.

    * `columns`: shares of right answers, differences of these, nats, or logarithms of what has a unit of `LOGARITHMS`.
    * `group`: -1 for an item of no group; `units`: what items are resampled with, by default each by itself.
    """
    values = np.concatenate([column.reshape(len(group), -1) for column in columns.values()], axis=1)
    members = [np.flatnonzero(group == number) for number in range(group.max() + 1)]
    tallies = [_tally(values, index, index if units is None else units[index], settings) for index in members]
    at = 0
    for name, column in columns.items():
        label, last = variables.labels[name], at + column[0].size
        part = slice(at, last) if column.ndim > 1 else at
        counts = [tally.count[part] for tally in tallies]
        scale = np.exp if label.unit in LOGARITHMS else np.asarray
        variables.add(
            name,
            scale([tally.mean[0][part] for tally in tallies]),
            interval=scale([_bounds(name, label.unit, tally, units is None)[part] for tally in tallies]),
            count=Count(counts, f"{cases} of {label.what}", cases, label.dims),
        )
        at = last


def _bounds(name: str, unit: str, tally: Tally, single: bool) -> Float[np.ndarray, "statistic 2"]:
    """The intervals of shares, of differences of shares, or of other numbers; `single`: each item is drawn alone."""
    if name in DIFFERENCES:
        return of_differences(tally.interval[0], tally.count if single else tally.units)
    return tally.share_interval[0] if unit in SHARES else tally.interval[0]


def _tally(
    values: Float[np.ndarray, "item statistic"],
    index: Int[np.ndarray, " some"],
    units: Int[np.ndarray, " some"],
    settings: Settings,
) -> Tally:
    """The tally of the items with these numbers; those of a unit are drawn together."""
    chunks = [slice(start, start + CHUNK) for start in range(0, max(1, len(index)), CHUNK)]
    return merge(
        # [item, 1, statistic], [item, statistic]
        tally(
            np.nan_to_num(values[index[chunk]])[:, None],
            ~np.isnan(values[index[chunk]]),
            poisson_draws(units[chunk], settings.seed, settings.resamples),
        )
        for chunk in chunks
    )


def losses(scores: ItemScores) -> Float[np.ndarray, " item"]:
    """Minus the log-probability of each answer that is ranked in the vocabulary; NaN for other items."""
    return np.where(scores.rank > 0, -scores.good, np.nan)


def units_of(items: Sequence[ClozeItem]) -> Int[np.ndarray, " item"] | None:
    """What items are resampled with: those of a document or a sequence together; None where each stands alone."""
    if not any(item.document for item in items):
        return None
    return np.array([number_of(item.document) if item.document else at for at, item in enumerate(items)], np.int64)


def grouped(labels: Sequence[str | None]) -> tuple[list[str], Int[np.ndarray, " item"]]:
    """The labels in the order in which they come first, and the number of each item's label, -1 for None."""
    names = list(dict.fromkeys(label for label in labels if label is not None))
    numbers = {name: number for number, name in enumerate(names)}
    return names, np.array([-1 if label is None else numbers[label] for label in labels], int)


def _add_by_lemma(
    variables: Variables,
    correct: Float[np.ndarray, " item"],
    lemmas: Sequence[str],
    group: Int[np.ndarray, " item"],
    settings: Settings,
) -> None:
    """Add the accuracy with intervals that resample all items of a lemma together."""
    _, lemma = grouped(lemmas)
    tallies, counts = [], []
    for number in range(group.max() + 1):
        index = np.flatnonzero((group == number) & ~np.isnan(correct))
        index = index[np.argsort(lemma[index], kind="stable")]
        present, places = np.unique(lemma[index], return_inverse=True)
        draws = poisson_draws(present, settings.seed, settings.resamples)
        tallies.append(tally_by_input(correct[index][:, None], places, draws))
        counts.append(len(present))
    variables.add(
        "accuracy_by_lemma",
        [tally.mean[0] for tally in tallies],
        interval=[tally.share_interval[0] for tally in tallies],
        count=Count(counts, "lemmas of each phenomenon", "lemmas", ("phenomenon",)),
    )


def suite_variables(
    items: Sequence[ClozeItem],
    suites: Sequence[str],
    own: ItemScores,
    baselines: Mapping[str, ItemScores],
    controls: Mapping[str, ItemScores],
    given_away: Bool[np.ndarray, " item"],
    settings: Settings,
) -> dict[str, xr.DataArray]:
    """The variables of a result; `suites` is the suite of each item.

    * `given_away`: facts whose answer is a part of the subject's name, or is guessed from the name alone.
    """
    names, group = grouped(suites)
    coords = {"suite": names, "control": list(controls), "baseline": list(baselines)}
    variables = Variables(coords, STUDY.source, STUDY.labels)
    columns = {
        name: np.stack([own.correct - scores.correct for scores in others.values()], axis=1)
        for name, others in (("control_fall", controls), ("baseline_gain", baselines))
        if others
    }
    if own.rank.any():
        right = np.where(own.rank > 0, own.correct, np.nan)
        frequent = most_frequent(items, own)
        columns |= {"answer_gain": right - frequent, "among_gain": own.among - frequent}
        columns["perplexity_by_suite"] = losses(own)
        if any(item.subject for item in items):
            named = np.array([bool(item.subject) for item in items])
            columns["accuracy_given_away"] = np.where(named & given_away, right, np.nan)
            columns["accuracy_not_given_away"] = np.where(named & ~given_away, right, np.nan)
    if columns:
        add_by_group(variables, columns, group, settings, units=units_of(items))
    human = np.array([item.human for item in items])
    if np.isfinite(human).any():
        _add_human(variables, own.good - own.bad, human, group, settings)
    return variables.arrays


def _add_human(
    variables: Variables,
    margin: Float[np.ndarray, " item"],
    human: Float[np.ndarray, " item"],
    group: Int[np.ndarray, " item"],
    settings: Settings,
) -> None:
    """Add the correlation of margins with what people write, by suite; its interval is over items."""
    suites = group.max() + 1
    values, bounds, counts = np.full(suites, np.nan), np.full((suites, 2), np.nan), np.zeros(suites, int)
    for number in range(suites):
        index = np.flatnonzero((group == number) & np.isfinite(margin + human))
        counts[number] = len(index)
        if len(index) > 2:
            draws = poisson_draws(index, settings.seed, settings.resamples).astype(int)
            resamples = (np.repeat(index, times) for times in draws if times.sum() > 1)
            resampled = np.array([spearman(margin[drawn], human[drawn]) for drawn in resamples])
            values[number] = spearman(margin[index], human[index])
            bounds[number] = interval(resampled, len(index))
    label = variables.labels["human_agreement"]
    variables.add(
        "human_agreement", values, interval=bounds, count=Count(counts, f"items of {label.what}", "items", label.dims)
    )


def most_frequent(items: Sequence[ClozeItem], own: ItemScores) -> Float[np.ndarray, " item"]:
    """1 where the answer of a fact is the most frequent of its phenomenon; NaN for items that are not ranked.

    The facts of a phenomenon are in two halves in turns; the answer is chosen on the half that a fact is not in. A fact
    without others has none.
    """
    facts = defaultdict[str, dict[str, list[int]]](lambda: defaultdict(list))
    for number in np.flatnonzero(own.rank).tolist():
        facts[items[number].phenomenon][items[number].fact or items[number].id].append(number)
    values = np.full(len(items), np.nan)
    for facts_of_phenomenon in facts.values():
        for judged, choosing in halves(list(facts_of_phenomenon.values())):
            counts = Counter(items[numbers[0]].good.scored for numbers in choosing)
            for number in (number for numbers in judged for number in numbers if counts):
                values[number] = items[number].good.scored == counts.most_common(1)[0][0]
    return values


def halves(facts: Sequence[Fact]) -> tuple[tuple[Sequence[Fact], Sequence[Fact]], ...]:
    """The facts in turns in two halves: what is judged, and what chooses for it."""
    return (facts[::2], facts[1::2]), (facts[1::2], facts[::2])
