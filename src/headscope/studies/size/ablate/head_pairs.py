"""Sets of heads disabled besides single heads: special heads of other results, and pairs.

Pairs of heads replace each other where both lose together more than the sum of what each loses alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from scipy.stats import norm

from headscope import results
from headscope.errors import HeadscopeError
from headscope.models.heads import existing, name
from headscope.ranges import Range
from headscope.results.variables import PAIRED, Variables
from headscope.statistics.intervals import equal_units, interval, of_differences
from headscope.statistics.significance import benjamini_hochberg
from headscope.studies.size.ablate import STUDY, special_heads
from headscope.studies.size.ablate.gains import Gains
from headscope.studies.size.ablate.special_heads import SpecialHeads
from headscope.studies.size.ablate.variables import Effects

Heads = Bool[np.ndarray, "layer head"]
ALL = "all"


def pairs_of(source: str, counts: tuple[int, ...], most: int, seed: int) -> list[Heads]:
    """Pairs of heads: the most similar ones of a `clusters` result, or those that a seed draws of "all".

    * `counts`: the number of heads of each layer; `most`: the number of pairs.

    Raises `HeadscopeError` for a folder with another result, and for one of a model with other heads.
    """
    coordinates = np.argwhere(existing(counts))
    pairs = np.array(list(combinations(range(len(coordinates)), 2)), dtype=int).reshape(-1, 2)
    if source == ALL:
        order = np.random.default_rng(seed).permutation(len(pairs))
        chosen = pairs[np.sort(order[:most])]
    else:
        distances = _distances(source, counts)
        values = distances[(*coordinates[pairs[:, 0]].T, *coordinates[pairs[:, 1]].T)]
        chosen = pairs[np.argsort(values, kind="stable")[:most]]
    sets = np.zeros((len(chosen), len(counts), max(counts)), dtype=bool)
    for pair, heads in zip(sets, chosen, strict=True):
        pair[tuple(coordinates[heads].T)] = True
    return list(sets)


def _distances(folder: str, counts: tuple[int, ...]) -> Float[np.ndarray, "layer head other_layer other_head"]:
    result = results.read(folder)
    if "divergence" not in result:
        raise HeadscopeError(f"result '{folder}' is not a result of clusters; name one for --pairs, or 'all'")
    distances = result["divergence"].transpose("layer", "head", "other_layer", "other_head").values
    there = existing(counts)
    if distances.shape != there.shape * 2 or not np.array_equal(np.isfinite(np.einsum("lhlh->lh", distances)), there):
        raise HeadscopeError(f"result '{folder}' is of a model with other heads; name another for --pairs")
    return distances


def variables(pairs: Sequence[Heads], both: Gains, single: Gains, counts: tuple[int, ...]) -> dict[str, xr.DataArray]:
    """What the score loses without each pair, and how much more than without each head alone.

    * `both`: gains without the pairs; `single`: without each head of the model, in their order.
    """
    numbers = np.array([np.flatnonzero(pair[existing(counts)]) for pair in pairs])  # [pair, 2]
    excess = single.gains[numbers].sum(1) - both.gains
    draws = single.resampled_gains[:, numbers].sum(2) - both.resampled_gains
    added = Variables(
        {"head_pair": [name(pair, counts) for pair in pairs], "metric": both.metrics},
        STUDY.source,
        STUDY.labels,
        **PAIRED,
    )
    count = len(both.targets)
    added.add("pair_gain", both.gains, interval=both.interval, count=count)
    added.add("pair_excess", excess, interval=_interval(draws, both.units), count=count)
    error = draws.std(0)
    p = np.where(error > 0, norm.sf(excess / np.maximum(error, 1e-12)), 1.0)
    added.add("pair_q_value", np.stack([benjamini_hochberg(column) for column in p.T], axis=-1))
    added.add("mean_pair_excess", excess.mean(0), interval=_interval(draws.mean(1), both.units), count=count)
    return added.arrays


def _interval(draws: Float[np.ndarray, "resample *dims"], units: Sequence[int]) -> Float[np.ndarray, "*dims 2"]:
    """The interval of an excess, the difference of two differences of answers: it reaches from -2 to 2."""
    equal = equal_units(units)
    return 2 * of_differences(interval(draws, equal) / 2, equal)


@dataclass(frozen=True, kw_only=True)
class ComparedHeads:
    """Heads of other results that are disabled together, and pairs of heads.

    * `heads_of`: Folder of a result, such as one of syntax, whose special heads are disabled together, or with :KIND
      those of one kind, as out/profile:same_word, or out/relations:highest, above the 99th percentile; may be repeated.
    * `draws`: Number of random sets of as many heads of the same layers, for each of these results.
    * `pairs`: Folder of a clusters result, whose most similar heads are disabled in pairs; or all, for any pairs.
    * `most_pairs`: Largest number of pairs.
    """

    heads_of: list[str] | None = None
    draws: Annotated[int, Range(1, 1000)] = 50
    pairs: str = ""
    most_pairs: Annotated[int, Range(1, 10_000)] = 60

    def sets(self, counts: tuple[int, ...], seed: int) -> "AskedSets":
        """The sets of heads of a model."""
        special = special_heads.special_heads(self.heads_of or [], counts, self.draws, seed)
        return AskedSets(special, pairs_of(self.pairs, counts, self.most_pairs, seed) if self.pairs else [])


@dataclass(frozen=True)
class AskedSets:
    """Sets disabled besides those that the user names: special heads with random ones, then pairs."""

    special: Sequence[SpecialHeads]
    pairs: Sequence[Heads]

    @property
    def sets(self) -> list[Heads]:
        """All sets in their order."""
        return [*(heads for marked in self.special for heads in marked.sets), *self.pairs]

    def variables(self, outputs: Float[np.ndarray, "set example output"], effects: Effects) -> dict[str, xr.DataArray]:
        """What the score loses without them; `outputs` are those of the sets."""
        arrays: dict[str, xr.DataArray] = {}
        first = len(outputs) - len(self.pairs)
        if self.special:
            arrays |= special_heads.variables(self.special, effects.gains_of(outputs[:first]))
        if self.pairs:
            both = effects.gains_of(outputs[first:])
            arrays |= variables(self.pairs, both, effects.single, effects.heads)
        return arrays
