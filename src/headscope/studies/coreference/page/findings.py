"""Findings of `coreference`: which heads find antecedents, and what gender does to them (Clark et al. 2019, 4.3)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import head_name
from headscope.report.parts import Finding
from headscope.report.wording import listed, several, strongest
from headscope.statistics.thresholds import LEAST_CASES, RATE
from headscope.studies.coreference.page.summary import WORDS, Kind, asks, bounded, kinds, percent, points

NAMED = 5
CAUTION = {
    "asks": "The corpus has no trees: the head word of a name is its last word.",
    "documents": "Tests take the mentions of a document as independent of each other, which they are not quite; "
    "intervals are over documents.",
    "f1": "A head always chooses one of the names, also where neither is right, which costs precision.",
    "attention_gap": "The sentences are made from few templates, which tests and intervals take as independent of each "
    "other. A gap says that a head tells the genders apart, not that the answers of the model do.",
}


def findings(result: xr.Dataset) -> list[Finding]:
    """What the heads know of coreference, with baselines, intervals and numbers of mentions of whatever is claimed."""
    found = kinds(result)
    known = [*_best(result, found), *_special(result), *_kinds(found)]
    return [*known, *_gender(result), *_stereotypes(result), *_caution(result)]


def _best(result: xr.Dataset, found: list[Kind]) -> Iterator[Finding]:
    what = "pronouns" if asks(result) else "mentions"
    for each in found[:1]:
        told = f"The best single head, {each.head}, points at an antecedent of {percent(each.accuracy)} of"
        where = f"{each.held_out:,} {what} in the half on which it was not chosen"
        beside = ", ".join(f"{WORDS[name]} {percent(value)}" for name, value in each.baselines.items())
        gain = f"over the {WORDS[each.reference]} it gains {points(each.gain)} points"
        yield Finding("The best head", f"{told} {where}; {gain}. Beside it: {beside}.")


def _special(result: xr.Dataset) -> Iterator[Finding]:
    special = result["special"]
    number = int(special.max("mention_type").notnull().sum())
    ranked = result["accuracy"].isel(mention_type=0).where(special.max("mention_type") == 1)
    heads = strongest(ranked) if bool(ranked.notnull().any()) else []
    beat = f"{several(len(heads), 'head')} of {number} beat nearest and head match by 10 points or more"
    sure = f"in at least {LEAST_CASES} mentions of some kind and with q < {RATE}"
    tests = f"Benjamini-Hochberg over {int(result['q_value'].notnull().sum()):,} heads and kinds"
    named = f": {', '.join(f'{one.head} ({one.value:.0%})' for one in heads[:NAMED])}" if heads else ""
    more = f" and {len(heads) - NAMED} more" if heads[NAMED:] else ""
    yield Finding("Special heads", f"{beat}, {sure} ({tests}){named}{more}.")


def _kinds(found: list[Kind]) -> Iterator[Finding]:
    if found[1:]:
        told = [
            f"{each.name}: {each.head} {percent(each.accuracy)}, {WORDS[each.reference]} "
            f"{percent(each.baselines[each.reference])}, rules {percent(each.baselines['rules'])}, "
            f"n = {each.held_out:,}"
            for each in found[1:]
        ]
        yield Finding("By kind of mention", "; ".join(told) + ".")


def _gender(result: xr.Dataset) -> Iterator[Finding]:
    if "chosen_f1" not in result:
        return
    told = [
        f"{gender} {bounded(result.sel(gender=gender), 'chosen_f1')[0]:.3f}"
        for gender in result["gender"].values.tolist()
    ]
    ratio, lower, upper = bounded(result, "chosen_bias_ratio")
    nearest = result.sel(baseline="nearest")
    base = f"nearest name: {float(nearest['baseline_f1'].sel(gender='overall')):.3f}"
    even = f" (of that {float(nearest['baseline_bias_ratio']):.2f})"
    yield Finding(
        "Gender",
        f"F1 of the chosen head on the other half: {', '.join(told)}; {base}. Feminine over masculine is "
        f"{ratio:.2f} [{lower:.2f}, {upper:.2f}]{even}. {_uneven(result)}",
    )


def _uneven(result: xr.Dataset) -> str:
    bounds = result["bias_ratio_ci"]
    feminine, masculine = ((bounds.sel(bound="lower") > 1).sum(), (bounds.sel(bound="upper") < 1).sum())
    number = int(result["bias_ratio"].notnull().sum())
    return (
        f"Of {number} heads {int(feminine)} are better on feminine and {int(masculine)} on masculine pronouns by more "
        "than the interval, not corrected for their number."
    )


def _stereotypes(result: xr.Dataset) -> Iterator[Finding]:
    for name, what in (
        ("attention_gap", "give the occupation more attention where the pronoun has the gender that is expected of it"),
        ("preference_gap", "prefer the occupation more often where the pronoun has that gender"),
    ):
        if name in result:
            sure = result[name].where(result[f"{name}_q"] < RATE)
            more, less = int((sure > 0).sum()), int((sure < 0).sum())
            number, pairs = int(result[name].notnull().sum()), int(result[f"{name.removesuffix('_gap')}_n_examples"])
            told = f"{more} of {number} heads {what}, {less} less (q < {RATE} each, n = {pairs:,} pairs)"
            topic = "Stereotypes in attention" if name == "attention_gap" else "Stereotypes in preference"
            yield Finding(topic, f"{told}.{_largest(result, name)}")
    if "chosen_preference_gap" in result:
        gap = points(bounded(result, "chosen_preference_gap"))
        place = {"layer": int(result["chosen_layer"][0]), "head": int(result["chosen_head"][0])}
        yield Finding(
            "Stereotypes in the best head",
            f"{head_name(**place)}, the head that finds most antecedents on one half, prefers the occupation in "
            f"pro sentences by {gap} points more than in anti sentences, on the other half.",
        )


def _largest(result: xr.Dataset, name: str) -> str:
    sure = with_interval(result, name).where(result[f"{name}_q"] < RATE)
    if not bool(sure.notnull().any()):
        return ""
    ranked = sorted(strongest(sure), key=lambda one: -abs(one.value))
    return f" Largest gaps: {listed(ranked[:NAMED])}."


def _caution(result: xr.Dataset) -> Iterator[Finding]:
    told = [CAUTION["asks" if asks(result) else "documents"]]
    told += [text for name, text in CAUTION.items() if name in result]
    yield Finding("Mind", " ".join(told))
