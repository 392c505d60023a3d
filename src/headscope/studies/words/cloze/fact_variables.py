"""Variables of facts: precision, without names that give the answer away, and agreement between wordings."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope.corpora.suites import ClozeItem
from headscope.models.fast_tokenizer import MOST_PIECES
from headscope.passes import Settings
from headscope.results.variables import Variables
from headscope.studies.words.cloze import FEW, NEAR, STUDY
from headscope.studies.words.cloze.item_scores import ItemScores
from headscope.studies.words.cloze.variables import add_by_group, grouped, halves, losses, most_frequent, units_of

FILTERS = ("no string match", "no name guess")


def fact_variables(
    items: Sequence[ClozeItem],
    own: ItemScores,
    baselines: Mapping[str, ItemScores],
    matched: Bool[np.ndarray, " item"],
    guessed: Bool[np.ndarray, " item"],
    settings: Settings,
) -> dict[str, xr.DataArray]:
    """The variables of items whose answer is ranked in the vocabulary; none without such items.

    * `matched`, `guessed`: facts whose answer is a part of the subject's name, or is guessed from the name alone.
    """
    if not (own.rank.any() or np.isfinite(own.fill).any()):
        return {}
    phenomena, group = grouped([item.phenomenon for item in items])
    coords = {"phenomenon": phenomena, "name_filter": FILTERS, "baseline": list(baselines)}
    variables, units = Variables(coords, STUDY.source, STUDY.labels), units_of(items)
    columns = {f"precision_at_{first}": np.where(own.rank > 0, own.rank <= first, np.nan) for first in (NEAR, FEW)}
    columns |= {
        "accuracy_of_most_frequent": most_frequent(items, own),
        "accuracy_among_answers": own.among,
        "accuracy_of_fill": own.fill,
        "perplexity": losses(own),
        "answer_probability": np.exp(-losses(own)),
        "answer_rank": np.log(own.rank, out=np.full(len(items), np.nan), where=own.rank > 0),
    }
    if baselines:
        columns["perplexity_baseline"] = np.stack([losses(scores) for scores in baselines.values()], axis=1)
    if any(item.subject for item in items):
        right = np.where(own.rank > 0, own.correct, np.nan)
        left = [np.where(away, np.nan, right) for away in (matched, matched | guessed)]
        columns["accuracy_by_name_filter"] = np.stack(left, axis=1)
    facts = [f"{item.phenomenon} {item.fact}" if item.fact else "" for item in items]
    agreement, in_all = _over_wordings(facts, own)
    if np.isfinite(agreement).any():
        best, gain, over_first = _best_wording(items, facts, own)
        columns |= {"consistency": agreement, "right_in_all": in_all}
        columns |= {"accuracy_of_best_wording": best, "best_wording_gain": gain, "first_wording_gain": over_first}
    add_by_group(variables, columns, group, settings, "facts", units)
    return variables.arrays | _by_answer(items, own, settings)


def _by_answer(items: Sequence[ClozeItem], scores: ItemScores, settings: Settings) -> dict[str, xr.DataArray]:
    """Numbers of each answer, such as a residue; none where there are many."""
    names = [item.good.scored if rank else None for item, rank in zip(items, scores.rank.tolist(), strict=True)]
    answers = sorted({name for name in names if name is not None})
    if not 1 < len(answers) <= MOST_PIECES:
        return {}
    numbers = {name: number for number, name in enumerate(answers)}
    group = np.array([-1 if name is None else numbers[name] for name in names])
    variables = Variables({"answer": answers}, STUDY.source, STUDY.labels)
    columns = {"accuracy_by_answer": scores.correct, "perplexity_by_answer": losses(scores)}
    add_by_group(variables, columns, group, settings, "items", units_of(items))
    variables.add("answer_share", np.bincount(group[group >= 0]) / (group >= 0).sum())
    return variables.arrays


def _best_wording(
    items: Sequence[ClozeItem], facts: Sequence[str], own: ItemScores
) -> tuple[Float[np.ndarray, " item"], Float[np.ndarray, " item"], Float[np.ndarray, " item"]]:
    """Whether a fact is right in its best wording, its gain over the mean and the first one; NaN but at its first item.

    The wording is chosen on every second fact of a phenomenon, and judged on the others: halves that choose for each
    other depend on each other, which intervals do not allow for.
    """
    wordings = defaultdict[str, dict[str, dict[str, int]]](lambda: defaultdict(dict))
    for number, item in enumerate(items):
        if facts[number] and own.rank[number]:
            wordings[item.phenomenon][facts[number]][item.template] = number
    best, gain, over_first = np.full((3, len(items)), np.nan)
    for wording in wordings.values():
        judged, choosing = halves([numbers for numbers in wording.values() if len(numbers) > 1])[0]
        chosen = _highest(choosing, own)
        for numbers in (numbers for numbers in judged if chosen in numbers):
            first = next(iter(numbers.values()))
            best[first] = own.correct[numbers[chosen]]
            gain[first] = best[first] - own.correct[list(numbers.values())].mean()
            over_first[first] = best[first] - own.correct[first]
    return best, gain, over_first


def _highest(worded: Sequence[Mapping[str, int]], own: ItemScores) -> str:
    """The wording in which most of the facts are right; of equal ones the first, "" without facts."""
    right = defaultdict[str, list[float]](list)
    for numbers in worded:
        for wording, number in numbers.items():
            right[wording].append(float(own.correct[number]))
    return max(right, key=lambda wording: float(np.mean(right[wording])), default="")


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
