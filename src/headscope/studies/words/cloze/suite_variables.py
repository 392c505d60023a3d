"""Accuracies of suites minus those of changed texts, of baselines and of names, on the same items."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Bool

from headscope.corpora.suites import ClozeItem
from headscope.passes import Settings
from headscope.results.variables import Variables
from headscope.studies.words.cloze import STUDY
from headscope.studies.words.cloze.fact_variables import most_frequent
from headscope.studies.words.cloze.item_scores import ItemScores
from headscope.studies.words.cloze.variables import add_by_group, grouped


def suite_variables(
    items: Sequence[ClozeItem],
    suites: Sequence[str],
    own: ItemScores,
    baselines: Mapping[str, ItemScores],
    controls: Mapping[str, ItemScores],
    given_away: Bool[np.ndarray, " item"],
    settings: Settings,
) -> dict[str, xr.DataArray]:
    """The variables of a result; `suites` is the suite of each item.

    * `given_away`: facts whose answer is a part of the subject's name, or is guessed from the name alone.
    """
    names, group = grouped(suites)
    coords = {"suite": names, "control": list(controls), "baseline": list(baselines)}
    variables = Variables(coords, STUDY.source, STUDY.labels)
    columns = {
        name: np.stack([own.correct - scores.correct for scores in others.values()], axis=1)
        for name, others in (("control_fall", controls), ("baseline_gain", baselines))
        if others
    }
    if own.rank.any():
        right = np.where(own.rank > 0, own.correct, np.nan)
        frequent = most_frequent(items, own)
        columns |= {"answer_gain": right - frequent, "among_gain": own.among - frequent}
        if any(item.subject for item in items):
            named = np.array([bool(item.subject) for item in items])
            columns["accuracy_given_away"] = np.where(named & given_away, right, np.nan)
            columns["accuracy_not_given_away"] = np.where(named & ~given_away, right, np.nan)
    if columns:
        add_by_group(variables, columns, group, settings)
    return variables.arrays
