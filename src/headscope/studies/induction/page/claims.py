"""Claims of `induction`: the token that gets most attention, and the head that finds a planted pair."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.claims import Claim, above, paired, together, witness
from headscope.report.parts import Finding
from headscope.report.wording import (
    Estimate,
    agree,
    estimate,
    listed,
    mean_of_heads,
    measured,
    n_examples,
    number,
    several,
    strongest,
)
from headscope.statistics.significance import GAIN
from headscope.studies.induction.page.tables import FOCUS_WORDS

HALF = 0.5


def sinks(result: xr.Dataset) -> Iterator[Finding]:
    """The focus with the most attention beside uniform attention, and the values there."""
    arrays = {name: measured(result, "sink_attention", focus=name) for name in FOCUS_WORDS}
    present = {name: array for name, array in arrays.items() if array is not None}
    if not present:
        return
    uniform = {name: float(result["sink_share"].sel(focus=name).mean()) for name in present}
    means = {name: mean_of_heads(array) for name, array in present.items()}
    n = {name: (n_examples(array) or (0, 0))[0] for name, array in present.items()}
    claims = together([above(means[name], uniform[name], n[name], least=uniform[name]) for name in present])
    most = list(present)[at := witness(claims)]
    array, heads, word = present[most], int((present[most] > HALF).sum()), FOCUS_WORDS[most]
    gets = "gets" if most == "first" else "get"
    named = f"{word[:1].upper()}{word[1:]} {gets} {means[most].value:.0%} of all attention"
    yield Finding.judged(
        claims[at],
        f"Uniform attention would give {number(uniform[most])}. {several(heads, 'head')} "
        f"{agree(heads, 'gives', 'give')} more than half; most: {listed(strongest(array)[:3])}."
        f"{_moved(result, most, array)}",
        holds=f"{named}, a sink",
        fails="No token is a sink of attention",
        undecided=f"{named}, perhaps no more than other tokens",
        unit="sequences",
    )


def _moved(result: xr.Dataset, focus: str, attention: xr.DataArray) -> str:
    """The length of what is moved from the sink, of the heads that give it more than half."""
    norms = measured(result, "value_norm", focus=focus)
    if norms is None:
        return ""
    some = attention > HALF
    median, whose = (norms.where(some), "these heads") if bool(some.any()) else (norms, "heads")
    share = number(float(median.median()))
    return f" What {whose} move from there is {share} times as long as what they move from other tokens."


def planted(result: xr.Dataset) -> Iterator[Finding]:
    """The head that was chosen for the longest text in which one surely finds the pair, else for the shortest."""
    contexts = [int(one) for one in result["context"] if bool(result["finder_layer"].sel(context=one).notnull())]
    if not contexts:
        return
    claims = {context: _claim(result, context) for context in contexts}
    sure = [context for context in contexts if claims[context].verdict == "holds"]
    context = max(sure) if sure else min(contexts)
    head = head_name(*(int(result[f"finder_{name}"].sel(context=context)) for name in ("layer", "head")))
    gain = claims[context].difference
    texts = int(result["finder_mean_gain_n_examples"].sel(context=context))
    yield Finding.judged(
        claims[context],
        f"From the last of {context:,} random tokens it gives the token behind the only earlier copy {gain.text} "
        f"more of its attention than without the copy, over all depths. {_by_length(result, contexts)} n = {texts} "
        "texts of each length that did not choose it.",
        holds=f"Head {head} finds what followed a token anywhere in {context:,} tokens",
        fails="No head finds what followed a token far back",
        undecided="It cannot be told whether a head finds what followed a token far back",
        unit="texts of each length",
    )


def _claim(result: xr.Dataset, context: int) -> Claim:
    """The gain over all depths, on the texts that did not choose the head."""
    gain = estimate(result, "finder_mean_gain", context=context)
    texts = int(result["finder_mean_gain_n_examples"].sel(context=context))
    head = {name: int(result[f"finder_{name}"].sel(context=context)) for name in ("layer", "head")}
    control = float(result["planted_control"].sel(head | {"context": context}).mean())
    return paired(Estimate(control + gain.value), Estimate(control), gain, texts, GAIN)


def _by_length(result: xr.Dataset, contexts: list[int]) -> str:
    gains = {context: result["finder_gain"].sel(context=context) for context in contexts}
    texts = (
        f"{context:,} tokens {number(float(one.min()))} to {number(float(one.max()))}" for context, one in gains.items()
    )
    return f"Gains of the best heads from their worst depth to their best: {'; '.join(texts)}."
