"""Findings of `attributions`: which method says best what the model uses."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures.labels import label
from headscope.report.claims import Claim, together, witness
from headscope.report.parts import Finding
from headscope.report.wording import agree, number, rate, several
from headscope.studies.attributions.page import altered_attention
from headscope.studies.attributions.page.tables import NAMES, ChosenLayer, chosen, leader


def highlights(result: xr.Dataset) -> list[Finding]:
    """What methods find beyond chance, the most faithful one, attention beside it and altered, and special tokens."""
    methods = chosen(result)
    return [
        *_above_random(methods, str(result.attrs["target"])),
        *_most_faithful(methods),
        *_attention(methods),
        *_blank_out(methods),
        *altered_attention.altered(result),
        *_special_tokens(result),
    ] or findings(result)


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings: the target, each method with intervals, classes of tokens, limits."""
    explained = [*altered_attention.altered(result), *altered_attention.more(result)]
    return [*_target(result), *_scores(result), *explained, *_special_tokens(result), *_limits(result)]


def _above_random(methods: list[ChosenLayer], target: str) -> Iterator[Finding]:
    """How many methods beat random order, by the one that is surest."""
    gains = [method.gains["comprehensiveness"] for method in methods]
    if not gains:
        return
    scores = [method.scores["comprehensiveness"].value for method in methods]
    claims = together(
        [
            Claim(score, score - gain.value, gain, method.inputs)
            for score, gain, method in zip(scores, gains, methods, strict=True)
        ]
    )
    count = sum(claim.verdict == "holds" for claim in claims)
    at = witness(claims)
    first, claim = methods[at], claims[at]
    what = target.split(" (")[0]  # without the way in which a text is represented
    yield Finding.judged(
        claim,
        f"{_upper(first)}: without its most important tokens the {what} falls by {claim.difference.text} more than "
        f"without random tokens (q {rate(claim.q)}, Benjamini-Hochberg over {len(claims)} methods).",
        holds=f"{several(count, 'method')} of {len(methods)} {agree(count, 'finds', 'find')} what the target needs",
        fails="No method finds what the target needs better than random order does",
        undecided="It cannot be told whether a method does better than random order",
        unit="inputs",
    )


def _most_faithful(methods: list[ChosenLayer]) -> Iterator[Finding]:
    """The method that one half of the inputs chooses, beside the one on the other half that is nearest to it."""
    if (first := leader(methods)) is None:
        return
    others = [method for method in methods if method is not first]
    nearest = min(others, key=lambda method: method.lead.lower)
    claim = _lead(first, nearest)
    close = [NAMES[method.method] for method in others if not method.lead.lower > 0]
    yield Finding.judged(
        claim,
        f"{_upper(first)}, has most comprehensiveness on one half of the inputs. On the other half it has "
        f"{claim.difference.signed} beside {nearest.name}."
        + (f" It cannot be told from: {', '.join(close)}." if close and claim.verdict == "undecided" else ""),
        holds=f"{NAMES[first.method].capitalize()} is the most faithful method",
        fails="No method is the most faithful on both halves of the inputs",
        undecided="The most faithful methods could not be told apart",
        unit="inputs",
    )


def _attention(methods: list[ChosenLayer]) -> Iterator[Finding]:
    """Attention beside the method that one half of the inputs chooses."""
    attention, first = next((method for method in methods if method.method == "attention"), None), leader(methods)
    if attention is None or attention is first:
        return
    text = f"Comprehensiveness of {attention.name}: {attention.gains['comprehensiveness'].signed} to random order"
    if first is None:
        yield Finding("Attention", f"{text}.")
        return
    yield Finding.judged(
        _lead(first, attention),
        f"{text}, and {attention.lead.text} less than {first.name}.",
        holds=f"Attention is less faithful than {NAMES[first.method]}",
        fails=f"Attention is as faithful as {NAMES[first.method]}",
        undecided=f"Attention and {NAMES[first.method]} could not be told apart",
        unit="inputs",
    )


def _lead(first: ChosenLayer, other: ChosenLayer) -> Claim:
    score, beside = (method.scores["comprehensiveness"].value for method in (first, other))
    return Claim(score, beside, other.lead, other.both)


def _blank_out(methods: list[ChosenLayer]) -> Iterator[Finding]:
    there = [method for method in methods if np.isfinite(method.scores["rank_correlation"].value)]
    if there:
        ends = [f(there, key=lambda method: method.scores["rank_correlation"].value) for f in (min, max)]
        texts = [f"{number(method.scores['rank_correlation'].value)} ({method.name})" for method in ends]
        yield Finding("Blank-out", f"Spearman correlations of importance with blank-out: from {' to '.join(texts)}.")


def _upper(method: ChosenLayer) -> str:
    return method.name[:1].upper() + method.name[1:]


def _target(result: xr.Dataset) -> Iterator[Finding]:
    blanks = {"mask": "masked", "unknown": "replaced by the unknown token", "hidden": "hidden from all tokens"}
    inputs = int(result["comprehensiveness_n_examples"].max()) if "comprehensiveness" in result else 0
    yield Finding(
        "Target",
        f"{str(result.attrs['target']).capitalize()}. {inputs:,} inputs were scored; blanked tokens are "
        f"{blanks[str(result.attrs['blank'])]}.",
    )


def _scores(result: xr.Dataset) -> Iterator[Finding]:
    for method in chosen(result):
        scores = {name: score.text for name, score in method.scores.items() if np.isfinite(score.value)}
        agreement = f"; rank correlation with blank-out {scores['rank_correlation']}" if len(scores) == 3 else ""
        yield Finding(
            _upper(method),
            f"Comprehensiveness {scores['comprehensiveness']}, {method.gains['comprehensiveness'].signed} to random "
            f"order; sufficiency {scores['sufficiency']}, better by {method.gains['sufficiency'].text}{agreement}. "
            f"n = {method.inputs:,} inputs.",
        )


def _special_tokens(result: xr.Dataset) -> Iterator[Finding]:
    """The special token with the most attention, and its share of what heads move."""
    shares = result["importance_share"].sel(attribution=["attention", "norm"], token_class=["cls", "sep"]).mean("layer")
    attention = shares.sel(attribution="attention").dropna("token_class")
    if attention.size:
        token = str(attention["token_class"][attention.argmax("token_class")].item())
        looked, moved = (float(shares.sel(token_class=token, attribution=name)) for name in ("attention", "norm"))
        yield Finding(
            "Special tokens",
            f"{label('token_class', token)} gets {looked:.0%} of the attention, and {moved:.0%} of the lengths of what "
            "heads move (means over layers).",
        )


def _limits(result: xr.Dataset) -> Iterator[Finding]:
    yield Finding(
        "Limits",
        "An input with blanked tokens is unlike the texts of training, so that a fall of the target is not only the "
        "loss of a token. Methods without a sign cannot tell tokens for the target from tokens against it. Scores of "
        "flow are of fewer inputs.",
    )
