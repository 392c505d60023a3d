"""Other examples: shortcuts of a model of inference, and predictions that stay when examples are changed.

Pairs that only their words make entailed show shortcuts, and the heads that a model uses for them.
"""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures.dot_rows import dot_rows
from headscope.report.claims import above, apart, paired, together, witness
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.wording import Estimate, Reading, estimate, measured, of_array, several, strongest
from headscope.results import in_series
from headscope.statistics.significance import RATE

OTHER = "other words: not entailed"
NOT, CASES = ": not entailed", "Cases of the shortcuts"
CAPTION = (
    "Share of pairs that are right, with 95% intervals. A model that follows a shortcut is right where pairs are "
    "entailed, and wrong where they are not. After McCoy et al. (2019), with sentences of our own."
)
MOST_HEADS = 4
SECTION = "Predictions that stay"
SERIES = {"prediction_kept": "predictions that stay", "kept_by_chance": "by chance", "perturbed_score": "accuracy"}
STAYING = (
    "Share of predictions that stay when examples are changed, with 95% intervals over examples; the line is the "
    "share that would stay if the predictions were in random order. The accuracy on the changed examples may stay "
    "where predictions do not."
)


def is_of_shortcuts(result: xr.Dataset) -> bool:
    """Whether the result has the cases of the shortcuts."""
    return "case_score" in result


def shortcuts(numbers: Numbers) -> Iterator[Finding]:
    """Whether each heuristic is taken for entailment, and the heads without which it is less."""
    numbers.array("case_score")
    result = numbers.result
    names = map(str, result["phenomenon"].values)
    heuristics = [name.removesuffix(NOT) for name in names if name.endswith(NOT) and name != OTHER]
    findings = {heuristic: _taken(result, heuristic) for heuristic in heuristics}
    yield from findings.values()
    # without a head a model that follows no shortcut may say no more often, too
    if taken := [heuristic for heuristic, finding in findings.items() if finding.verdict == "holds"]:
        yield _carriers(result, taken)


def cases(numbers: Numbers) -> Figure:
    """The cases, one row each."""
    array = numbers.array("case_score").drop_vars("n_examples", errors="ignore")
    array = array.expand_dims(series=["model"], axis=1).assign_attrs(numbers.result["case_score"].attrs)
    return Figure("cases", CASES, dot_rows(array), CAPTION, "case_score")


def _taken(result: xr.Dataset, heuristic: str) -> Finding:
    """How often the model says yes to pairs of a heuristic that are not entailed, beside pairs with other words."""
    wrong, other = (_yes(result, name) for name in (f"{heuristic}{NOT}", OTHER))
    right = estimate(result, "phenomenon_baseline", phenomenon=f"{heuristic}: entailed")
    n = int(result["phenomenon_baseline_n_examples"].sel(phenomenon=f"{heuristic}{NOT}"))
    name = heuristic.capitalize()
    return Finding.judged(
        apart(wrong, other, n),
        f"The model says yes to {wrong.percent} of such pairs that are not entailed, to {other.percent} of pairs with "
        f"other words, and to {right.percent} of those that are entailed.",
        holds=f"{name} is taken for entailment",
        fails=f"{name} is not taken for entailment",
        undecided=f"{name}: it cannot be told whether it is taken for entailment",
        unit="pairs",
    )


def _yes(result: xr.Dataset, phenomenon: str) -> Estimate:
    """The share of pairs that are not entailed to which the model says yes."""
    right = estimate(result, "phenomenon_baseline", phenomenon=phenomenon)
    return Estimate(1 - right.value, 1 - right.upper, 1 - right.lower)


def _carriers(result: xr.Dataset, heuristics: list[str]) -> Finding:
    """The heads without which more of the pairs that are not entailed are right, and what the entailed pairs lose.

    * `heuristics`: those that the model takes for entailment.
    """
    gains, q = result["phenomenon_gain"], result["phenomenon_q_value"]
    texts, best, count = [], None, 0
    for heuristic in heuristics:
        where = {"phenomenon": f"{heuristic}{NOT}"}
        own = measured(result, "phenomenon_gain", **where)
        assert own is not None, "a heuristic without gains"
        rate = q.sel(where, drop=True)
        found = [one for one in strongest(own.where((own > 0) & (rate < RATE))) if one.value == one.value]
        count += len(found)
        texts += [_worded(gains, heuristic, one) for one in found[:MOST_HEADS]]
        flat = own.drop_vars("phenomenon", errors="ignore").stack(place=own.dims).dropna("place")
        top = flat[int(flat.argmax("place"))]
        level = float(rate.stack(place=own.dims).sel(place=top["place"]))
        if best is None or (level, -float(top)) < (best[1], -float(best[0])):
            best = (top, level)
    assert best is not None, "a suite without heuristics"
    n = int(result["phenomenon_gain_n_examples"].min())
    none = "No single head is shown to carry a shortcut"
    listed = "; ".join(texts)
    return Finding.judged(
        above(of_array(best[0]), 0.0, n, best[1]),
        f"Without a head, more of the pairs that are not entailed are right: {listed}."
        if texts
        else "Disabling a single head is not shown to make more of the pairs that are not entailed right.",
        holds=f"In {several(count, 'case')} fewer pairs follow a shortcut without a head",
        fails=none,
        undecided=none,
        unit="pairs",
    )


def _worded(gains: xr.DataArray, heuristic: str, head: Reading) -> str:
    layer, number = map(int, head.head.split("-"))
    entailed = float(gains.sel(phenomenon=f"{heuristic}: entailed", layer=layer, head=number))
    lost = f"{100 * entailed:+.1f} points of the entailed" if np.isfinite(entailed) else "entailed pairs unknown"
    return f"{heuristic}, head {head.head} ({head.estimate.points} points; {lost})"


def triggers(numbers: Numbers) -> Finding:
    """The words that flip most answers of a class beyond random words, on the half that was not searched."""
    claims, texts = [], []
    for name in numbers.labels("trigger_lead", "flipped_class"):
        where = {"flipped_class": name}
        flip, random, lead = (numbers(number, **where) for number in ("trigger_flip", "random_flip", "trigger_lead"))
        claims.append(paired(flip, random, lead, numbers.n("trigger_lead", **where)))
        words = str(numbers.array("trigger_flip").sel(where)["trigger"].item())
        texts.append(f"“{words}” flips {flip:%} of the right answers “{name}”, random words {random:%}.")
    claims = together(claims)
    order = sorted(range(len(claims)), key=lambda index: -claims[index].difference.value)
    return Finding.judged(
        claims[witness(claims)],
        f"Before a text, {' '.join(texts[index] for index in order[:MOST_HEADS])}",
        holds="A few words before texts flip the answers of a class",
        fails="No words flip more answers than random words do",
        undecided="No words are shown to flip more answers than random words do",
        unit="examples",
    )


def kept_chart(numbers: Numbers) -> Figure:
    """A row for each change."""
    kept, *others = SERIES
    series = {SERIES[kept]: numbers.array(kept)} | {SERIES[name]: numbers.result[name] for name in others}
    array = in_series(series).rename("share").assign_attrs(numbers.result[kept].attrs, long_name=SECTION)
    return Figure("perturbed", SECTION, dot_rows(array), STAYING, kept)
