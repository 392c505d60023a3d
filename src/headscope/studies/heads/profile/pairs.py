"""Findings about pairs of segments: heads that look at the same word in the other one (Kovaleva et al. 2019, 5)."""

import xarray as xr

from headscope.report.claims import above
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import agree, examples, first_of, listed, n_examples, number, several, spread, strongest
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, corrected, q_above

NAMED = 5


def least_gain(numbers: Numbers) -> xr.DataArray:
    """Attention to copies minus the higher of the two baselines, [layer, head]."""
    gain = numbers.array("same_word_gain")
    least = gain.isel(baseline=gain.fillna(float("inf")).argmin("baseline"))
    return least.assign_coords(n_examples=gain["n_examples"].min("baseline"))


def q_of_gain(gain: xr.DataArray) -> xr.DataArray:
    """The false discovery rate at which each head gains on both baselines."""
    q = q_above(gain, 0.0)
    return xr.full_like(gain, 1.0) if q is None else q


def special(gain: xr.DataArray) -> xr.DataArray:
    """Mask of the heads that gain 0.1 or more on both baselines beyond chance, in at least 50 examples."""
    return (gain >= GAIN) & (q_of_gain(gain) < RATE) & (gain["n_examples"] >= LEAST_CASES)


def same_word(numbers: Numbers) -> Finding:
    """The head that gains most, and all that gain enough."""
    gain = least_gain(numbers)
    best, heads = strongest(gain)[0], strongest(gain.where(special(gain)))
    top = gain.isel(gain.fillna(-1).argmax(["layer", "head"]))
    head = {"layer": int(top["layer"]), "head": int(top["head"])}
    copies, apart, others = (
        number(numbers("same_word", word_pair=pair, **head).value) for pair in ("copies", "as_far_apart", "from_others")
    )
    names = first_of([reading.head for reading in heads if reading.value == reading.value], NAMED, ", ")
    count = int(special(gain).sum())
    return Finding.judged(
        above(best.estimate, 0.0, (n_examples(gain) or (0, 0))[0], q=float(q_of_gain(gain).sel(head)), least=GAIN),
        f"A word gives its copy in the other segment {copies} of its attention there; words as far apart give each "
        f"other {apart}, and other words give the copy {others}. {several(count, 'head')} "
        f"{agree(count, 'gains', 'gain')} {GAIN} or more on both ({corrected(q_of_gain(gain), 'heads')})"
        f"{f': {names}' if count else ''}.{examples(gain)}",
        holds=f"Head {best.head} looks at the same word in the other segment",
        fails="No head looks at the same word in the other segment",
        undecided="It cannot be told whether a head looks at the same word in the other segment",
        unit="pairs",
    )


def across(numbers: Numbers) -> Finding:
    """How much attention stays in a segment, and how much goes to the other one."""
    same, different = (numbers.array("segment_attention", segments=name) for name in ("same", "different"))
    heads = [reading for reading in strongest(different.where(different > same)) if reading.value == reading.value]
    more = f"{several(len(heads), 'head')} {agree(len(heads), 'gives', 'give')} the other segment more"
    return Finding(
        "Across segments",
        f"The average head gives the words of a word's own segment {number(float(same.mean()))} of its attention and "
        f"those of the other segment {number(float(different.mean()))}; the rest goes to special tokens. Heads give "
        f"the other segment {spread(different)}. {more}{f': {listed(heads)}' if heads else ''}.{examples(different)}",
    )
