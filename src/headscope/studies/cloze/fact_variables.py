"""Variables of facts: precision without names that give the answer away, and agreement between wordings."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int

from headscope.corpora.suites import ClozeItem
from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.studies.cloze.item_scores import ItemScores
from headscope.studies.cloze.variables import NEAR, by_group, grouped

FILTERS = ("no string match", "no name guess")
SHARE = "share of facts"


def fact_variables(
    items: Sequence[ClozeItem],
    own: ItemScores,
    matched: Bool[np.ndarray, " item"],
    guessed: Bool[np.ndarray, " item"],
    settings: Settings,
) -> dict[str, xr.DataArray]:
    """The variables of items whose answer is ranked in the vocabulary; none without such items.

    * `matched`, `guessed`: facts whose answer is a part of the subject's name, or is guessed from the name alone.
    """
    if not own.rank.any():
        return {}
    phenomena, group = grouped([item.phenomenon for item in items])
    variables = Variables({"phenomenon": phenomena, "name_filter": FILTERS}, "Petroni et al. 2019")
    near = np.where(own.rank > 0, own.rank <= NEAR, np.nan)[:, None]
    long_name = f"items whose answer is among the first {NEAR} of the vocabulary"
    _add(variables, "precision_at_10", near, group, long_name, settings)
    if any(item.subject for item in items):
        right = np.where(own.rank > 0, own.correct, np.nan)
        kept = np.stack([np.where(matched, np.nan, right), np.where(matched | guessed, np.nan, right)], axis=1)
        long_name = "items whose answer comes first, without those that the subject's name gives away"
        _add(variables, "accuracy_by_name_filter", kept, group, long_name, settings, ("name_filter",))
    facts = [f"{item.phenomenon} {item.fact}" if item.fact else "" for item in items]
    agreement, every = _over_wordings(facts, own)
    if np.isfinite(agreement).any():
        long_name = "pairs of wordings of a fact that have the same best answer of the phenomenon's answers"
        _add(variables, "consistency", agreement[:, None], group, long_name, settings)
        _add(variables, "right_in_all", every[:, None], group, "facts that are right in all wordings", settings)
    return variables.arrays


def _over_wordings(
    facts: Sequence[str], own: ItemScores
) -> tuple[Float[np.ndarray, " item"], Float[np.ndarray, " item"]]:
    """Agreement of the wordings of a fact, and whether all are right, at its first item; NaN at all others."""
    wordings: dict[str, list[int]] = defaultdict(list)
    for number, fact in enumerate(facts):
        if fact and own.rank[number]:
            wordings[fact].append(number)
    agreement, every = np.full(len(facts), np.nan), np.full(len(facts), np.nan)
    for numbers in wordings.values():
        if len(numbers) > 1:
            agreement[numbers[0]] = np.mean([one == other for one, other in combinations(own.choice[numbers], 2)])
            every[numbers[0]] = float((own.correct[numbers] == 1).all())
    return agreement, every


def _add(
    variables: Variables,
    name: str,
    values: Float[np.ndarray, "item statistic"],
    group: Int[np.ndarray, " item"],
    long_name: str,
    settings: Settings,
    dims: tuple[str, ...] = (),
) -> None:
    estimates = by_group(values, group, int(group.max()) + 1, settings)
    column: slice | int = slice(None) if dims else 0
    variables.add(
        name,
        estimates.mean[:, column],
        ("phenomenon", *dims),
        long_name=long_name,
        units=SHARE,
        interval=estimates.interval[:, column],
        count=Count(estimates.count[:, column], f"facts of {long_name}", "facts", ("phenomenon", *dims)),
    )
