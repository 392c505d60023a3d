"""Findings of `cloze`: where the model is right, where it is no better than chance, and what explains it."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.report.claims import above, apart
from headscope.report.parts import Finding
from headscope.report.wording import estimate, first_of, several
from headscope.studies.words.cloze.page.accuracies import Phenomenon, is_ranked, phenomena, suites
from headscope.studies.words.cloze.page.fact_findings import mean_of, of_facts

NAMED = 5
BY_CHANCE = "Of answers at random one interval in twenty lies beside chance, on either side."
SENTENCES = {
    "random weights": ("Random weights", "With random weights", "with those of the model", "they do"),
    "unigram": ("Words alone", "By the frequency of words alone", "by the model", "it does"),
    "shuffled": ("Word order", "With shuffled words", "with the words in order", "shuffled words do"),
    "truncated": ("Near words", "With the near words alone", "with the whole text", "near words do"),
}


def highlights(result: xr.Dataset) -> list[Finding]:
    """The accuracy of each suite, the best and the worst phenomenon, chance, and word order."""
    return [*_suites(result), *_ends(result), *_chance(result), *_changes(result, "control", ("shuffled",))][:5]


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings."""
    return [
        *_suites(result),
        *_ends(result),
        *_chance(result),
        *_changes(result, "baseline", ("random weights", "unigram")),
        *_changes(result, "control", ("shuffled", "truncated")),
        *_kept(result),
        *_beyond(result),
        *_polarity(result),
        *of_facts(result),
        *_limits(result),
    ]


def _suites(result: xr.Dataset) -> Iterator[Finding]:
    for suite, names in suites(result).items():
        score = estimate(result, "accuracy_by_suite", suite=suite)
        if np.isfinite(score.value):
            chance = float(result["chance"].sel(phenomenon=names).mean())
            count = int(result["accuracy_by_suite_n_examples"].sel(suite=suite))
            ranked = all(is_ranked(result, name) for name in names)
            start = "The answer comes first" if ranked else "The good text scores higher"
            named = suite.replace("_", " ").capitalize()
            yield Finding.judged(
                above(score, chance, count),
                f"{start} in {score.percent} of {count:,} items; chance is {_chance_of(chance)}.",
                holds=f"{named}: {score.value:.0%} right",
                fails=f"{named}: no better than chance",
                undecided=f"{named}: not told from chance",
                unit="items",
            )


def _ends(result: xr.Dataset) -> Iterator[Finding]:
    """The phenomena with the highest and the lowest accuracy."""
    ordered = sorted(phenomena(result), key=lambda phenomenon: phenomenon.accuracy.value)
    if len(ordered) > 1:
        yield Finding("By phenomenon", f"From {_words(ordered[0])} to {_words(ordered[-1])}.")


def _chance(result: xr.Dataset) -> Iterator[Finding]:
    """The phenomena whose intervals include chance, and those below it; none of the intervals is corrected."""
    of_phenomena = phenomena(result)
    chance, below = ([phenomenon.name for phenomenon in of_phenomena if phenomenon.side == side] for side in (0, -1))
    count = several(len(of_phenomena), "phenomenon").replace("phenomenons", "phenomena")
    unsure = f"{len(chance)} of {count} cannot be told from chance: {_listed(chance)}"
    yield Finding(
        "Chance",
        f"By their 95% intervals {unsure if chance else f'all {count} differ from chance'}. {BY_CHANCE}",
    )
    if below:
        text = f"By their 95% intervals the wrong text is preferred in {_listed(below)}: perhaps for other properties "
        yield Finding("Below chance", f"{text}of the texts. {BY_CHANCE}")


def _changes(result: xr.Dataset, dim: str, names: tuple[str, ...]) -> Iterator[Finding]:
    """The mean accuracy over phenomena of baselines or controls, beside that of the model."""
    if f"accuracy_{dim}" not in result:
        return
    for name in names:
        if name in result[dim].values:
            changed = with_interval(result, f"accuracy_{dim}").sel({dim: name})
            known = changed.notnull().drop_vars(("lower", "upper"), errors="ignore")
            own, other = mean_of(with_interval(result, "accuracy").where(known)), mean_of(changed)
            topic, with_it, without, does = SENTENCES[name]
            yield Finding.judged(
                apart(own, other, int(result["accuracy_n_examples"].where(known).sum())),
                f"{with_it} {other.value:.1%} of items are right, {without} {own.value:.1%} (means over phenomena).",
                holds=f"{topic}: the model is better",
                fails=f"{topic}: {does} as well",
                undecided=f"{topic}: no sure difference",
                unit="items",
            )


def _polarity(result: xr.Dataset) -> Iterator[Finding]:
    """Negative polarity items apart: whether a licensor is there, and whether the item is in scope of it."""
    if "accuracy_by_condition" not in result:
        return
    known = result["accuracy_by_condition"].dropna("condition")
    for words, end in (("A licensor is there", "_present"), ("The item is in its scope", "_scope")):
        # The last word of a paradigm may be followed by its number.
        labels = [
            condition
            for condition in known["condition"].values.tolist()
            if "npi" in condition and condition.rstrip("_12").endswith(end)
        ]
        if labels:
            named = ", ".join(
                f"{condition.partition(': ')[2].replace('_', ' ')} {float(known.sel(condition=condition)):.0%}"
                for condition in labels
            )
            mean = float(known.sel(condition=labels).mean())
            yield Finding("Negative polarity items", f"{words}: {mean:.1%} right on average ({named}).")


def _kept(result: xr.Dataset) -> Iterator[Finding]:
    """The share of predictions that stay, beside the accuracy that may hide that they do not."""
    if "prediction_kept" in result:
        means = result["prediction_kept"].mean("phenomenon")
        words = {"shuffled": "with shuffled words", "truncated": "with the near words alone"}
        shares = [
            f"{float(mean):.1%} {words.get(str(name), str(name))}"
            for name, mean in zip(means["control"].values, means, strict=True)
            if np.isfinite(mean)
        ]
        if shares:
            yield Finding("Predictions that stay", f"The preferred text is the same in {', '.join(shares)}.")


def _beyond(result: xr.Dataset) -> Iterator[Finding]:
    """Answers in gaps that are more probable by more than the threshold of Ettinger's sensitivity test."""
    if "accuracy_beyond" in result:
        share = result["accuracy_beyond"]
        known = np.isfinite(share)
        if known.any():
            plain, sure = float(result["accuracy"].where(known).mean()), float(share.mean())
            yield Finding(
                "Sensitivity",
                f"The right answer is more probable in {plain:.1%}, by more than 0.01 in {sure:.1%} (means over "
                "phenomena with gaps).",
            )


def _limits(result: xr.Dataset) -> Iterator[Finding]:
    left = {**json.loads(result.attrs["skipped"]), **json.loads(result.attrs["counted"])}
    counts = (
        f" Left out or counted: {', '.join(f'{count:,} {reason}' for reason, count in left.items())}." if left else ""
    )
    yield Finding(
        "Limits",
        "Chance means that an interval over items, or one that resamples lemmas whole, includes chance. A preference "
        f"for the good text does not say why: compare it with the controls.{counts}",
    )


def _chance_of(share: float) -> str:
    return f"{share:.0%}" if share > 0.005 else "nearly 0"


def _words(phenomenon: Phenomenon) -> str:
    return f"{phenomenon.name.replace('_', ' ')} ({phenomenon.accuracy.percent}, n = {phenomenon.count:,})"


def _listed(names: list[str]) -> str:
    return first_of([name.replace("_", " ") for name in names], NAMED, ", ")
