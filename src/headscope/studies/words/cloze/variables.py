"""Accuracies of phenomena, conditions and suites, beside baselines and controls, as labelled variables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int

from headscope.corpora.suites import ClozeItem
from headscope.passes import Settings
from headscope.results.variables import Count, Label, Variables
from headscope.results.vocabulary import PIECES
from headscope.statistics.bootstrap import CHUNK, Tally, merge, poisson_draws, tally, tally_by_input
from headscope.statistics.intervals import of_differences
from headscope.studies.words.cloze.item_scores import ItemScores

SOURCE = "Salazar et al. 2020; Kauf and Ivanova 2023"
SHARE = "share of items"
# The difference of two probabilities above which one word is surely preferred (Ettinger's sensitivity test).
BEYOND = 0.01
RIGHT = "items whose good text has the higher score"
LABELS = {
    "accuracy": Label(RIGHT, SHARE, ("phenomenon",)),
    "accuracy_by_lemma": Label(f"{RIGHT}, lemmas resampled whole", SHARE, ("phenomenon",)),
    "margin": Label("score of the good text less that of the best other", "nats", ("phenomenon",)),
    "chance": Label("accuracy of a choice at random", SHARE, ("phenomenon",)),
    "accuracy_baseline": Label(f"{RIGHT}, of baselines", SHARE, ("phenomenon", "baseline")),
    "accuracy_control": Label(f"{RIGHT}, of changed texts", SHARE, ("phenomenon", "control")),
    "prediction_kept": Label("items whose best text or answer stays the same", SHARE, ("phenomenon", "control")),
    "accuracy_beyond": Label(
        f"items whose good answer is more probable by more than {BEYOND}", SHARE, ("phenomenon",), "Ettinger 2020"
    ),
    "accuracy_by_pieces": Label(f"{RIGHT}, by pieces of the answer", SHARE, ("suite", "pieces"), "Wallace et al. 2019"),
    "accuracy_by_condition": Label(f"{RIGHT}, by condition", SHARE, ("condition",)),
    "accuracy_by_suite": Label(f"{RIGHT}, by suite", SHARE, ("suite",)),
}
# The first answers among which precision is read, beside the first alone.
NEAR = 10


@dataclass(frozen=True)
class Estimates:
    """Means of several statistics over the items of several groups, with their intervals and numbers of items."""

    mean: Float[np.ndarray, "group statistic"]
    interval: Float[np.ndarray, "group statistic 2"]
    count: Int[np.ndarray, "group statistic"]


def to_variables(
    items: Sequence[ClozeItem],
    suites: Sequence[str],
    own: ItemScores,
    baselines: Mapping[str, ItemScores],
    controls: Mapping[str, ItemScores],
    settings: Settings,
    *,
    vocabulary: int,
) -> dict[str, xr.DataArray]:
    """The variables of a result; `suites` is the suite of each item, `vocabulary` the number of pieces."""
    phenomena, group = grouped([item.phenomenon for item in items])
    names, suite = grouped(suites)
    conditions, condition = grouped(
        [f"{item.phenomenon}: {item.condition}" if item.condition else "" for item in items]
    )
    coords = {
        "phenomenon": phenomena,
        "condition": [name for name in conditions if name],
        "suite": names,
        "baseline": list(baselines),
        "control": list(controls),
        "pieces": PIECES,
    }
    variables = Variables(coords, SOURCE, LABELS)
    scored = ~np.isnan(own.correct)
    columns = {
        "own": own.correct,
        "margin": own.good - own.bad,
        "chance": np.array([1 / (len(item.candidates) if item.bad else vocabulary) for item in items]),
    }
    columns |= {name: scores.correct for name, scores in [*baselines.items(), *controls.items()]}
    values = np.stack([np.where(scored, column, np.nan) for column in columns.values()], axis=1)
    shares = np.array([name not in ("margin", "chance") for name in columns])
    estimates = by_group(values, group, len(phenomena), settings, shares)
    _add(variables, "accuracy", estimates, 0)
    _add_by_lemma(variables, own.correct, [item.lemma for item in items], group, settings)
    _add(variables, "margin", estimates, 1)
    variables.add("chance", estimates.mean[:, 2])
    for dim, scores, first in (("baseline", baselines, 3), ("control", controls, 3 + len(baselines))):
        if scores:
            _add(variables, f"accuracy_{dim}", estimates, slice(first, first + len(scores)))
    if coords["condition"]:
        here = np.array([bool(name) for name in conditions])
        fine = by_group(values[:, :1], condition, len(conditions), settings)
        fine = Estimates(fine.mean[here], fine.interval[here], fine.count[here])
        _add(variables, "accuracy_by_condition", fine, 0)
    overall = by_group(values, suite, len(names), settings, shares)
    _add(variables, "accuracy_by_suite", overall, 0)
    if controls:
        kept = np.stack([_same_choice(own, scores) for scores in controls.values()], axis=1)
        _add(variables, "prediction_kept", by_group(kept, group, len(phenomena), settings), slice(None))
    beyond = _beyond(items, own)
    if np.isfinite(beyond).any():
        _add(variables, "accuracy_beyond", by_group(beyond[:, None], group, len(phenomena), settings), 0)
    if own.pieces.any():
        of_size = [
            np.where(np.minimum(own.pieces, len(PIECES)) == size, own.correct, np.nan)
            for size in range(1, len(PIECES) + 1)
        ]
        by_size = by_group(np.stack(of_size, axis=1), suite, len(names), settings)
        _add(variables, "accuracy_by_pieces", by_size, slice(None))
    return variables.arrays


def _same_choice(own: ItemScores, changed: ItemScores) -> Float[np.ndarray, " item"]:
    """1 where the best text, or the best answer of the phenomenon, is the same in both, else 0."""
    known = (own.choice >= 0) & (changed.choice >= 0)
    return np.where(known, own.choice == changed.choice, np.nan)


def _beyond(items: Sequence[ClozeItem], own: ItemScores) -> Float[np.ndarray, " item"]:
    """1 where an answer in a gap beats the wrong ones by more than the threshold; NaN for all other items."""
    known = np.array([bool(item.bad and item.good.is_answer) for item in items]) & ~np.isnan(own.correct)
    return np.where(known, np.exp(own.good) - np.exp(own.bad) > BEYOND, np.nan)


def by_group(
    values: Float[np.ndarray, "item statistic"],
    group: Int[np.ndarray, " item"],
    groups: int,
    settings: Settings,
    shares: Bool[np.ndarray, " statistic"] | bool = True,
) -> Estimates:
    """Means over the items of each group that have a value, with bootstrap intervals over items.

    The number of an item alone decides how often a resample has it: all statistics are resampled together.

    * `shares`: which statistics are answers that are right or wrong; see `of_shares`.
    """
    made = []
    for number in range(groups):
        index = np.flatnonzero(group == number)
        chunks = [index[start : start + CHUNK] for start in range(0, max(1, len(index)), CHUNK)]
        of_group = merge(_tally(values[chunk], chunk, settings) for chunk in chunks)
        bounds = np.where(np.reshape(shares, (-1, 1)), of_group.share_interval[0], of_group.interval[0])
        made.append((of_group.mean[0], bounds, of_group.count))
    return Estimates(*map(np.stack, zip(*made, strict=True)))


def differences_by_group(
    values: Float[np.ndarray, "item statistic"], group: Int[np.ndarray, " item"], groups: int, settings: Settings
) -> Estimates:
    """Estimates by group of differences between shares of right answers; see `by_group` and `of_differences`."""
    estimates = by_group(values, group, groups, settings, shares=False)
    return replace(estimates, interval=of_differences(estimates.interval, estimates.count))


def _tally(values: Float[np.ndarray, "item statistic"], index: Int[np.ndarray, " item"], settings: Settings) -> Tally:
    draws = poisson_draws(index, settings.seed, settings.resamples)
    # [item, 1, statistic], [item, statistic]
    return tally(np.nan_to_num(values)[:, None], ~np.isnan(values), draws)


def grouped(labels: Sequence[str]) -> tuple[list[str], Int[np.ndarray, " item"]]:
    """The labels in the order in which they come first, and the number of each item's label."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return list(numbers), np.array([numbers[label] for label in labels], int)


def _add_by_lemma(
    variables: Variables,
    correct: Float[np.ndarray, " item"],
    lemmas: Sequence[str],
    group: Int[np.ndarray, " item"],
    settings: Settings,
) -> None:
    """Add the accuracy with intervals that resample all items of a lemma together."""
    _, lemma = grouped(lemmas)
    scored, made = ~np.isnan(correct), []
    for number in range(group.max() + 1):
        index = np.flatnonzero((group == number) & scored)
        index = index[np.argsort(lemma[index], kind="stable")]
        present, indices = np.unique(lemma[index], return_inverse=True)
        if not len(index):
            made.append((np.nan, [np.nan, np.nan], 0))
            continue
        draws = poisson_draws(present, settings.seed, settings.resamples)
        clustered = tally_by_input(correct[index][:, None], indices, draws)
        made.append((clustered.mean[0], clustered.share_interval[0], len(present)))
    mean, interval, count = zip(*made, strict=True)
    lemma_count = Count(count, "lemmas of each phenomenon", "lemmas", ("phenomenon",))
    variables.add("accuracy_by_lemma", mean, interval=np.array(interval), count=lemma_count)


def _add(variables: Variables, name: str, estimates: Estimates, column: int | slice) -> None:
    label = LABELS[name]
    count = Count(estimates.count[:, column], f"items of {label.long_name}", "items", label.dims)
    variables.add(name, estimates.mean[:, column], interval=estimates.interval[:, column], count=count)
