"""Findings of `induction`: heads that look at earlier copies, at sinks and far back, and heads that copy."""

import json
from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.claims import Claim, above, paired
from headscope.report.parts import Finding
from headscope.report.wording import (
    Estimate,
    agree,
    estimate,
    layers_named,
    listed,
    measured,
    n_examples,
    number,
    of_array,
    several,
    spread,
    strongest,
)
from headscope.statistics.significance import GAIN, RATE
from headscope.studies.induction.page.claims import planted, sinks
from headscope.studies.induction.page.tables import WORDS, chosen_head, special_count

# A head mostly looks at the previous token from here on, as in `profile`.
HALF = 0.5
# A head copies if it raises a token's own logit above the mean for so many of the tokens.
COPIES = 0.75
NAMED = 3


def highlights(result: xr.Dataset) -> list[Finding]:
    """Induction and duplicate-token heads, retrieval, copying and sinks."""
    repeats = [finding for name in ("induction", "duplicate") for finding in _relation(result, name)]
    return [*repeats, *planted(result), *_copying(result), *sinks(result)]


def no_claim(result: xr.Dataset) -> Finding:
    """What is said first where no claim holds."""
    text = "That one does so, copies, finds a planted pair, or has a sink is not shown."
    return Finding("No head surely follows repetitions", text)


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings."""
    repeats = [finding for name in WORDS for finding in _relation(result, name)]
    natural = [finding for name in WORDS for finding in _natural(result, name)]
    others = [*planted(result), *_copying(result), *sinks(result), *_windows(result)]
    return [*repeats, *natural, *others, *_left_out(result)]


def _relation(result: xr.Dataset, relation: str) -> Iterator[Finding]:
    """The chosen head of a relation, on the half that did not choose it."""
    head = chosen_head(result, relation)
    if not head:
        return
    attention, control, gain = (
        estimate(result, f"chosen_{name}", relation=relation) for name in ("attention", "control", "gain")
    )
    cases = int(result["chosen_attention_n_examples"].sel(relation=relation))
    count, where = special_count(result, relation) or 0, WORDS[relation]
    yield Finding.judged(
        _claim(relation, attention, control, gain, cases),
        f"It gives {where} {attention.text} of its attention; {_beside(relation)} it would be {number(control.value)}. "
        f"{several(count, 'head')} {agree(count, 'gains', 'gain')} {GAIN} or more beyond chance (q < {RATE}). "
        f"n = {cases:,} tokens of sequences that did not choose it.",
        holds=f"Head {head} looks at {where}",
        fails=f"No head looks at {where}",
        undecided=f"It cannot be told whether a head looks at {where}",
        unit="tokens of sequences",
    )


def _claim(relation: str, attention: Estimate, control: Estimate, gain: Estimate, cases: int) -> Claim:
    """A gain of 0.1; of the previous token, of which any model with positions may have some, half of the attention."""
    return above(attention, HALF, cases) if relation == "previous" else paired(attention, control, gain, cases, GAIN)


def _beside(relation: str) -> str:
    return "of uniform attention" if relation == "previous" else "at the same places without the repetition"


def _natural(result: xr.Dataset, relation: str) -> Iterator[Finding]:
    """The heads that follow the repetitions of the corpus."""
    gain, count = measured(result, "natural_gain", relation=relation), special_count(result, relation, "natural_")
    if gain is None or count is None:
        return
    tokens = (n_examples(gain) or (0, 0))[1]
    other = "uniform attention" if relation == "previous" else "pairs of tokens of the same distances"
    yield Finding(
        f"In the corpus: {WORDS[relation]}",
        f"{several(count, 'head')} of {int(gain.notnull().sum())} {agree(count, 'gives', 'give')} it at least {GAIN} "
        f"more than {other}. Gains: {spread(gain)}. n = {tokens:,} tokens.",
    )


def _copying(result: xr.Dataset) -> Iterator[Finding]:
    """The heads whose circuit raises the logit of what they look at."""
    copying, q = measured(result, "copying"), measured(result, "copying_q_value")
    if copying is None or q is None:
        return
    sure = copying.where((q < RATE) & (copying >= COPIES))
    heads = [reading for reading in strongest(sure) if reading.value == reading.value]
    best = (sure if heads else copying).fillna(-1).argmax(["layer", "head"])
    tokens = (n_examples(copying) or (0, 0))[1]
    eigenvalues, most = result["copying_eigenvalues"].isel(best), result["copying_most"].isel(best)
    name = head_name(int(copying["layer"][best["layer"]]), int(copying["head"][best["head"]]))
    yield Finding.judged(
        above(of_array(copying.isel(best)), COPIES, tokens, q=float(q.isel(best))),
        f"Head {name}: what it writes where it looks at a token raises the token's own logit above the mean for "
        f"{float(copying.isel(best)):.0%} of {tokens:,} tokens, and more than all others for {float(most):.0%}; its "
        f"eigenvalues add up to {number(float(eigenvalues))} of their absolute values. {several(len(heads), 'head')} "
        f"{agree(len(heads), 'does', 'do')} so for {COPIES:.0%} or more (q < {RATE} against what it writes turned at "
        "random).",
        holds=f"{several(len(heads), 'head')} {agree(len(heads), 'copies', 'copy')} the token looked at",
        fails="No head copies the token it looks at",
        undecided="It cannot be told whether a head copies the token it looks at",
        unit="tokens",
    )


def _windows(result: xr.Dataset) -> Iterator[Finding]:
    """Local layers, by the configuration and by attention; how far heads look."""
    back, possible = result["farthest_back"], int(result["farthest_possible"])
    window = result["window"] if "window" in result else back.where(back < 0)
    farthest = xr.concat([back, result["farthest_forward"]], "side").max("side")
    expected = window.fillna(possible).clip(max=possible)
    distance = measured(result, "mean_distance")
    mean = "" if distance is None else f" Farthest on average: {listed(strongest(distance)[:NAMED])} tokens."
    odd = [int(layer) for layer in back["layer"].values[(farthest != expected).values]]
    agreed = f"not as the configuration says in {layers_named(odd)}" if odd else "as the configuration says"
    local = [int(layer) for layer in back["layer"].values[window.notnull().values]]
    seen = f"{layers_named(local).capitalize()} see {_windows_of(window)} tokens far" if local else "No layer is local"
    text = f"{seen}; in {possible + 1:,} tokens attention reaches {agreed}.{mean}"
    yield Finding("Local and global layers", text)


def _windows_of(window: xr.DataArray) -> str:
    return ", ".join(f"{value:,.0f}" for value in sorted(set(window.dropna("layer").values.tolist())))


def _left_out(result: xr.Dataset) -> Iterator[Finding]:
    for what, reason in json.loads(result.attrs.get("left_out", "{}")).items():
        yield Finding(f"Not measured: {what}", f"{reason[:1].upper()}{reason[1:]}.")
