"""Finding of `induction`: the token that gets most attention, and how little heads move from it."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.claims import above
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, agree, listed, measured, n_examples, number, several, strongest
from headscope.studies.induction.page.tables import FOCUS_WORDS

HALF = 0.5


def sinks(result: xr.Dataset) -> Iterator[Finding]:
    """The focus with the most attention beside uniform attention, and the values there."""
    arrays = {name: measured(result, "sink_attention", focus=name) for name in FOCUS_WORDS}
    present = {name: array for name, array in arrays.items() if array is not None}
    if not present:
        return
    most = max(present, key=lambda name: float(present[name].mean()))
    array, uniform = present[most], float(result["sink_share"].sel(focus=most).mean())
    mean, heads, word = _mean(array), int((array > HALF).sum()), FOCUS_WORDS[most]
    gets = "gets" if most == "first" else "get"
    named = f"{word[:1].upper()}{word[1:]} {gets} {mean.value:.0%} of all attention"
    yield Finding.judged(
        above(mean, uniform, (n_examples(array) or (0, 0))[0], least=uniform),
        f"Uniform attention would give {number(uniform)}. {several(heads, 'head')} {agree(heads, 'gives', 'give')} "
        f"more than half; most: {listed(strongest(array)[:3])}.{_moved(result, most, array)}",
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


def _mean(array: xr.DataArray) -> Estimate:
    """The mean over heads; its interval is that of heads that vary together, which is never too narrow."""
    bounds = [float(array[name].mean()) for name in ("lower", "upper") if name in array.coords]
    return Estimate(float(array.mean()), *bounds)
