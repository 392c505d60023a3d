"""Findings of `attributions`: which method says best what the model uses."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures.labels import label
from headscope.report.parts import Finding
from headscope.report.wording import agree, number, several
from headscope.studies.attributions.page.summary import NAMES, ChosenLayer, chosen

FAITHFUL = "Most faithful method"


def highlights(result: xr.Dataset) -> list[Finding]:
    """The most faithful method, attention beside it, and the share of special tokens."""
    methods = chosen(result)
    return [
        *_best(methods, str(result.attrs["target"])),
        *_attention(methods),
        *_blank_out(methods),
        *_special_tokens(result),
    ] or findings(result)


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings: the target, each method with intervals, classes of tokens, limits."""
    return [*_target(result), *_scores(result), *_special_tokens(result), *_limits(result)]


def _best(methods: list[ChosenLayer], target: str) -> Iterator[Finding]:
    if methods:
        best, gain = methods[0], methods[0].gains["comprehensiveness"]
        what = target.split(" (")[0]  # without the way in which a text is represented
        clear = "" if gain.is_not(0) else ", which may be chance"
        close = sum(each.gains["comprehensiveness"].value >= gain.lower for each in methods[1:])
        beside = f" {several(close, 'method')} of the others {agree(close, 'is', 'are')} within its 95% interval."
        yield Finding(
            FAITHFUL,
            f"{best.name[:1].upper()}{best.name[1:]}: without its most important tokens the {what} falls by "
            f"{number(gain.value)} more than without random tokens{clear}.{beside}",
        )


def _attention(methods: list[ChosenLayer]) -> Iterator[Finding]:
    for rank, each in enumerate(methods, 1):
        if each.method == "attention" and rank > 1:
            gain = number(each.gains["comprehensiveness"].value)
            text = f"Attention alone (layer {each.layer}) has {gain}, rank {rank} of {len(methods)} methods."
            yield Finding("Attention", text)


def _blank_out(methods: list[ChosenLayer]) -> Iterator[Finding]:
    there = [each for each in methods if np.isfinite(each.scores["rank_correlation"].value)]
    if there:
        top = max(there, key=lambda each: each.scores["rank_correlation"].value)
        value = number(top.scores["rank_correlation"].value)
        yield Finding("Blank-out", f"{NAMES[top.method].capitalize()} agrees best with blank-out (Spearman {value}).")


def _target(result: xr.Dataset) -> Iterator[Finding]:
    blanks = {"mask": "masked", "unknown": "replaced by the unknown token", "hidden": "hidden from all tokens"}
    inputs = int(result["comprehensiveness_n_examples"].max()) if "comprehensiveness" in result else 0
    yield Finding(
        "Target",
        f"{str(result.attrs['target']).capitalize()}. {inputs:,} inputs were scored; blanked tokens are "
        f"{blanks[str(result.attrs['blank'])]}.",
    )


def _scores(result: xr.Dataset) -> Iterator[Finding]:
    for each in chosen(result):
        scores = {name: score.text for name, score in each.scores.items() if np.isfinite(score.value)}
        agreement = f"; rank correlation with blank-out {scores['rank_correlation']}" if len(scores) == 3 else ""
        yield Finding(
            each.name[:1].upper() + each.name[1:],
            f"Comprehensiveness {scores['comprehensiveness']}, {each.gains['comprehensiveness'].signed} to random "
            f"order; sufficiency {scores['sufficiency']}, better by {each.gains['sufficiency'].text}{agreement}. "
            f"n = {each.inputs:,} inputs.",
        )


def _special_tokens(result: xr.Dataset) -> Iterator[Finding]:
    """The special token with the most attention, and its share of what heads move."""
    shares = result["importance_share"].sel(attribution=["attention", "norm"], token_class=["cls", "sep"]).mean("layer")
    attention = shares.sel(attribution="attention").dropna("token_class")
    if attention.size:
        place = str(attention["token_class"][attention.argmax("token_class")].item())
        looked, moved = (float(shares.sel(token_class=place, attribution=name)) for name in ("attention", "norm"))
        yield Finding(
            "Special tokens",
            f"{label('token_class', place)} gets {looked:.0%} of the attention, and {moved:.0%} of the lengths of what "
            "heads move (means over layers).",
        )


def _limits(result: xr.Dataset) -> Iterator[Finding]:
    yield Finding(
        "Limits",
        "An input with blanked tokens is unlike the texts of training, so that a fall of the target is not only the "
        "loss of a token. Methods without a sign cannot tell tokens for the target from tokens against it. Scores of "
        "flow are of fewer inputs.",
    )
