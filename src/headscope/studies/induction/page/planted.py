"""Finding of `induction`: whether a head finds a pair that is planted in a text, and how long the text may be."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.claims import Claim, paired
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, estimate, number
from headscope.statistics.significance import GAIN


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
