"""Variables of facts: precision without names that give the answer away, and agreement between wordings."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int

from headscope.corpora.suites import ClozeItem
from headscope.passes import Settings
from headscope.results.variables import Count, Label, Variables
from headscope.studies.cloze.item_scores import ItemScores
from headscope.studies.cloze.variables import NEAR, by_group, grouped

FILTERS = ("no string match", "no name guess")
SHARE = "share of facts"
LABELS = {
    "precision_at_10": Label(f"items whose answer is among the first {NEAR} of the vocabulary", SHARE, ("phenomenon",)),
    "accuracy_by_name_filter": Label(
        "items whose answer comes first, without those that the subject's name gives away",
        SHARE,
        ("phenomenon", "name_filter"),
    ),
    "consistency": Label(
        "pairs of wordings of a fact that have the same best answer of the phenomenon's answers", SHARE, ("phenomenon",)
    ),
    "right_in_all": Label("facts that are right in all wordings", SHARE, ("phenomenon",)),
}


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
    variables = Variables({"phenomenon": phenomena, "name_filter": FILTERS}, "Petroni et al. 2019", LABELS)
    near = np.where(own.rank > 0, own.rank <= NEAR, np.nan)[:, None]
    _add(variables, "precision_at_10", near, group, settings)
    if any(item.subject for item in items):
        right = np.where(own.rank > 0, own.correct, np.nan)
        kept = np.stack([np.where(matched, np.nan, right), np.where(matched | guessed, np.nan, right)], axis=1)
        _add(variables, "accuracy_by_name_filter", kept, group, settings)
    facts = [f"{item.phenomenon} {item.fact}" if item.fact else "" for item in items]
    agreement, in_all = _over_wordings(facts, own)
    if np.isfinite(agreement).any():
        _add(variables, "consistency", agreement[:, None], group, settings)
        _add(variables, "right_in_all", in_all[:, None], group, settings)
    return variables.arrays


def _over_wordings(
    facts: Sequence[str], own: ItemScores
) -> tuple[Float[np.ndarray, " item"], Float[np.ndarray, " item"]]:
    """Agreement of the wordings of a fact, and whether all are right, at its first item; NaN at all others."""
    wordings: dict[str, list[int]] = defaultdict(list)
    for number, fact in enumerate(facts):
        if fact and own.rank[number]:
            wordings[fact].append(number)
    agreement, in_all = np.full(len(facts), np.nan), np.full(len(facts), np.nan)
    for numbers in wordings.values():
        if len(numbers) > 1:
            agreement[numbers[0]] = np.mean([one == other for one, other in combinations(own.choice[numbers], 2)])
            in_all[numbers[0]] = float((own.correct[numbers] == 1).all())
    return agreement, in_all


def _add(
    variables: Variables,
    name: str,
    values: Float[np.ndarray, "item statistic"],
    group: Int[np.ndarray, " item"],
    settings: Settings,
) -> None:
    estimates, label = by_group(values, group, int(group.max()) + 1, settings), LABELS[name]
    column: slice | int = slice(None) if len(label.dims) > 1 else 0
    count = Count(estimates.count[:, column], f"facts of {label.long_name}", "facts", label.dims)
    variables.add(name, estimates.mean[:, column], interval=estimates.interval[:, column], count=count)
