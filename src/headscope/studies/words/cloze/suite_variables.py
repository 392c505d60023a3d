"""Accuracies of suites less those of changed texts, of baselines and of names, on the same items."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Bool

from headscope.corpora.suites import ClozeItem
from headscope.passes import Settings
from headscope.results.variables import Count, Label, Variables
from headscope.studies.words.cloze.fact_variables import most_frequent
from headscope.studies.words.cloze.item_scores import ItemScores
from headscope.studies.words.cloze.variables import by_group, differences_by_group, grouped

SHARE, POERNER = "share of items", "Poerner et al. 2020"
NAME = "subject's name"
AWAY = f"the {NAME} gives away"
LABELS = {
    "control_fall": Label("accuracy less that on changed texts, on the same items", SHARE, ("suite", "control")),
    "baseline_gain": Label("accuracy less that of baselines, on the same items", SHARE, ("suite", "baseline")),
    "answer_gain": Label(
        "precision at 1 less that of the most frequent answer of the other half of the facts, on the same facts",
        SHARE,
        ("suite",),
        "Petroni et al. 2019",
    ),
    "among_gain": Label(
        "first of all answers of the phenomenon, less the most frequent one of the other half, on the same facts",
        SHARE,
        ("suite",),
        "Elazar et al. 2021",
    ),
    "accuracy_given_away": Label(f"precision at 1 of facts whose answer {AWAY}", SHARE, ("suite",), POERNER),
    "accuracy_not_given_away": Label(
        f"precision at 1 of facts whose answer no {NAME} gives away", SHARE, ("suite",), POERNER
    ),
}


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
    variables = Variables(coords, "Salazar et al. 2020", LABELS)
    columns = {
        "control_fall": [own.correct - scores.correct for scores in controls.values()],
        "baseline_gain": [own.correct - scores.correct for scores in baselines.values()],
    }
    if own.rank.any():
        right = np.where(own.rank > 0, own.correct, np.nan)
        frequent = most_frequent(items, own)
        columns["answer_gain"] = [right - frequent]
        columns["among_gain"] = [own.among - frequent]
        if any(item.subject for item in items):
            named = np.array([bool(item.subject) for item in items])
            columns["accuracy_given_away"] = [np.where(named & given_away, right, np.nan)]
            columns["accuracy_not_given_away"] = [np.where(named & ~given_away, right, np.nan)]
    for name, values in columns.items():
        if values:
            estimated = by_group if name.endswith("given_away") else differences_by_group
            estimates = estimated(np.stack(values, axis=1), group, len(names), settings)
            dims = LABELS[name].dims
            shape = (slice(None), 0) if len(dims) == 1 else slice(None)
            count = Count(estimates.count[shape], f"items of {LABELS[name].long_name}", "items", dims)
            variables.add(name, estimates.mean[shape], interval=estimates.interval[shape], count=count)
    return variables.arrays
