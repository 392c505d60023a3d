"""Targets, distance and breadth of attention (Clark et al. 2019, section 3; Kovaleva et al. 2019, 4.4)."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from headscope.figures.labels import label
from headscope.report.cards.head_numbers import Row, cases, of_labels, of_variable, ordinal, ranked, value
from headscope.report.declared import StudyCard
from headscope.report.kinds import SHARE, at_least, where_true
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding, HeadKind
from headscope.report.wording import measured, number, rate
from headscope.results.vocabulary import FEATURES
from headscope.statistics.significance import LEAST_CASES
from headscope.studies.heads.profile.findings import least_gain, q_of_gain, special
from headscope.studies.heads.profile.pair_parts import matrices

FIRST = 5
FREQUENCY = {
    "frequency": ("Frequency", "the frequency of its piece"),
    "predicted": ("Predicted frequency", "how often the model predicts its piece"),
}
COLUMNS = (
    "attention_to.cls",
    "attention_to.sep",
    "attention_to.punct",
    "attention_offset.-1",
    "attention_offset.0",
    "attention_offset.1",
    "entropy",
    "cls_entropy",
    "segment_end",
    "same_word.copies",
    "frequency_correlation",
    "predicted_correlation",
)


def rates(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """False discovery rates at which heads look at copies more than either baseline says, corrected for all heads."""
    measured_pairs = measured(result, "same_word_gain") is not None
    return {"same_word_gain": q_of_gain(least_gain(Numbers(result)))} if measured_pairs else {}


def same_word_kind(numbers: Numbers) -> list[HeadKind]:
    """Heads that look at the same word in the other segment."""
    return where_true(special(least_gain(numbers)), "same_word", "same word")


def end_kind(numbers: Numbers) -> list[HeadKind]:
    """Heads that look at the last token of a segment."""
    return at_least(numbers.array("segment_end"), SHARE, "end", "end")


def rare_kind(numbers: Numbers) -> list[HeadKind]:
    """Heads that look at tokens of rare pieces."""
    return where_true(numbers.array("frequency_correlation") <= -SHARE, "rare", "rare words")


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """Classes of tokens, neighbours, breadth, and the features and links in which the head has a high rank."""
    if goes := of_variable(numbers, "attention_to"):
        shares = ", ".join(f"{row.words} {value(row)}{_uniform(row)}" for row in goes)
        yield Finding("Attends to", f"{shares}; {cases(goes[0])}.")
    yield from _sink(numbers)
    if (row := of_labels(numbers, "segment_end")) is not None:
        yield Finding("End of a segment", f"Its last token {value(row)} ({ranked(row)}); {cases(row)}.")
    if near := of_variable(numbers, "attention_offset"):
        texts = "; ".join(f"{row.words} {value(row)} ({ranked(row)})" for row in near)
        yield Finding("Neighbours", f"{texts}; {cases(near[0])}.")
    if (row := of_labels(numbers, "entropy")) is not None:
        uniform = "" if pd.isna(row.baseline) else f", uniform attention {number(row.baseline)}"
        yield Finding("Breadth", f"Entropy {value(row)} nats ({ranked(row)}{uniform}); {cases(row)}.")
    yield from _frequency(numbers)
    yield from _same_word(numbers)
    yield from _segments(numbers)
    yield from _features(numbers)


def _uniform(row: Row) -> str:
    return "" if pd.isna(row.baseline) else f" (uniform attention {number(row.baseline)})"


def _sink(numbers: list[Row]) -> Iterator[Finding]:
    rows = [row for row in of_variable(numbers, "sink_by_part_of_speech") if row.n >= LEAST_CASES]
    if len(rows) > 1:
        first, *_, last = sorted(rows, key=lambda row: -row.value)
        yield Finding(
            "Special tokens",
            f"Most from {first.words} {value(first)}, least from {last.words} {value(last)}; {cases(first)} and "
            f"{cases(last)}.",
        )


def _frequency(numbers: list[Row]) -> Iterator[Finding]:
    for of, (topic, words) in FREQUENCY.items():
        row, classes = of_labels(numbers, f"{of}_correlation"), of_variable(numbers, f"{of}_attention")
        if row is not None and classes:
            shares = ", ".join(f"{share.words} {value(share)}" for share in classes)
            yield Finding(
                topic,
                f"A token gets, as a multiple of uniform attention, by {words}: {shares}; rank correlation "
                f"{value(row)} ({ranked(row)}); {cases(row)}.",
            )


def _same_word(numbers: list[Row]) -> Iterator[Finding]:
    shares = {row.labels[0]: row for row in of_variable(numbers, "same_word")}
    if row := shares.get("copies"):
        gains = of_variable(numbers, "same_word_gain")
        least = min(gains, key=lambda gain: gain.value)
        yield Finding(
            "Same word",
            f"A word gives its copy in the other segment {value(row)} ({ranked(row)}); words at that distance give "
            f"{value(shares['as_far_apart'])}, other words give the copy {value(shares['from_others'])}; the smaller "
            f"gain is {value(least)}, q = {rate(least.q)}; {cases(row)}.",
        )


def _segments(numbers: list[Row]) -> Iterator[Finding]:
    shares = {row.labels[0]: row for row in of_variable(numbers, "segment_attention")}
    if {"same", "different"} <= set(shares):
        same, different = shares["same"], shares["different"]
        yield Finding(
            "Across segments",
            f"A word gives the words of its own segment {value(same)}, those of the other one {value(different)} "
            f"({ranked(different)}); {cases(different)}.",
        )


def _features(numbers: list[Row]) -> Iterator[Finding]:
    words = {label("feature", name) for name in FEATURES[:6]}
    rows = [row for row in of_variable(numbers, "feature_attention") if row.words in words] + of_variable(
        numbers, "token_attention"
    )
    if not rows:
        return
    first = sorted((row for row in rows if row.rank <= FIRST), key=lambda row: row.rank)
    if first:
        texts = "; ".join(f"{row.words} {value(row)} ({ranked(row)}), {cases(row)}" for row in first)
        least, most = ordinal(1), ordinal(FIRST)
        yield Finding("Words", f"Among the {least} to {most} heads of {rows[0].heads} in: {texts}.{_chance(rows)}")
    else:
        best = min(rows, key=lambda row: row.rank)
        text = (
            f"Among the first {FIRST} heads in none of {len(rows)} features and links. Its highest rank: {best.words}"
        )
        yield Finding("Words", f"{text} {value(best)} ({ranked(best)}), {cases(best)}.")


def _chance(rows: list[Row]) -> str:
    expected = sum(FIRST / row.heads for row in rows)
    return f" Of {len(rows)} features and links, a head has such a rank in {number(expected)} on average."


KINDS = (same_word_kind, end_kind, rare_kind)
# The values of uniform attention.
UNIFORM = {"attention_to": "token_share", "entropy": "uniform_entropy", "cls_entropy": "uniform_entropy"}
HIDDEN = ("piece_pair_attention", "piece_pair_multiple")
CARD = StudyCard(HIDDEN, COLUMNS, baselines=UNIFORM, rates=rates, sentences=sentences, figures=matrices)
