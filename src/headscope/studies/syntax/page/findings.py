"""Findings of `syntax`: the heads that pick the syntactic head of a word (Clark et al. 2019, section 4.2)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.best_heads.chosen import HEAD, ChosenHead, by_gain, special_heads, tests_made
from headscope.report.best_heads.parts import NAMED, beside_thresholds
from headscope.report.parts import Finding
from headscope.report.wording import agree, first_of, several
from headscope.statistics.thresholds import LEAST_CASES, RATE
from headscope.studies.syntax.page.summary import (
    as_coded,
    baseline,
    fixed_word,
    full_name,
    judged_on,
    relations,
)


def highlights(result: xr.Dataset) -> list[Finding]:
    """The best head of all words, the special heads, the clearest relation, and the relations without a head."""
    heads = relations(result)
    return [*_best(heads), *_special_heads(result), *_clearest(heads), *_missing(result, heads)]


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings, each with the baseline, the interval and the number of words."""
    heads = relations(result)
    rule = (
        "The chosen head does not beat the best fixed word by 10 points, or the difference may be chance. Gain in "
        "points"
    )
    return [
        *_all_relations(result, heads),
        *_special(result),
        *beside_thresholds(heads, _sentence, lambda head: head.gain.cell("+.0f", 100)[0], rule),
        *_directions(heads),
        *_caution(result, heads),
    ]


def _overall(heads: list[ChosenHead]) -> list[ChosenHead]:
    """The best head of all words, if there is one."""
    return [head for head in heads[:1] if head.name == "all"]


def _best(heads: list[ChosenHead]) -> Iterator[Finding]:
    for overall in _overall(heads):
        yield Finding(
            f"Head {overall.head} knows most of the syntax",
            f"It picks the syntactic head of {overall.score.value:.0%} of the words; always picking "
            f"{fixed_word(overall)} is right for {baseline(overall).value:.0%}.",
        )


def _special_heads(result: xr.Dataset) -> Iterator[Finding]:
    count, total, _ = special_heads(result, "relation", without="all")
    topic = f"{several(count, 'head')} of {total} {agree(count, 'knows', 'know')} a syntactic relation"
    text = "Such a head picks the right word clearly more often than a fixed distance or position does."
    yield Finding(topic, f"{text}{_busiest(result)}")


def _clearest(heads: list[ChosenHead]) -> Iterator[Finding]:
    for relation in [head for head in by_gain(heads) if head.special][:1]:
        yield Finding(
            f"Head {relation.head} knows {full_name(relation)} best",
            f"It is right in {relation.score.value:.0%} of the cases; always picking {fixed_word(relation)} is "
            f"right in {baseline(relation).value:.0%}.",
        )


def _missing(result: xr.Dataset, heads: list[ChosenHead]) -> Iterator[Finding]:
    *_, special = special_heads(result, "relation", without="all")
    if names := [head.name for head in by_gain(heads) if head.name not in special]:
        topic = f"{several(len(names), 'relation')} {agree(len(names), 'has', 'have')} no such head"
        yield Finding(topic, f"{first_of(names, NAMED, ', ')}.")


def _all_relations(result: xr.Dataset, heads: list[ChosenHead]) -> Iterator[Finding]:
    where = "the same sentences" if as_coded(result) else "held-out sentences"
    for overall in _overall(heads):
        yield Finding(
            "All relations",
            f"The best single head, {overall.head} ({overall.arrow}), picks the syntactic head of "
            f"{overall.score.percent} of {overall.held_out:,} words. The best fixed word ({overall.reference}) "
            f"picks {baseline(overall).percent}: a gain of {overall.gain.points} points, on {where}.",
        )


def _special(result: xr.Dataset) -> Iterator[Finding]:
    count, total, names = special_heads(result, "relation", without="all")
    frequent = int((result["accuracy_n_examples"].where(result["relation"] != "all") >= LEAST_CASES).sum())
    heads = f"{several(count, 'head')} of {total} {agree(count, 'beats', 'beat')}"
    tests = f"Benjamini-Hochberg over {tests_made(result)} heads, relations and directions"
    which = f": {', '.join(names)}." if names else "."
    yield Finding(
        "Special heads",
        f"{heads} the best fixed word of some relation by at least 10 points {judged_on(result)}, in at least "
        f"{LEAST_CASES} words and with q < {RATE} ({tests}). Relations with a special head: "
        f"{len(names)} of {frequent} with at least {LEAST_CASES} words{which}"
        f"{_busiest(result)}",
    )


def _busiest(result: xr.Dataset) -> str:
    """The head that is special for the most relations."""
    special = result["special"].max("direction").where(result["relation"] != "all")
    counts = special.sum("relation")
    if not int(counts.max()):
        return ""
    best = counts[counts.argmax(...)]
    position = {name: int(best[name]) for name in HEAD}
    names = special["relation"].values[special.sel(position).values == 1].tolist()
    return f" Head {head_name(**position)} knows the most: {', '.join(names)}."


def _sentence(relation: ChosenHead) -> str:
    scores = f"{relation.score.percent}, fixed word ({relation.reference}) has {baseline(relation).percent}"
    return f"{relation.name} in {relation.head} ({relation.arrow}): {scores}, n = {relation.held_out:,} words"


def _directions(heads: list[ChosenHead]) -> Iterator[Finding]:
    looks = [head.direction == "dependent_to_head" for head in by_gain(heads) if head.special]
    if looks:
        yield Finding(
            "Direction",
            f"In {sum(looks)} of these relations the dependent looks at its head, in {len(looks) - sum(looks)} the "
            "head looks at its dependent.",
        )


def _caution(result: xr.Dataset, heads: list[ChosenHead]) -> Iterator[Finding]:
    few = [head.name for head in heads if not head.enough]
    texts = [
        f"Relations with fewer than {LEAST_CASES} words have a separate table: {', '.join(few)}." if few else "",
        "Heads were chosen and scored on the same words, as in the released code: the scores are too high."
        if as_coded(result)
        else "",
        "The tests treat the words of a sentence as independent, which is not quite true.",
    ]
    yield Finding("Limits", " ".join(filter(None, texts)))
