"""Findings of `probe`: how well attention parses, beside what needs none, and by which heads (Clark et al. 2019, 5)."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.report.parts import Finding
from headscope.report.wording import listed, strongest
from headscope.statistics.thresholds import LEAST_CASES
from headscope.studies.probe.page.summary import Parser, best_without, parsers

NAMED = 6


def findings(result: xr.Dataset) -> list[Finding]:
    """How well attention parses, beside its baselines; which heads it rests on, and which relations it finds."""
    found = parsers(result)
    return [*_scores(result, found), *_random(found), *_heads(result), *_relations(result), *_mind(result, found)]


def _scores(result: xr.Dataset, found: dict[str, Parser]) -> Iterator[Finding]:
    alone, both, other = found["attention"], found.get("attention_and_words"), best_without(found)
    words = f"{int(result['uas_n_examples']):,} words (without punctuation)"
    text = f"A parser that sees attention alone gives {alone.told} of {words} their syntactic head"
    text += f"; one that also sees words gives {both.told}" if both else ""
    text += f". The best that does not see the model's attention ({other.words}) gives {other.told}."
    yield Finding("Dependency parsing", text)


def _random(found: dict[str, Parser]) -> Iterator[Finding]:
    if "random_attention_and_words" in found:
        alone, both = found["random_attention"], found["random_attention_and_words"]
        yield Finding(
            "What the model learned",
            f"The same parsers over the attention of the same model with random weights: {alone.told} from attention "
            f"alone, {both.told} with words. What lies between is what training of the model has put into attention.",
        )


def _heads(result: xr.Dataset) -> Iterator[Finding]:
    contribution = with_interval(result, "contribution")
    for direction, looks in (
        ("dependent_to_head", "from the dependent to its head"),
        ("head_to_dependent", "from the head to its dependent"),
    ):
        best = strongest(contribution.sel(direction=direction, drop=True))
        yield Finding(
            f"Heads, {looks}",
            f"They raise the score of the syntactic head over another word's the most, in logits: {listed(best[:5])}.",
        )
    values = np.sort(result["contribution"].values[np.isfinite(result["contribution"].values)])[::-1]
    half = int(np.searchsorted(np.cumsum(values), values.sum() / 2)) + 1
    yield Finding(
        "How few do it",
        f"All heads together raise it by {values.sum():.1f} logits on average; {half} of {values.size} heads and "
        f"directions make half of that. n = {int(result['contribution_n_examples']):,} words.",
    )


def _relations(result: xr.Dataset) -> Iterator[Finding]:
    enough = result.sel(relation=result["recall_n_examples"] >= LEAST_CASES)
    if enough.sizes["relation"]:
        recall = enough["recall"].sel(probe="attention")
        order = recall.argsort().values
        number = min(NAMED, (len(order) + 1) // 2)
        best, worst = order[::-1][:number], order[:number]
        yield Finding(
            "Relations",
            f"From attention alone it finds most of {_named(recall, best)}; least of {_named(recall, worst)}. "
            f"{_gained(enough, number)}Relations of at least {LEAST_CASES} words.",
        )


def _gained(result: xr.Dataset, number: int) -> str:
    """The relations that words help to find, where a parser saw words."""
    if "attention_and_words" not in result["probe"]:
        return ""
    gain = result["recall"].sel(probe="attention_and_words") - result["recall"].sel(probe="attention")
    return f"Words help most with {', '.join(result['relation'].values[gain.argsort().values[::-1][:number]])}. "


def _named(recall: xr.DataArray, places: np.ndarray) -> str:
    return ", ".join(f"{name} ({100 * value:.0f}%)" for name, value in zip(*_both(recall, places), strict=True))


def _both(recall: xr.DataArray, places: np.ndarray) -> tuple[list[str], list[float]]:
    part = recall.isel(relation=places)
    return part["relation"].values.tolist(), part.values.tolist()


def _mind(result: xr.Dataset, found: dict[str, Parser]) -> Iterator[Finding]:
    training, attrs = json.loads(result.attrs["training"]), result.attrs
    read = f"{training['sentences']:,} sentences of {training['corpus']}"
    vectors = f"Vectors of words: {attrs['vectors']}, which has {100 * attrs['words_with_vectors']:.0f}% of the words."
    spread = np.nanmax([*(each.std for each in found.values()), -np.inf])
    several = f" Scores are means over {result.sizes['seed']} seeds, which differ by at most {100 * spread:.1f} points"
    seeds = f"{several} (standard deviation)." if np.isfinite(spread) else ""
    yield Finding(
        "Mind",
        f"Parsers were trained on {read}, and scored on {attrs['test_sentences']:,} others; a parser trained on more "
        f"sentences, or tested on other texts, has another score. {vectors}{seeds} That a parser can read trees off "
        "attention does not say that the model uses them.",
    )
