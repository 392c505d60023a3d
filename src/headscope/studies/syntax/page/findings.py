"""Findings of `syntax`: the heads that pick the syntactic head of a word (Clark et al. 2019, section 4.2)."""

from collections.abc import Iterator
from dataclasses import replace

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import head_name
from headscope.report.best_heads.chosen import (
    HEAD,
    ChosenHead,
    above_baseline,
    by_gain,
    special_claim,
    special_heads,
    tests_made,
)
from headscope.report.best_heads.no_op import no_op
from headscope.report.best_heads.parts import NAMED, OF_THIS_HEAD, beside_thresholds, counted, of_all_cases
from headscope.report.parts import Finding
from headscope.report.wording import agree, estimate, first_of, several
from headscope.statistics.significance import LEAST_CASES, RATE
from headscope.studies.syntax.page.tables import (
    as_coded,
    baseline,
    fixed_word,
    full_name,
    judged_on,
    relations,
)


def highlights(result: xr.Dataset) -> list[Finding]:
    """The chosen head of all words, the special heads, the clearest relation, and the relations without a head."""
    heads = relations(result)
    known = [*_best(result, heads), *_special_heads(result), *_clearest(heads)]
    return [*known, *no_op(result, _functions(heads)), *_missing(result, heads)]


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
        *no_op(result, _functions(heads)),
        *_caution(result, heads),
    ]


def _functions(heads: list[ChosenHead]) -> list[ChosenHead]:
    return [head for head in heads if head.labels["relation"] != "all"]


def _best(result: xr.Dataset, heads: list[ChosenHead]) -> Iterator[Finding]:
    for overall in of_all_cases(heads):
        fixed = fixed_word(overall)
        text = (
            f"Head {overall.head} picks the syntactic head of {overall.score.value:.0%} of the words; always picking "
            f"{fixed} is right for {baseline(overall).value:.0%}."
        )
        if as_coded(result):  # a head that was chosen on what it is scored on can claim nothing
            yield Finding("The chosen head", f"{text} It was chosen on the same words.")
            continue
        yield Finding.judged(
            overall.claim,
            text,
            holds=f"Head {overall.head} knows more of the syntax than {fixed} does",
            fails=f"No head knows more of the syntax than {fixed} does",
            undecided=f"Too few sentences to tell whether a head knows more of the syntax than {fixed} does",
            unit="held-out words",
        )


def _special_heads(result: xr.Dataset) -> Iterator[Finding]:
    count, total, _ = special_heads(result, "relation", without="all")
    text = "Such a head picks the right word clearly more often than a fixed distance or position does."
    relations = result.sel(relation=result["relation"] != "all")
    gain = above_baseline(with_interval(relations, "accuracy"), relations["baseline"])
    yield Finding.judged(
        special_claim(relations, gain, relations["baseline"], relations["accuracy_n_examples"]),
        f"{text}{_busiest(result)}{counted(_words(result), 'words')}",
        holds=f"{several(count, 'head')} of {total} {agree(count, 'knows', 'know')} a syntactic relation",
        fails="No head knows a syntactic relation",
        undecided="It cannot be told whether a head knows a syntactic relation",
        unit="words",
    )


def _words(result: xr.Dataset) -> int:
    return int(result["accuracy_n_examples"].sel(relation="all"))


def _clearest(heads: list[ChosenHead]) -> Iterator[Finding]:
    for relation in [head for head in by_gain(heads) if head.special][:1]:
        knows = f"Head {relation.head} knows {full_name(relation)}"
        yield Finding.judged(
            replace(relation.claim, q=relation.q),
            f"It is right in {relation.score.value:.0%} of the cases; always picking {fixed_word(relation)} is "
            f"right in {baseline(relation).value:.0%}.",
            holds=knows,
            fails=f"No head knows {full_name(relation)}",
            undecided=f"{knows}, perhaps by chance",
            unit="held-out words",
        )


def _missing(result: xr.Dataset, heads: list[ChosenHead]) -> Iterator[Finding]:
    *_, special = special_heads(result, "relation", without="all")
    if names := [head.name for head in by_gain(heads) if head.name not in special]:
        topic = f"{several(len(names), 'relation')} without such a head"
        yield Finding(topic, f"{first_of(names, NAMED, ', ')}.")


def _all_relations(result: xr.Dataset, heads: list[ChosenHead]) -> Iterator[Finding]:
    where = "the same sentences" if as_coded(result) else "held-out sentences"
    for overall in of_all_cases(heads):
        yield Finding(
            "All relations",
            f"The chosen head, {overall.head} ({overall.arrow}), picks the syntactic head of "
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
        f"{_busiest(result)}{counted(_words(result), 'words')}",
    )


def _busiest(result: xr.Dataset) -> str:
    """A head that is special for no fewer relations than others."""
    special = result["special"].max("direction").where(result["relation"] != "all")
    counts = special.sum("relation")
    if not int(counts.max()):
        return ""
    best = counts[counts.argmax(...)]
    position = {name: int(best[name]) for name in HEAD}
    names = special["relation"].values[special.sel(position).values == 1].tolist()
    return f" Head {head_name(**position)} is special for: {', '.join(names)}."


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
        OF_THIS_HEAD,
        f"The tokenizer splits {estimate(result, 'split_words').percent} of the words."
        if "split_words" in result
        else "",
        "A special head passes two tests: of words as if they were independent, and of whole sentences or documents.",
    ]
    yield Finding("Limits", " ".join(filter(None, texts)))
