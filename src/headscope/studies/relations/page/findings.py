"""Findings of `relations`: the heads that attend to the links of a relation, beside heads that only attend far."""

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite

import xarray as xr

from headscope.report.best_heads.chosen import ChosenHead, by_gain, options, special_claim, special_heads, tests_made
from headscope.report.best_heads.no_op import no_op
from headscope.report.best_heads.parts import NAMED, OF_THIS_HEAD, beside_thresholds, counted, of_all_cases
from headscope.report.claims import above
from headscope.report.parts import Finding
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.wording import agree, first_of, mean_of_heads, number, several
from headscope.statistics.significance import LEAST_CASES, RATE
from headscope.studies.relations.page.tables import ELSEWHERE, OTHERS, filtered, highest, least_gain, relations

DIRECTIONS = {"source_to_target": "From source to target", "target_to_source": "From target to source"}

NOT_COMPARED = Finding(
    "Nothing could be compared",
    "In no sentence can the links of any relation stand elsewhere, and other words look at the same end, as the "
    "baselines need. Read longer sentences, or more of them.",
)


def highlights(result: xr.Dataset) -> list[Finding]:
    """The chosen head of all links, the special heads, the clearest relation, and random weights."""
    if not _is_compared(result):
        return [NOT_COMPARED]
    heads = relations(result)
    known = [*_best_head(heads), *_special_heads(result), *_clearest(heads)]
    return [*known, *no_op(result, heads), *_random_weights(result)]


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings, each with the baselines, the interval and the number of sentences."""
    if not _is_compared(result):
        return [NOT_COMPARED, *_filter(result)]
    heads = relations(result)
    rule = "The chosen head does not gain 0.1 over both baselines, or the difference may be chance. Gain"
    return [
        *_above(result),
        *_special(result),
        *_best(heads),
        *no_op(result, heads),
        *beside_thresholds(heads, _sentence, lambda head: f"{head.gain.value:+.2f}", rule),
        *_untrained(result),
        *_filter(result),
        *_caution(result, heads),
    ]


def _is_compared(result: xr.Dataset) -> bool:
    """Whether the links of all relations, or of one, have a baseline."""
    return bool(result["gain"].sel(relation="all").notnull().any())


def _best_head(heads: list[ChosenHead]) -> Iterator[Finding]:
    for overall in of_all_cases(heads):
        baseline = max(overall.baselines[ELSEWHERE].value, overall.baselines[OTHERS].value)
        yield Finding.judged(
            overall.claim,
            f"Head {overall.head} gives them {overall.score.value:.0%} of its attention; words without a link get "
            f"{baseline:.0%}.",
            holds=f"Head {overall.head} attends more to linked words than to others",
            fails="No head attends more to linked words than to others",
            undecided="Too few sentences to tell whether a head attends more to linked words than to others",
            unit="held-out sentences",
        )


def _special_heads(result: xr.Dataset) -> Iterator[Finding]:
    heads, total, names = special_heads(result, "relation")
    single = [name for name in names if name != "all"]
    which = f"; these relations have such a head: {first_of(single, NAMED, ', ')}" if single else ""
    elsewhere, others = result["elsewhere"], result["others"]
    higher = elsewhere.where(~(others > elsewhere), others)
    yield Finding.judged(
        special_claim(result, least_gain(result), higher, result["gain_n_examples"]),
        f"Such a head gives linked words clearly more attention than others{which}.{_counted(result)}",
        holds=f"{several(heads, 'head')} of {total} {agree(heads, 'attends', 'attend')} to links",
        fails="No head attends to links",
        undecided="It cannot be told whether a head attends to links",
        unit="sentences",
    )


def _counted(result: xr.Dataset) -> str:
    return counted(int(result["gain_n_examples"].sel(relation="all")), "sentences")


def _clearest(heads: list[ChosenHead]) -> Iterator[Finding]:
    for relation in [head for head in by_gain(heads) if head.special][:1]:
        attends = f"Head {relation.head} attends to {relation.name}"
        yield Finding.judged(
            replace(relation.claim, q=relation.q),
            f"It gives the links ({relation.arrow}) {100 * relation.gain.value:.0f} points more attention than words "
            "without a link.",
            holds=attends,
            fails=f"No head attends to {relation.name}",
            undecided=f"{attends}, perhaps by chance",
            unit="held-out sentences",
        )


def _random_weights(result: xr.Dataset) -> Iterator[Finding]:
    """Beside the gain, not the attention: that of any peaked head is high, wherever it looks."""
    if "untrained" not in result:
        return
    gain = least_gain(result).sel(relation="all", direction="source_to_target")
    trained = mean_of_heads(gain)
    random = result["untrained_gain"].values.tolist() if "untrained_gain" in result else []
    if isfinite(trained.value):
        beside = f"; with random weights {_points(sum(random) / len(random))}" if random else ""
        text = f"The average head gives linked words {_points(trained.value)} more attention than others{beside}."
        n = int(result["gain_n_examples"].sel(relation="all"))
        yield beside_random_seeds(
            "Attention between linked words", trained, random, above(trained, 0.0, n), text, "sentences"
        )


def _points(share: float) -> str:
    return f"{number(100 * share, '.1f')} points"


def _above(result: xr.Dataset) -> Iterator[Finding]:
    """Heads above the 99th percentile, as in the paper, with their baselines."""
    total = int(result["link_attention"].isel(relation=0, direction=0).notnull().sum())
    texts = []
    for direction, words in DIRECTIONS.items():
        limit = float(result["percentile"].sel(relation="all", direction=direction))
        if not isfinite(limit):
            continue
        above = [head for head in highest(result, direction, total) if head.score.value > limit]
        heads = ", ".join(f"{head.head} ({head.score.text}; {_beside(head)})" for head in above)
        texts.append(f"{words}, above {number(limit)}: {heads or 'no head'}.")
    if not texts:
        return
    least = -(-(total - 1) // 100)
    texts.append(f"This is no test: {least} of {total} heads {agree(least, 'lies', 'lie')} above it in any model.")
    yield Finding("Above the 99th percentile", " ".join(texts))


def _special(result: xr.Dataset) -> Iterator[Finding]:
    heads, total, names = special_heads(result, "relation")
    frequent = int((result["gain_n_examples"] >= LEAST_CASES).sum())
    tests = f"Benjamini-Hochberg over {tests_made(result)} heads, relations and directions"
    beyond = ", and more than any head of an untrained model" if "untrained" in result else ""
    which = f": {', '.join(names)}" if names else ""
    yield Finding(
        "Special heads",
        f"{several(heads, 'head')} of {total} {agree(heads, 'gives', 'give')} the links of some relation at least 0.1 "
        f"more attention than both baselines, with q < {RATE} ({tests}), in at least {LEAST_CASES} sentences{beyond}. "
        "The baselines: links moved elsewhere in the same sentence, and attention from other words to the same end. "
        f"Relations with a special head: {len(names)} of {frequent} with at least {LEAST_CASES} sentences{which}."
        f"{_counted(result)}",
    )


def _best(heads: list[ChosenHead]) -> Iterator[Finding]:
    for overall in of_all_cases(heads):
        yield Finding(
            "All links",
            f"The head that was chosen for its gain is {overall.head} ({overall.arrow}): {overall.score.text} for "
            f"links, {_beside(overall)}, a gain of {overall.gain.text}, on {overall.held_out:,} held-out sentences.",
        )


def _sentence(head: ChosenHead) -> str:
    beside = ", ".join(f"{number(baseline.value)} {words}" for words, baseline in head.baselines.items())
    return f"{head.name} in {head.head} ({head.arrow}): {head.score.text}, {beside}, n = {head.held_out:,} sentences"


def _beside(head: ChosenHead) -> str:
    return ", ".join(f"{baseline.text} {words}" for words, baseline in head.baselines.items())


def _untrained(result: xr.Dataset) -> Iterator[Finding]:
    if "untrained" in result:
        part = result.sel(relation="all", direction="source_to_target")
        most, mean = float(part["untrained"].max()), float(part["untrained"].mean())
        trained = float(part["link_attention"].mean())
        if isfinite(mean) and isfinite(trained):
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


def _caution(result: xr.Dataset, heads: list[ChosenHead]) -> Iterator[Finding]:
    few = [head.name for head in heads if not head.enough]
    coded = "The pieces of both ends were paired one by one, as in the released code."
    parts = [
        f"Relations with fewer than {LEAST_CASES} sentences have a separate table: {len(few)}." if few else "",
        coded if options(result).get("as_coded") else "",
        "The value of a sentence is the largest over its links and their pairs of tokens: it grows with their number. "
        "Links elsewhere have as many words, not always as many tokens: heads of random weights gain on them, too. A "
        "gain is that over both baselines.",
        OF_THIS_HEAD,
    ]
    yield Finding("Limits", " ".join(filter(None, parts)))
