"""Findings of `probe`: dependency parsing from attention, beside its baselines (Clark et al. 2019, section 5)."""

import json
from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.report.parts import Finding
from headscope.report.random_weights import beside_random_weights
from headscope.report.wording import listed, strongest
from headscope.statistics.thresholds import LEAST_CASES
from headscope.studies.probe.page.summary import SEES_ATTENTION, Parser, best_without, parsers

NAMED = 6


def highlights(result: xr.Dataset) -> list[Finding]:
    """The parser that sees attention alone, beside the best baseline, random weights and the main heads."""
    every = parsers(result)
    heads = ", ".join(reading.head for reading in strongest(with_interval(result, "contribution").max("direction"))[:3])
    most = Finding(f"Heads {heads} contribute most", "They raise the score of the right word the most.")
    return [*_alone(every), *_both(every), *([most] if heads else [])]


def _alone(every: dict[str, Parser]) -> Iterator[Finding]:
    """The parser that sees attention alone, beside the best baseline and random weights."""
    if alone := every.get("attention"):
        other, random = best_without(every), every.get("random_attention")
        topic = f"Attention alone finds {alone.uas.value:.0%} of the syntactic heads"
        base = f"(from {other.words}) finds {other.uas.value:.0%}" if other else "was not scored"
        yield Finding(topic, f"The best parser without the attention of the model {base}.")
        if random:
            text = f"With random weights of the model the same parser finds {random.uas.value:.0%}."
            yield beside_random_weights(alone.uas, random.uas, text)


def _both(every: dict[str, Parser]) -> Iterator[Finding]:
    if both := every.get("attention_and_words"):
        text = f"A parser that sees both finds {both.uas.value:.0%} of the syntactic heads."
        yield Finding("Words complete attention", text)


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings: scores beside baselines, the main heads, and the recall of relations."""
    every = parsers(result)
    return [*_scores(result, every), *_random(every), *_heads(result), *_relations(result), *_limits(result, every)]


def _scores(result: xr.Dataset, every: dict[str, Parser]) -> Iterator[Finding]:
    alone, both, other = every.get("attention"), every.get("attention_and_words"), best_without(every)
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


def _random(every: dict[str, Parser]) -> Iterator[Finding]:
    if {"random_attention", "random_attention_and_words"} <= set(every):
        alone, both = every["random_attention"], every["random_attention_and_words"]
        yield Finding(
            "Beside random weights",
            f"The same parsers over the attention of the same model with random weights: {alone.uas.percent} from "
            f"attention alone, {both.uas.percent} with words.",
        )


def _heads(result: xr.Dataset) -> Iterator[Finding]:
    contribution = with_interval(result, "contribution")
    for direction, looks in (
        ("dependent_to_head", "from the dependent to its head"),
        ("head_to_dependent", "from the head to its dependent"),
    ):
        if not (best := strongest(contribution.sel(direction=direction, drop=True))):
            continue
        yield Finding(
            f"Heads, {looks}",
            f"Largest rise of the score of the syntactic head over that of another word, in logits: "
            f"{listed(best[:5])}.",
        )
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
    return f"Words help most with {', '.join(result['relation'].values[gain.argsort().values[::-1][:number]])}. "


def _named(recall: xr.DataArray, places: np.ndarray) -> str:
    return ", ".join(
        f"{name} ({100 * value:.0f}%)" for name, value in zip(*_names_and_values(recall, places), strict=True)
    )


def _names_and_values(recall: xr.DataArray, places: np.ndarray) -> tuple[list[str], list[float]]:
    part = recall.isel(relation=places)
    return part["relation"].values.tolist(), part.values.tolist()


def _limits(result: xr.Dataset, every: dict[str, Parser]) -> Iterator[Finding]:
    training, attrs = json.loads(result.attrs["training"]), result.attrs
    read = f"{training['sentences']:,} sentences of {training['corpus']}"
    vectors = f"Vectors of words: {attrs['vectors']}, with {100 * attrs['words_with_vectors']:.0f}% of the words."
    spread = np.nanmax([*(each.std for each in every.values()), -np.inf])
    several = f" Scores are means over {result.sizes['seed']} seeds, which differ by at most {100 * spread:.1f} points"
    seeds = f"{several} (standard deviation)." if np.isfinite(spread) else ""
    yield Finding(
        "Limits",
        f"Parsers were trained on {read}, and scored on {attrs['test_sentences']:,} others. Scores depend on the "
        f"number of training sentences and on the text. {vectors}{seeds} A tree in the "
        "attention is no evidence that the model uses it.",
    )
