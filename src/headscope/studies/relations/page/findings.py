"""Findings of `relations`: the heads that attend to the links of a relation, beside heads that only attend far."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.random_weights import beside_random_weights
from headscope.report.wording import Estimate, agree, first_of, number, several
from headscope.statistics.thresholds import LEAST_CASES, RATE
from headscope.studies.relations.page.summary import LinkReading, chosen, filtered, highest, options

NAMED = 8
DIRECTIONS = {"source_to_target": "From source to target", "target_to_source": "From target to source"}

NOTHING = Finding(
    "Nothing could be compared",
    "In no sentence can the links of any relation stand elsewhere, and other words look at the same end, as the "
    "baselines need. Read longer sentences, or more of them.",
)


def highlights(result: xr.Dataset) -> list[Finding]:
    """The best head of all links, the special heads, and the clearest relation."""
    if not _is_compared(result):
        return [NOTHING]
    every = chosen(result)
    return [*_best_head(every), *_special_heads(result), *_clearest(every), *_random_weights(result)]


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings, each with the baselines, the interval and the number of sentences."""
    if not _is_compared(result):
        return [NOTHING, *_filter(result)]
    every = chosen(result)
    return [
        *_above(result),
        *_special(result),
        *_best(every),
        *_relations(every),
        *_untrained(result),
        *_filter(result),
        *_caution(result, every),
    ]


def _is_compared(result: xr.Dataset) -> bool:
    """Whether the links of all relations, or of one, have a baseline."""
    return bool(result["gain"].sel(relation="all").notnull().any())


def _best_head(every: list[LinkReading]) -> Iterator[Finding]:
    for each in every[:1]:
        if each.relation == "all":
            base = max(each.elsewhere.value, each.others.value)
            yield Finding(
                f"Head {each.head} attends most clearly to linked words",
                f"It gives them {each.attention.value:.0%} of its attention; words without a link get {base:.0%}.",
            )


def _special_heads(result: xr.Dataset) -> Iterator[Finding]:
    heads, total, names = _special_numbers(result)
    topic = f"{several(heads, 'head')} of {total} {agree(heads, 'attends', 'attend')} to links"
    single = [name for name in names if name != "all"]
    which = f"; these relations have such a head: {first_of(single, NAMED, ', ')}" if single else ""
    yield Finding(topic, f"Linked words get clearly more attention than others{which}.")


def _clearest(every: list[LinkReading]) -> Iterator[Finding]:
    for each in [each for each in _by_gain(every) if each.special][:1]:
        yield Finding(
            f"The clearest relation is {each.relation}",
            f"Head {each.head} ({each.arrow}) gives its links {100 * each.gain.value:.0f} points more attention than "
            "words without a link.",
        )


def _random_weights(result: xr.Dataset) -> Iterator[Finding]:
    if "untrained" in result:
        part = result.sel(relation="all", direction="source_to_target")
        trained, random = (Estimate(float(part[name].mean())) for name in ("link_attention", "untrained"))
        yield beside_random_weights(
            trained,
            random,
            f"The average head gives {trained.value:.0%} of its attention to linked words; with random weights "
            f"{random.value:.0%}.",
        )


def _above(result: xr.Dataset) -> Iterator[Finding]:
    """Heads above the 99th percentile, as in the paper, with their baselines."""
    total = int(result["link_attention"].isel(relation=0, direction=0).notnull().sum())
    texts = []
    for direction, words in DIRECTIONS.items():
        limit = float(result["percentile"].sel(relation="all", direction=direction))
        above = [each for each in highest(result, direction, total) if each.attention.value > limit]
        heads = ", ".join(f"{each.head} ({each.attention.text}; {_beside(each)})" for each in above)
        texts.append(f"{words}, above {number(limit)}: {heads or 'no head'}.")
    least = -(-(total - 1) // 100)
    texts.append(f"This is no test: {least} of {total} heads {agree(least, 'lies', 'lie')} above it in any model.")
    yield Finding("Above the 99th percentile", " ".join(texts))


def _special_numbers(result: xr.Dataset) -> tuple[int, int, list[str]]:
    """Returns: the number of special heads, the number of heads, and the relations that have a special head."""
    special = result["special"]
    by_head, by_relation = special.max(["relation", "direction"]), special.max(["layer", "head", "direction"])
    names = special["relation"].values[(by_relation == 1).values].tolist()
    return int((by_head == 1).sum()), int(by_head.notnull().sum()), names


def _special(result: xr.Dataset) -> Iterator[Finding]:
    heads, total, names = _special_numbers(result)
    frequent = int((result["gain_n_examples"] >= LEAST_CASES).sum())
    tests = f"Benjamini-Hochberg over {int(result['q_value'].notnull().sum()):,} heads, relations and directions"
    beyond = ", and more than any head of an untrained model" if "untrained" in result else ""
    which = f": {', '.join(names)}" if names else ""
    yield Finding(
        "Special heads",
        f"{several(heads, 'head')} of {total} {agree(heads, 'gives', 'give')} the links of some relation at least 0.1 "
        f"more attention than both baselines, with q < {RATE} ({tests}), in at least {LEAST_CASES} sentences{beyond}. "
        "The baselines: links moved elsewhere in the same sentence, and attention from other words to the same end. "
        f"Relations with a special head: {len(names)} of {frequent} with at least {LEAST_CASES} sentences{which}.",
    )


def _best(every: list[LinkReading]) -> Iterator[Finding]:
    for each in every:
        if each.relation == "all":
            yield Finding(
                "All links",
                f"The head with the largest gain is {each.head} ({each.arrow}): {each.attention.text} for links, "
                f"{_beside(each)}, a gain of {each.gain.text}, on {each.n:,} held-out sentences.",
            )


def _by_gain(every: list[LinkReading]) -> list[LinkReading]:
    """The relations with enough sentences, the largest gain first; without "all"."""
    return sorted((each for each in every if each.enough and each.relation != "all"), key=lambda one: -one.gain.value)


def _relations(every: list[LinkReading]) -> Iterator[Finding]:
    ranked = _by_gain(every)
    if special := [_sentence(each) for each in ranked if each.special]:
        yield Finding("Relations with a special head", f"{first_of(special, NAMED)}.")
    if without := [f"{each.relation} ({each.gain.value:+.2f})" for each in ranked if not each.special]:
        yield Finding(
            "Relations without a special head",
            "The chosen head does not gain 0.1 over both baselines, or the difference may be chance. Gain: "
            f"{', '.join(without)}.",
        )


def _sentence(each: LinkReading) -> str:
    beside = f"{number(each.elsewhere.value)} elsewhere, {number(each.others.value)} from other words"
    return f"{each.relation} in {each.head} ({each.arrow}): {each.attention.text}, {beside}, n = {each.n:,} sentences"


def _beside(each: LinkReading) -> str:
    return f"{each.elsewhere.text} elsewhere, {each.others.text} from other words"


def _untrained(result: xr.Dataset) -> Iterator[Finding]:
    if "untrained" in result:
        part = result.sel(relation="all", direction="source_to_target")
        most, mean = float(part["untrained"].max()), float(part["untrained"].mean())
        trained = float(part["link_attention"].mean())
        yield Finding(
            "Untrained model",
            f"With random weights the heads give links {number(mean)} on average and at most {number(most)}; the "
            f"trained model gives {number(trained)} on average (source → target, all links).",
        )


def _filter(result: xr.Dataset) -> Iterator[Finding]:
    steps = filtered(result)
    if len(steps) > 2:
        (_, read), *dropped, (_, kept) = steps
        steps_dropped = ", ".join(f"{count:,} {reason}" for reason, count in dropped)
        yield Finding("Examples kept", f"{kept:,} of {read:,}. Dropped, in this order: {steps_dropped}.")


def _caution(result: xr.Dataset, every: list[LinkReading]) -> Iterator[Finding]:
    few = [each.relation for each in every if not each.enough]
    coded = "The pieces of both ends were paired one by one, as in the released code."
    parts = [
        f"Relations with fewer than {LEAST_CASES} sentences have a separate table: {len(few)}." if few else "",
        coded if options(result).get("as_coded") else "",
        "The value of a sentence is the largest over its links and their pairs of tokens: it grows with their number, "
        "as do the baselines.",
    ]
    yield Finding("Limits", " ".join(filter(None, parts)))
