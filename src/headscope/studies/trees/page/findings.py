"""Findings of `trees`: parses of attention alone, beside trees that need no model."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

import xarray as xr

from headscope.report.best_heads.chosen import ARROWS, ChosenHead
from headscope.report.parts import Finding
from headscope.report.shared_findings import beside_random_seeds
from headscope.report.wording import estimate
from headscope.studies.trees.page.tables import (
    BASELINES,
    DISTANCES,
    METRICS,
    ROOTS,
    SPECIAL,
    baseline,
    chosen,
    chosen_phrases,
    direction_of,
    random_scores,
    words_of,
)


def highlights(result: xr.Dataset) -> list[Finding]:
    """Whether a head draws trees and phrases better than what needs no model, and than random weights."""
    return [*_best(result), *_random(result), *_best_phrases(result)]


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings, each with its baseline and interval."""
    return [
        *(finding for metric in METRICS for finding in _scores(result, metric)),
        *_roots(result),
        *_special(result),
        *_means(result),
        *_phrases(result),
        *_limits(result),
    ]


def _best(result: xr.Dataset) -> Iterator[Finding]:
    """The gold root alone would put a random tree above a fixed word, so that trees with their own root are judged."""
    for head in _with_own_root(result):
        other = baseline(result, "uas", "fixed_word").value
        beside = f"; the best fixed word gives {other:.0%}" if isfinite(other) else ""
        share = f"{head.score.value:.0%} of the words their syntactic head"
        yield Finding.judged(
            head.claim,
            f"The spanning tree of head {head.head} ({words_of(head)}) gives {share}{beside}.",
            holds=f"Head {head.head} draws trees better than a fixed word does",
            fails="No head draws trees better than a fixed word does",
            undecided="Too few sentences to tell the trees of a head from those of a fixed word",
            unit="held-out words",
        )


def _with_own_root(result: xr.Dataset) -> list[ChosenHead]:
    return [head for head in chosen(result, "uas") if head.labels["root"] == "best"][:1]


def _random(result: xr.Dataset) -> Iterator[Finding]:
    for head in _with_own_root(result):
        if head.random is not None:
            share = (
                f"{head.random.value:.0%} of the words their syntactic head, head {head.head} {head.score.value:.0%}"
            )
            text = f"With random weights the head chosen alike gives {share}."
            yield beside_random_seeds(
                "Syntax in the attention of single heads",
                head.score,
                random_scores(result, "uas", head),
                head.claim,
                text,
                "held-out words",
            )


def _best_phrases(result: xr.Dataset) -> Iterator[Finding]:
    for head in chosen_phrases(result)[:1]:
        right = estimate(result, "baseline_f1", baseline="right_branching")
        yield Finding.judged(
            head.claim,
            f"Those of head {head.head} have an F1 of {100 * head.score.value:.0f}, those of right-branching trees "
            f"{100 * right.value:.0f}.",
            holds=f"Head {head.head} draws phrases better than right-branching does",
            fails="No head draws phrases better than right-branching does",
            undecided="Too few sentences to tell the phrases of a head from right-branching",
            unit="held-out sentences",
        )


def _scores(result: xr.Dataset, metric: str) -> Iterator[Finding]:
    for head in chosen(result, metric)[:1]:
        simple = {name: baseline(result, metric, name) for name in ("right_branching", "left_branching", "fixed_word")}
        others = ", ".join(
            f"{BASELINES[name]} {score.percent}" for name, score in simple.items() if isfinite(score.value)
        )
        random = "" if head.random is None else f"; a head of random weights, chosen alike, has {head.random.percent}"
        yield Finding(
            METRICS[metric],
            f"Head {head.head} ({_how(head)}) has {head.score.percent} of "
            f"{int(result['chosen_score_n_examples'].max()):,} held-out words, a gain of {head.gain.points} points "
            f"over the best fixed word. Trees without a model: {others or 'not measured'}{random}.",
        )


def _how(tree: ChosenHead) -> str:
    direction = direction_of(tree)
    return words_of(tree) if direction == "both" else f"{direction}, {words_of(tree)}"


def _roots(result: xr.Dataset) -> Iterator[Finding]:
    by_root = {tree.labels["root"]: tree for tree in reversed(chosen(result, "uas"))}
    if {"gold", "best"} <= set(by_root):
        gold, best = by_root["gold"], by_root["best"]
        accuracy = float(result["root_accuracy"].max())
        root = f" No head finds the root of more than {100 * accuracy:.1f}% of the sentences."
        yield Finding(
            "The root",
            f"With the gold root the chosen head ({gold.head}) has a UAS of {gold.score.percent}, without it "
            f"({best.head}) {best.score.percent}.{root if isfinite(accuracy) else ''}",
        )


def _special(result: xr.Dataset) -> Iterator[Finding]:
    by_special = {tree.labels["special_tokens"]: tree for tree in reversed(chosen(result, "uas"))}
    if set(SPECIAL) <= set(by_special):
        kept, without = by_special["kept"], by_special["left_out"]
        yield Finding(
            "Special tokens",
            f"Where special tokens are nodes of the tree the chosen head ({kept.head}) has a UAS of "
            f"{kept.score.percent}, without them ({without.head}) {without.score.percent}: words that look at a "
            "special token have no head among words.",
        )


def _means(result: xr.Dataset) -> Iterator[Finding]:
    layers = result["layer_uas"]
    if bool(layers.notnull().any() and result["model_uas"].notnull().any()):
        best = layers[layers.argmax(...)]
        labels: dict[str, Any] = {str(dim): best[dim].item() for dim in layers.dims if dim != "layer"}
        means = layers.sel(labels)
        how = f"{ARROWS[labels['direction']]}, {ROOTS[labels['root']]}, {SPECIAL[labels['special_tokens']]}"
        yield Finding(
            "Averages of heads",
            f"Mean UAS of the heads of a layer: {100 * float(means.min()):.1f} to {100 * float(means.max()):.1f}% "
            f"({how}); of all heads {100 * float(result['model_uas'].max()):.1f}%. These are scores on all sentences.",
        )


def _phrases(result: xr.Dataset) -> Iterator[Finding]:
    for head in chosen_phrases(result)[:1]:
        others = ", ".join(
            f"{BASELINES[name]} {estimate(result, 'baseline_f1', baseline=name).cell('.1f', 100)[0]}"
            for name in BASELINES
            if name != "fixed_word"
        )
        random = f", head of random weights {head.random.cell('.1f', 100)[0]}" if head.random else ""
        score, bounds = head.score.cell(".1f", 100)
        distance, special = head.labels["distance"], head.labels["special_tokens"]
        yield Finding(
            "Phrases",
            f"Head {head.head} ({DISTANCES[distance]}, {SPECIAL[special]}) has an F1 of {score} [{bounds}] "
            f"on held-out sentences, {head.gain.points} points from right-branching. Trees without a model: "
            f"{others}{random}.",
        )


def _limits(result: xr.Dataset) -> Iterator[Finding]:
    yield Finding(
        "Limits",
        "A spanning tree uses all edges of a head at once: a head with one clear relation may have a poor tree. Heads "
        "were chosen on one half of the inputs and scored on the other; the tables by head have all sentences. Roots "
        "and punctuation are not scored.",
    )
