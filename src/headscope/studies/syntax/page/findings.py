"""Findings of `syntax`: which heads know which relation, and which relations none does (Clark et al. 2019, 4.2)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.parts import Finding
from headscope.report.wording import several
from headscope.statistics.thresholds import LEAST_CASES
from headscope.studies.syntax.page.summary import Relation, as_coded, relations

NAMED = 8


def findings(result: xr.Dataset) -> list[Finding]:
    """What the heads know of syntax, with the baseline, the interval and the number of words of whatever is claimed."""
    found = relations(result)
    known = [*_relations(found), *_directions(found)]
    return [*_whole(result, found), *_special(result), *known, *_caution(result, found)]


def _whole(result: xr.Dataset, found: list[Relation]) -> Iterator[Finding]:
    where = "the same sentences" if as_coded(result) else "sentences that they were not chosen on"
    for each in found:
        if each.name == "all":
            best = f"The best single head, {each.head} ({each.arrow}), picks the syntactic head"
            beside = f"the best fixed offset ({each.offset:+d}) of {_percent(each.baseline)}"
            gain = f"a gain of {_points(each.gain)} points, on {where}"
            yield Finding(
                "All relations",
                f"{best} of {_percent(each.accuracy)} of {each.held_out:,} words, {beside}: {gain}.",
            )


def _special(result: xr.Dataset) -> Iterator[Finding]:
    special = result["special"].max("direction").sel(relation=result["relation"] != "all")
    number = int(special.max("relation").notnull().sum())
    known = _names(special.max(["layer", "head"]))
    enough = int((result["accuracy_n_examples"].sel(relation=special["relation"]) >= LEAST_CASES).sum())
    heads = several(int((special.max("relation") == 1).sum()), "head")
    told = f"{heads} of {number} beat the best fixed offset of some relation by 10 points or more"
    sure = f"in at least {LEAST_CASES} words and with q < 0.05"
    tests = f"Benjamini-Hochberg over {int(result['q_value'].notnull().sum()):,} heads, relations and directions"
    which = f": {', '.join(known)}." if known else "."
    yield Finding(
        "Special heads",
        f"{told}, {sure} ({tests}). {len(known)} of {several(enough, 'relation').lower()} of so many words "
        f"have such a head{which}{_busiest(special)}",
    )


def _names(special: xr.DataArray) -> list[str]:
    """The relations for which something is special."""
    return [str(name) for name in special["relation"].values[special.values == 1]]


def _busiest(special: xr.DataArray) -> str:
    """The head that is special for the most relations."""
    counts = special.sum("relation")
    if not int(counts.max()):
        return ""
    best = counts[counts.argmax(...)]
    place = {"layer": int(best["layer"]), "head": int(best["head"])}
    return f" {head_name(**place)} is special for the most: {', '.join(_names(special.sel(place)))}."


def _relations(found: list[Relation]) -> Iterator[Finding]:
    ranked = sorted((each for each in found if each.enough and each.name != "all"), key=lambda each: -each.gain[0])
    known = [each for each in ranked if each.special]
    if known:
        more = f", and {len(known) - NAMED} more" if known[NAMED:] else ""
        yield Finding("Relations that a head knows", "; ".join(map(_told, known[:NAMED])) + more + ".")
    if without := [f"{each.name} ({100 * each.gain[0]:+.0f})" for each in ranked if not each.special]:
        yield Finding(
            "Relations without such a head",
            "The chosen head does not beat the offset by 10 points, or not surely (points of gain in brackets): "
            f"{', '.join(without)}.",
        )


def _told(each: Relation) -> str:
    how = f"{_percent(each.accuracy)} against {_percent(each.baseline)} at offset {each.offset:+d}"
    return f"{each.name} in {each.head} ({each.arrow}): {how}, n = {each.held_out:,} words"


def _directions(found: list[Relation]) -> Iterator[Finding]:
    special = [each.looks for each in found if each.special and each.name != "all"]
    if special:
        own = f"Of these relations, in {sum(special)} the dependent looks at its head"
        yield Finding("Direction", f"{own}, in {len(special) - sum(special)} the head at its dependent.")


def _caution(result: xr.Dataset, found: list[Relation]) -> Iterator[Finding]:
    few = [each.name for each in found if not each.enough]
    flattered = "Heads were chosen on the words that they are scored on, as in the released code, which flatters them."
    told = [
        f"Relations of fewer than {LEAST_CASES} words are listed apart: {', '.join(few)}." if few else "",
        flattered if as_coded(result) else "",
        "The tests take the words of a sentence as independent of each other, which they are not quite.",
    ]
    yield Finding("Mind", " ".join(filter(None, told)))


def _percent(interval: tuple[float, float, float]) -> str:
    value, lower, upper = (100 * each for each in interval)
    return f"{value:.1f}% [{lower:.1f}, {upper:.1f}]"


def _points(interval: tuple[float, float, float]) -> str:
    value, lower, upper = (100 * each for each in interval)
    return f"{value:.1f} [{lower:.1f}, {upper:.1f}]"
