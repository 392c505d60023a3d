"""Kinds of heads that stay in a smaller model, by other results, beside random heads of the same layers.

After Voita et al. 2019, section 5: the heads that gates keep are positional, syntactic or for rare words.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from scipy.stats import hypergeom

from headscope import results
from headscope.errors import HeadscopeError
from headscope.models.heads import existing
from headscope.report.kinds import head_kinds
from headscope.results.variables import Variables
from headscope.statistics.significance import benjamini_hochberg
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.original import Original

Heads = Bool[np.ndarray, "layer head"]
# By which kinds of the atlas heads are of each kind here.
KINDS = {
    "positional": ("previous", "next", "diagonal"),
    "syntactic": ("relation",),
    "semantic": ("link",),
    "rare words": ("rare",),
}
# Those of the paper, together, where all three are measured.
PAPER, ANY = ("positional", "syntactic", "rare words"), "positional, syntactic or rare words"
# Quantiles of random choices between which 95% of them lie.
TAILS = 0.025, 0.975
REMEDY = "add --fine, and heads to --parts"


def variables(marked: Mapping[str, Heads], stays: Heads, counts: tuple[int, ...]) -> dict[str, xr.DataArray]:
    """How many of the heads that stay are of each kind, beside what random choices have; nothing without kinds.

    The lower bound of the excess is what it is beyond the 97.5% quantile of random choices: above 0 where at most
    2.5% of them have as many. The upper one is 0 or less where fewer than 2.5% of them have as few.

    * `marked`: heads by kind; `stays`: the heads that stay; `counts`: the number of heads of each layer of the model.
    """
    if not marked:
        return {}
    kept, rows = int(stays.sum()), []
    for heads in marked.values():
        number_kept, chances = int((stays & heads).sum()), by_chance(stays, heads, counts)
        expected = float(chances @ np.arange(len(chances)))
        low, high = (int(np.searchsorted(chances.cumsum(), tail)) for tail in TAILS)
        beyond = [number_kept, expected, number_kept - expected, number_kept - high, number_kept - low + 1]
        rows.append([heads.sum(), *(number / kept for number in beyond), chances[number_kept:].sum()])
    number, share, random, excess, lower, upper, p = np.array(rows).T
    bounds = "bounds by 95% of random choices of the"
    added = Variables({"head_kind": [*marked]}, STUDY.source, STUDY.labels, interval=bounds)
    added.add("kind_heads", number)
    added.add("kept_kind_share", share)
    added.add("random_kind_share", random)
    added.add("kept_kind_excess", excess, interval=np.stack([lower, upper], axis=1), count=sum(counts))
    added.add("kept_kind_p_value", np.minimum(p, 1))
    added.add("kept_kind_q_value", benjamini_hochberg(np.minimum(p, 1)))
    return added.arrays


def by_chance(stays: Heads, marked: Heads, counts: Sequence[int]) -> Float[np.ndarray, " number"]:
    """The probability of each number of marked heads among random ones, equally many of each layer.

    The sum of the hypergeometric numbers of all layers; the first is the probability of none.

    >>> stays, marked = np.array([[True, False]]), np.array([[False, True]])
    >>> by_chance(stays, marked, [2])
    array([0.5, 0.5])
    """
    chances = np.ones(1)
    for number, kept, number_of_kind in zip(counts, stays.sum(1), marked.sum(1), strict=True):
        most = min(kept, number_of_kind)
        chances = np.convolve(chances, hypergeom.pmf(np.arange(most + 1), number, number_of_kind, kept))
    return chances


def kinds_of_heads(folders: Sequence[str], original: Original) -> dict[str, Heads]:
    """The heads of the kinds that the results in some folders measure, in the order of `KINDS`, then of `PAPER`.

    Raises `HeadscopeError` for a model that keeps all of its heads, for a result that measures no kind of heads, and
    for one of a model with other heads.
    """
    if not folders:
        return {}
    counts = original.model.capture.heads
    if not (original.parts.heads and "heads" in original.kinds):
        raise HeadscopeError(
            f"model '{original.model.name}' keeps all heads, so --heads-of has none to compare; {REMEDY}"
        )
    marked: dict[str, Heads] = {}
    for folder in dict.fromkeys(folders):
        result = results.read(folder)
        kinds = measured_kinds(result)
        if not kinds:
            raise HeadscopeError(
                f"result '{folder}' of {result.attrs['study']} measures no kind of heads; "
                "name one of profile, syntax, relations or patterns"
            )
        heads = _heads(result, folder, counts)
        for kind in kinds:
            marked[kind] = marked.get(kind, np.zeros_like(existing(counts))) | heads[kind]
    ordered = {kind: marked[kind] for kind in KINDS if kind in marked}
    if set(PAPER) <= set(ordered):
        ordered[ANY] = np.logical_or.reduce([ordered[kind] for kind in PAPER])
    return ordered


def measured_kinds(result: xr.Dataset) -> list[str]:
    """The kinds that a result measures, whether a head is of them or not."""
    study = result.attrs["study"]
    measured = {
        "positional": "attention_offset" in result or study == "patterns",
        "syntactic": study == "syntax",
        "semantic": study == "relations",
        "rare words": "frequency_correlation" in result,
    }
    return [kind for kind in KINDS if measured[kind]]


def _heads(result: xr.Dataset, folder: str, counts: tuple[int, ...]) -> dict[str, Heads]:
    """The heads of a result by kind."""
    there = existing(counts)
    by_kind = {kind: np.zeros_like(there) for kind in KINDS}
    if dict(result.sizes).get("layer") != len(counts) or dict(result.sizes).get("head") != max(counts):
        raise HeadscopeError(f"result '{folder}' is of a model with other heads; name a result of this model")
    for (layer, head), kinds in head_kinds([result]).items():
        for kind, names in KINDS.items():
            by_kind[kind][layer - 1, head - 1] |= any(kind_of_head.kind in names for kind_of_head in kinds)
    return by_kind
