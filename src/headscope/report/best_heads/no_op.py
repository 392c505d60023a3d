"""Whether chosen heads look at special tokens where their function does not apply (Clark et al. 2019, section 3.2)."""

from collections.abc import Iterator, Mapping, Sequence

import xarray as xr

from headscope.report.best_heads.chosen import ChosenHead
from headscope.report.claims import Claim, above, weakest, witness
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, agree, estimate, first_of, rate, several
from headscope.statistics.significance import GAIN, RATE

NAMED, HALF = 4, 0.5


def no_op(result: xr.Dataset, heads: Sequence[ChosenHead], words: Mapping[str, str] | None = None) -> Iterator[Finding]:
    """The special head that looks most at special tokens where there is nothing to do, and how many others do.

    It does so if other words give special tokens 0.1 more than those to which its function applies, beyond chance, and
    more than half of their attention.

    * `heads`: the chosen heads; those that are not special for their function have none that could not apply.
    * `words`: for the title, what a function is; by default its name.
    """
    claims = [(head, claim) for head in heads if head.special and (claim := _claim(result, head))]
    if not claims:
        return
    best, claim = claims[witness([claim for _, claim in claims])]
    applies, otherwise = (_share(result, f"sink_{name}", best).value for name in ("applies", "otherwise"))
    sure = [f"{head.head} ({head.name})" for head, claim in claims if claim.verdict == "holds"]
    which = f": {first_of(sure, NAMED, ', ')}" if sure else ""
    yield Finding.judged(
        claim,
        f"From words to which it applies it gives special tokens {applies:.0%} of its attention, from other words "
        f"of the same sentences {otherwise:.0%}: {_share(result, 'sink_gain', best).points} points more. Of "
        f"{len(claims)} chosen heads with a function {several(len(sure), 'head').lower()} "
        f"{agree(len(sure), 'gives', 'give')} them more than half, and {GAIN} more than where it applies "
        f"(q < {RATE}){which}. n = {claim.n:,} inputs that did not choose it.",
        holds=f"Head {best.head} looks at special tokens where there is no {(words or {}).get(best.name, best.name)}",
        fails="No chosen head looks at special tokens where its function does not apply",
        undecided="It cannot be told whether heads look at special tokens where their function does not apply",
        unit="inputs",
    )


def sink_of_head(result: xr.Dataset, heads: Sequence[ChosenHead]) -> Iterator[Finding]:
    """What the card of a head says: its functions, each with attention to special tokens with and without it."""
    texts = [
        f"{head.name}: {_share(result, 'sink_applies', head).text} where it applies, "
        f"{_share(result, 'sink_otherwise', head).text} elsewhere (q = {rate(_rate(result, head))})"
        for head in heads
        if _claim(result, head)
    ]
    if texts:
        yield Finding("Special tokens without a function", f"Attention to them: {'; '.join(texts)}.")


def _claim(result: xr.Dataset, head: ChosenHead) -> Claim | None:
    if "sink_gain" not in result:
        return None
    gain = _share(result, "sink_gain", head)
    if not gain.tested:
        return None
    n, otherwise = int(result["sink_gain_n_examples"].sel(head.labels)), _share(result, "sink_otherwise", head)
    more = Claim(otherwise.value, otherwise.value - gain.value, gain, n, _rate(result, head), GAIN)
    # Words that look at all tokens alike give special tokens something, too.
    return weakest([more, above(otherwise, HALF, n)])


def _share(result: xr.Dataset, name: str, head: ChosenHead) -> Estimate:
    return estimate(result, name, **head.labels)


def _rate(result: xr.Dataset, head: ChosenHead) -> float:
    return float(result["sink_q_value"].sel(head.labels))
