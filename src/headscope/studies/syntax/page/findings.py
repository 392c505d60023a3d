"""Findings of `syntax`: the heads that pick the syntactic head of a word (Clark et al. 2019, section 4.2)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.parts import Finding
from headscope.report.wording import agree, first_of, several
from headscope.statistics.thresholds import LEAST_CASES, RATE
from headscope.studies.syntax.page.summary import Relation, as_coded, judged_on, relations

NAMED = 8


def highlights(result: xr.Dataset) -> list[Finding]:
    """The best head of all words, the special heads, the clearest relation, and the relations without a head."""
    every = relations(result)
    return [*_best(every), *_special_heads(result), *_clearest(every), *_missing(result, every)]


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings, each with the baseline, the interval and the number of words."""
    every = relations(result)
    return [
        *_all_relations(result, every),
        *_special(result),
        *_relations(every),
        *_directions(every),
        *_caution(result, every),
    ]


def _best(every: list[Relation]) -> Iterator[Finding]:
    for each in every[:1]:
        if each.name == "all":
            yield Finding(
                f"Head {each.head} knows most of the syntax",
                f"It picks the syntactic head of {each.accuracy.value:.0%} of the words; always picking {each.place} "
                f"is right for {each.baseline.value:.0%}.",
            )


def _special_heads(result: xr.Dataset) -> Iterator[Finding]:
    special = _of_relations(result)
    count, total = int((special.max("relation") == 1).sum()), _heads(result)
    topic = f"{several(count, 'head')} of {total} {agree(count, 'knows', 'know')} a syntactic relation"
    text = "Such a head picks the right word clearly more often than the best fixed distance does."
    yield Finding(topic, f"{text}{_busiest(special)}")


def _clearest(every: list[Relation]) -> Iterator[Finding]:
    special = [each for each in _by_gain(every) if each.special]
    for each in special[:1]:
        yield Finding(
            f"Head {each.head} knows {each.words_of_name} best",
            f"It is right in {each.accuracy.value:.0%} of the cases; always picking {each.place} is right in "
            f"{each.baseline.value:.0%}.",
        )


def _missing(result: xr.Dataset, every: list[Relation]) -> Iterator[Finding]:
    special = _names(_of_relations(result).max(["layer", "head"]))
    if names := [each.name for each in _by_gain(every) if each.name not in special]:
        topic = f"{several(len(names), 'relation')} {agree(len(names), 'has', 'have')} no such head"
        yield Finding(topic, f"{first_of(names, NAMED, ', ')}.")


def _all_relations(result: xr.Dataset, every: list[Relation]) -> Iterator[Finding]:
    where = "the same sentences" if as_coded(result) else "held-out sentences"
    for each in every[:1]:
        if each.name == "all":
            yield Finding(
                "All relations",
                f"The best single head, {each.head} ({each.arrow}), picks the syntactic head of "
                f"{each.accuracy.percent} of {each.held_out:,} words. The best fixed offset ({each.offset:+d}) picks "
                f"{each.baseline.percent}: a gain of {each.gain.points} points, on {where}.",
            )


def _of_relations(result: xr.Dataset) -> xr.DataArray:
    """1 where a head is special for a relation in either direction; NaN for "all"."""
    return result["special"].max("direction").where(result["relation"] != "all")


def _heads(result: xr.Dataset) -> int:
    return int(result["special"].notnull().any(["relation", "direction"]).sum())


def _special(result: xr.Dataset) -> Iterator[Finding]:
    special = _of_relations(result)
    total = _heads(result)
    names = _names(special.max(["layer", "head"]))
    frequent = int((result["accuracy_n_examples"].where(result["relation"] != "all") >= LEAST_CASES).sum())
    count = int((special.max("relation") == 1).sum())
    heads = f"{several(count, 'head')} of {total} {agree(count, 'beats', 'beat')}"
    tests = f"Benjamini-Hochberg over {int(result['q_value'].notnull().sum()):,} heads, relations and directions"
    which = f": {', '.join(names)}." if names else "."
    yield Finding(
        "Special heads",
        f"{heads} the best fixed offset of some relation by at least 10 points {judged_on(result)}, in at least "
        f"{LEAST_CASES} words and with q < {RATE} ({tests}). Relations with a special head: "
        f"{len(names)} of {frequent} with at least {LEAST_CASES} words{which}"
        f"{_busiest(special)}",
    )


def _names(special: xr.DataArray) -> list[str]:
    return [str(name) for name in special["relation"].values[special.values == 1]]


def _busiest(special: xr.DataArray) -> str:
    """The head that is special for the most relations."""
    counts = special.sum("relation")
    if not int(counts.max()):
        return ""
    best = counts[counts.argmax(...)]
    place = {"layer": int(best["layer"]), "head": int(best["head"])}
    return f" Head {head_name(**place)} knows the most: {', '.join(_names(special.sel(place)))}."


def _by_gain(every: list[Relation]) -> list[Relation]:
    """The relations with enough words, the largest gain first; without "all"."""
    return sorted((each for each in every if each.enough and each.name != "all"), key=lambda each: -each.gain.value)


def _relations(every: list[Relation]) -> Iterator[Finding]:
    ranked = _by_gain(every)
    if special := [_sentence(each) for each in ranked if each.special]:
        yield Finding("Relations whose chosen head is special", f"{first_of(special, NAMED)}.")
    if without := [f"{each.name} ({each.gain.cell('+.0f', 100)[0]})" for each in ranked if not each.special]:
        yield Finding(
            "Relations whose chosen head is not special",
            "The chosen head does not beat the best fixed offset by 10 points, or the difference may be chance. Gain "
            f"in points: {', '.join(without)}.",
        )


def _sentence(each: Relation) -> str:
    scores = f"{each.accuracy.percent}, offset {each.offset:+d} has {each.baseline.percent}"
    return f"{each.name} in {each.head} ({each.arrow}): {scores}, n = {each.held_out:,} words"


def _directions(every: list[Relation]) -> Iterator[Finding]:
    looks = [each.looks for each in _by_gain(every) if each.special]
    if looks:
        yield Finding(
            "Direction",
            f"In {sum(looks)} of these relations the dependent looks at its head, in {len(looks) - sum(looks)} the "
            "head looks at its dependent.",
        )


def _caution(result: xr.Dataset, every: list[Relation]) -> Iterator[Finding]:
    few = [each.name for each in every if not each.enough]
    texts = [
        f"Relations with fewer than {LEAST_CASES} words have a separate table: {', '.join(few)}." if few else "",
        "Heads were chosen and scored on the same words, as in the released code: the scores are too high."
        if as_coded(result)
        else "",
        "The tests treat the words of a sentence as independent, which is not quite true.",
    ]
    yield Finding("Limits", " ".join(filter(None, texts)))
