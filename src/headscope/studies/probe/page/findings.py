"""Findings of `probe`: dependency parsing from attention, beside its baselines (Clark et al. 2019, section 5)."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.report.claims import apart
from headscope.report.parts import Finding
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.wording import listed, spread, strongest
from headscope.statistics.interval_tests import q_above
from headscope.statistics.significance import LEAST_CASES, RATE
from headscope.studies.probe.page.tables import SEES_ATTENTION, UNTRAINED, Parser, best_without, parsers

NAMED = 6


def highlights(result: xr.Dataset) -> list[Finding]:
    """The parser that sees attention alone, beside simple trees and random weights; what it adds to words; heads."""
    scored = parsers(result)
    array = with_interval(result, "contribution")
    text = f"They raise the score of the right word over that of another word, in logits: {_raised(array)}."
    described = [Finding("Contributions of heads", text)] if bool(array.notnull().any()) else []
    return [*_alone(result, scored), *_random_seeds(result, scored), *_both(result, scored), *described]


def _alone(result: xr.Dataset, scored: dict[str, Parser]) -> Iterator[Finding]:
    """The parser that sees attention alone, beside trees that need no training."""
    alone, simple = scored.get("attention"), [scored[name] for name in UNTRAINED if name in scored]
    if alone and simple:
        best = max(simple, key=lambda parser: parser.uas.value)
        other = best_without(scored) or best
        beside = f"; the best parser without the attention of the model ({other.words}) {other.uas.value:.0%}"
        yield Finding.judged(
            apart(alone.uas, best.uas, _cases(result)),
            f"A parser that sees attention alone gets {alone.uas.value:.0%} of the heads right, the {best.words} "
            f"{best.uas.value:.0%}{beside if other is not best else ''}.",
            holds=f"Attention alone finds {alone.uas.value:.0%} of the syntactic heads",
            fails="Attention alone finds no more syntactic heads than a fixed offset does",
            undecided="Too few words to tell attention from a fixed offset",
            unit="words",
        )


def _random_seeds(result: xr.Dataset, scored: dict[str, Parser]) -> Iterator[Finding]:
    alone, random, other = scored.get("attention"), scored.get("random_attention"), best_without(scored)
    if alone and random and other:
        text = f"Attention alone gets {alone.uas.value:.0%} of the heads right, with random weights of the model "
        scores = result["uas_by_seed"].sel(probe="random_attention").dropna("seed").values.tolist()
        yield beside_random_seeds(
            "Syntax in the attention of all heads",
            alone.uas,
            scores,
            apart(alone.uas, other.uas, _cases(result)),
            f"{text}{random.uas.value:.0%}.",
            "words",
        )


def _both(result: xr.Dataset, scored: dict[str, Parser]) -> Iterator[Finding]:
    both, words = scored.get("attention_and_words"), scored.get("distances_and_words")
    if both and words:
        share = f"{both.uas.value:.0%} of the syntactic heads"
        yield Finding.judged(
            apart(both.uas, words.uas, _cases(result)),
            f"A parser that sees both gets {share} right, one of words and their distance {words.uas.value:.0%}.",
            holds="Attention adds to what words show",
            fails="Attention adds nothing to words and their distance",
            undecided="Too few words to tell whether attention adds to them",
            unit="words",
        )


def _cases(result: xr.Dataset) -> int:
    return int(result["uas_n_examples"])


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings: scores beside baselines, the main heads, and the recall of relations."""
    scored = parsers(result)
    return [*_scores(result, scored), *_random(scored), *_heads(result), *_relations(result), *_limits(result, scored)]


def _scores(result: xr.Dataset, scored: dict[str, Parser]) -> Iterator[Finding]:
    alone, both, other = scored.get("attention"), scored.get("attention_and_words"), best_without(scored)
    if alone:
        words = f"{int(result['uas_n_examples']):,} words (without punctuation)"
        text = f"A parser that sees attention alone finds the syntactic head of {alone.uas.percent} of {words}"
        text += f"; with words as well, {both.uas.percent}" if both else ""
        text += (
            f". The best parser without the attention of the model ({other.words}) finds {other.uas.percent}"
            if other
            else ""
        )
        yield Finding("Dependency parsing", f"{text}.")


def _random(scored: dict[str, Parser]) -> Iterator[Finding]:
    if {"random_attention", "random_attention_and_words"} <= set(scored):
        alone, both = scored["random_attention"], scored["random_attention_and_words"]
        yield Finding(
            "Beside random weights",
            f"The same parsers over the attention of the same model with random weights: {alone.uas.percent} from "
            f"attention alone, {both.uas.percent} with words.",
        )


def _raised(array: xr.DataArray) -> str:
    return spread(array.drop_vars(("lower", "upper"), errors="ignore"))


def _heads(result: xr.Dataset) -> Iterator[Finding]:
    contribution = with_interval(result, "contribution")
    for direction, looks in (
        ("dependent_to_head", "from the dependent to its head"),
        ("head_to_dependent", "from the head to its dependent"),
    ):
        array = contribution.sel(direction=direction, drop=True)
        if not bool(array.notnull().any()):
            continue
        text = f"They raise the score of the syntactic head over that of another word, in logits: {_raised(array)}"
        q = q_above(array, 0.0)
        sure = [] if q is None else [head for head in strongest(array.where(q < RATE)) if head.value > 0]
        heads = listed(sure) if sure else "none"
        yield Finding(f"Heads, {looks}", f"{text}. Surely above 0 (q < {RATE}): {heads}.")
    if not bool(result["contribution"].notnull().any()):
        return
    values = np.sort(result["contribution"].values[np.isfinite(result["contribution"].values)])[::-1]
    half = int(np.searchsorted(np.cumsum(values), values.sum() / 2)) + 1
    yield Finding(
        "Concentration",
        f"All heads together raise the score by {values.sum():.1f} logits on average; {half} of {values.size} pairs of "
        f"a head and a direction contribute half of it. n = {int(result['contribution_n_examples']):,} words.",
    )


def _relations(result: xr.Dataset) -> Iterator[Finding]:
    known = (
        result["recall"].sel(probe=[name for name in SEES_ATTENTION if name in result["probe"]]).notnull().all("probe")
    )
    enough = result.sel(relation=known & (result["recall_n_examples"] >= LEAST_CASES))
    if enough.sizes["relation"]:
        recall = enough["recall"].sel(probe="attention")
        order = recall.argsort().values
        number = min(NAMED, (len(order) + 1) // 2)
        best, worst = order[::-1][:number], order[:number]
        yield Finding(
            "Relations",
            f"From attention alone the recall is highest for {_named(recall, best)} and lowest for "
            f"{_named(recall, worst)}. {_gained(enough, number)}Relations of at least {LEAST_CASES} words.",
        )


def _gained(result: xr.Dataset, number: int) -> str:
    """The relations that words help to find, where a parser saw words."""
    if "attention_and_words" not in result["probe"]:
        return ""
    gain = result["recall"].sel(probe="attention_and_words") - result["recall"].sel(probe="attention")
    names = result["relation"].values[gain.argsort().values[::-1][:number]]
    return f"The gain from words is largest for {', '.join(names)}. "


def _named(recall: xr.DataArray, places: np.ndarray) -> str:
    return ", ".join(
        f"{name} ({100 * value:.0f}%)" for name, value in zip(*_names_and_values(recall, places), strict=True)
    )


def _names_and_values(recall: xr.DataArray, places: np.ndarray) -> tuple[list[str], list[float]]:
    part = recall.isel(relation=places)
    return part["relation"].values.tolist(), part.values.tolist()


def _limits(result: xr.Dataset, scored: dict[str, Parser]) -> Iterator[Finding]:
    training, attrs = json.loads(result.attrs["training"]), result.attrs
    read = f"{training['sentences']:,} sentences of {training['corpus']}"
    vectors = f"Vectors of words: {attrs['vectors']}, with {100 * attrs['words_with_vectors']:.0f}% of the words."
    spread = np.nanmax([*(parser.std for parser in scored.values()), -np.inf])
    several = f" Scores are means over {result.sizes['seed']} seeds, which differ by at most {100 * spread:.1f} points"
    seeds = f"{several} (standard deviation)." if np.isfinite(spread) else ""
    yield Finding(
        "Limits",
        f"Parsers were trained on {read}, and scored on {attrs['test_sentences']:,} others. Scores depend on the "
        f"number of training sentences and on the text. {vectors}{seeds} A tree in the "
        "attention is no evidence that the model uses it.",
    )
