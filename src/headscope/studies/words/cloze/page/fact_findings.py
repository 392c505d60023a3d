"""Findings of facts: precision, names, wordings, and the answers of the relation against the most frequent one."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.report.claims import POINT, above
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, estimate
from headscope.studies.words.cloze.page.accuracies import suites


def of_facts(result: xr.Dataset) -> Iterator[Finding]:
    """Precision, the answers of the relation, filled answers and the best wording."""
    yield from _facts(result)
    yield from _answers(result)
    yield from _filled(result)
    yield from _best_wording(result)


def mean_of(array: xr.DataArray) -> Estimate:
    """The mean over phenomena, whose errors are independent of each other."""
    value = float(array.mean())
    if "lower" not in array.coords:
        return Estimate(value)
    halves = ((array["upper"] - array["lower"]) / 2).where(array.notnull())
    half = float((halves**2).sum()) ** 0.5 / max(int(halves.notnull().sum()), 1)
    return Estimate(value, value - half, value + half)


def _facts(result: xr.Dataset) -> Iterator[Finding]:
    """Facts: precision at 1 and 10, without telling names, and over wordings; means over relations."""
    if "precision_at_10" not in result:
        return
    ranked = np.isfinite(result["precision_at_10"])
    first, near = (float(result[name].where(ranked).mean()) for name in ("accuracy", "precision_at_10"))
    yield Finding(
        "Facts", f"The answer comes first in {first:.1%}, among the first ten in {near:.1%} (means over relations)."
    )
    if "accuracy_by_name_filter" in result:
        means = result["accuracy_by_name_filter"].mean("phenomenon")
        overall, matched, guessed = float(result["accuracy"].where(ranked).mean()), *map(float, means.values)
        text = f"Without answers that are a part of the subject's name {matched:.1%} are right, without those that the "
        text += f"name alone suggests {guessed:.1%}; of all facts {overall:.1%}."
        yield Finding("Facts from names", text)
    if "consistency" in result:
        same, in_all = float(result["consistency"].mean()), float(result["right_in_all"].mean())
        yield Finding(
            "Wordings",
            f"Two wordings of a fact get the same answer in {same:.1%}; {in_all:.1%} of facts are right in all.",
        )


def _answers(result: xr.Dataset) -> Iterator[Finding]:
    """Facts among the answers of their relation, against always the most frequent one."""
    if "among_gain" not in result:
        return
    for suite in suites(result):
        gain = estimate(result, "among_gain", suite=suite)
        if np.isfinite(gain.value):
            names = suites(result)[suite]
            first, frequent = (
                float(result[name].sel(phenomenon=names).mean())
                for name in ("accuracy_among_answers", "accuracy_of_most_frequent")
            )
            yield Finding.judged(
                above(gain, 0.0, int(result["among_gain_n_examples"].sel(suite=suite)), least=POINT),
                f"Of all answers of the relation the right one comes first in {first:.1%}; the most frequent answer is "
                f"right in {frequent:.1%} (means over relations of {suite}).",
                holds="Among the answers: better than the most frequent one",
                fails="Among the answers: no better than the most frequent one",
                undecided="Among the answers: no sure difference from the most frequent one",
                unit="facts",
            )


def _filled(result: xr.Dataset) -> Iterator[Finding]:
    """Answers of one piece or several, which the model writes from the left."""
    if "accuracy_of_fill" in result and np.isfinite(result["accuracy_of_fill"]).any():
        share = float(result["accuracy_of_fill"].mean())
        yield Finding(
            "Answers filled from the left",
            f"{share:.1%} of answers, also of several pieces, are written piece by piece (mean over phenomena). The "
            "model is told how many pieces they have, so that this is more than it would find by itself.",
        )


def _best_wording(result: xr.Dataset) -> Iterator[Finding]:
    """The wording that is best for half of the facts, on the other half, against the mean over wordings."""
    if "best_wording_gain" not in result:
        return
    gain = mean_of(with_interval(result, "best_wording_gain"))
    if np.isfinite(gain.value):
        best = float(result["accuracy_of_best_wording"].mean())
        yield Finding.judged(
            above(gain, 0.0, int(result["best_wording_gain_n_examples"].sum()), least=POINT),
            f"In the wording that is best for the other half of the facts {best:.1%} are right, in all wordings "
            f"{best - gain.value:.1%} on average.",
            holds="Wording matters: the best one is better",
            fails="Wording: the best one is no better than the average",
            undecided="Wording: no sure difference",
            unit="facts",
        )
