"""Findings of `relations`: which heads link what a relation links, and which only stand at its distance."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import number, several
from headscope.statistics.thresholds import LEAST_CASES
from headscope.studies.relations.page.summary import Reading, chosen, filtered, highest, options, told

NAMED = 8
DIRECTIONS = {"source_to_target": "From source to target", "target_to_source": "From target to source"}


def findings(result: xr.Dataset) -> list[Finding]:
    """What heads give to links, with the baselines, the interval and the number of sentences of whatever is claimed."""
    found = chosen(result)
    return [
        *_above(result),
        *_special(result),
        *_best(found),
        *_relations(found),
        *_untrained(result),
        *_filter(result),
        *_caution(result, found),
    ]


def _above(result: xr.Dataset) -> Iterator[Finding]:
    """The paper's finding: heads above the 99th percentile; and what links elsewhere get in them."""
    number_of_heads = int(result["link_attention"].isel(relation=0, direction=0).notnull().sum())
    texts = []
    for direction, words in DIRECTIONS.items():
        limit = float(result["percentile"].sel(relation="all", direction=direction))
        above = [each for each in highest(result, direction, number_of_heads) if each.attention[0] > limit]
        heads = ", ".join(f"{each.head} ({told(each.attention)}; {_beside(each)})" for each in above)
        texts.append(f"{words}, above {number(limit)}: {heads or 'no head'}.")
    must = several(-(-(number_of_heads - 1) // 100), "head").lower()
    known = f"Of {number_of_heads} heads, {must} must lie above it, unless some are equal, whatever they know."
    yield Finding("Above the 99th percentile", " ".join([*texts, known]))


def _special(result: xr.Dataset) -> Iterator[Finding]:
    special = result["special"]
    heads = int((special.max(["relation", "direction"]) == 1).sum())
    known = special["relation"].values[(special.max(["layer", "head", "direction"]) == 1).values].tolist()
    enough = int((result["gain_n_examples"] >= LEAST_CASES).sum())
    tests = f"Benjamini-Hochberg over {int(result['q_value'].notnull().sum()):,} heads, relations and directions"
    beyond = ", and more attention than any head of an untrained model gives" if "untrained" in result else ""
    number_of_heads = int(special.max(["relation", "direction"]).notnull().sum())
    such = f"{len(known)} of {enough} relations of so many sentences have such a head"
    yield Finding(
        "Special heads",
        f"{several(heads, 'head')} of {number_of_heads} give links of some relation at least 0.1 more attention than "
        f"links moved elsewhere in the same sentence get, and than other words give to the same end of the link, with "
        f"q < 0.05 ({tests}), in at least {LEAST_CASES} sentences{beyond}. "
        f"{such}{': ' + ', '.join(known) if known else ''}.",
    )


def _best(found: list[Reading]) -> Iterator[Finding]:
    for each in found:
        if each.relation == "all":
            yield Finding(
                "All links",
                f"The head that gains most is {each.head} ({each.arrow}): {told(each.attention)} for links, "
                f"{_beside(each)}, a gain of {told(each.gain)}, on {each.n:,} sentences that it was "
                "not chosen on.",
            )


def _relations(found: list[Reading]) -> Iterator[Finding]:
    ranked = sorted((each for each in found if each.enough and each.relation != "all"), key=lambda each: -each.gain[0])
    known = [each for each in ranked if each.special]
    if known:
        more = f"; and {len(known) - NAMED} more" if known[NAMED:] else ""
        yield Finding("Relations that a head links", "; ".join(map(_told, known[:NAMED])) + more + ".")
    if without := [f"{each.relation} ({each.gain[0]:+.2f})" for each in ranked if not each.special]:
        yield Finding(
            "Relations without such a head",
            "The chosen head does not gain 0.1 on both baselines, or not surely (gain in brackets): "
            f"{', '.join(without)}.",
        )


def _told(each: Reading) -> str:
    how = f"{told(each.attention)}, {number(each.elsewhere[0])} elsewhere, {number(each.others[0])} from other words"
    return f"{each.relation} in {each.head} ({each.arrow}): {how}, n = {each.n:,} sentences"


def _beside(each: Reading) -> str:
    return f"{told(each.elsewhere)} elsewhere, {told(each.others)} from other words"


def _untrained(result: xr.Dataset) -> Iterator[Finding]:
    if "untrained" in result:
        part = result.sel(relation="all", direction="source_to_target")
        most, mean = float(part["untrained"].max()), float(part["untrained"].mean())
        trained = float(part["link_attention"].mean())
        yield Finding(
            "Untrained model",
            f"With random weights the heads give links {number(mean)} on average, at most {number(most)}; after "
            f"training {number(trained)} on average (source → target, all links).",
        )


def _filter(result: xr.Dataset) -> Iterator[Finding]:
    steps = filtered(result)
    if len(steps) > 2:
        (_, read), *dropped, (_, kept) = steps
        told = ", ".join(f"{count:,} {reason}" for reason, count in dropped)
        yield Finding("What was kept", f"{kept:,} of {read:,} examples; dropped, in this order: {told}.")


def _caution(result: xr.Dataset, found: list[Reading]) -> Iterator[Finding]:
    few = [each.relation for each in found if not each.enough]
    coded = "The pieces of both ends were paired one by one, as in the released code."
    parts = [
        f"{several(len(few), 'relation')} of fewer than {LEAST_CASES} sentences are listed apart." if few else "",
        coded if options(result).get("as_coded") else "",
        "The value of a sentence is the largest of its links and their pairs of tokens, so that it grows with their "
        "number, alike for the baselines.",
    ]
    yield Finding("Mind", " ".join(filter(None, parts)))
