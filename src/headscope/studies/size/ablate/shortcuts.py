"""Accuracy on each case of the shortcuts, and how often a model says yes."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.corpora.tasks import intervals, resampled, score
from headscope.corpora.tasks.shortcuts.pairs import ShortcutPair
from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units
from headscope.studies.size.ablate import STUDY


def by_case(
    outputs: Float[np.ndarray, "pair 2"], pairs: Sequence[ShortcutPair], settings: Settings
) -> dict[str, xr.DataArray]:
    """The accuracy with all heads on each case, with its interval over pairs.

    * `outputs`: of the wrong answer and of the right one.
    """
    named = [f"{pair.phenomenon}: {pair.case}" for pair in pairs]
    cases, values, bounds, counts = list(dict.fromkeys(named)), [], [], []
    for case in cases:
        index = np.flatnonzero([name == case for name in named])
        ones, units = np.ones(len(index)), index.tolist()
        draws = poisson_draws(units, settings.seed, settings.resamples)
        value = np.array([float(score("accuracy", outputs[index], ones))])
        of_resamples = resampled("accuracy", outputs[index], ones, draws)[:, None]
        values.append(value[0])
        bounds.append(intervals(["accuracy"], value, of_resamples, equal_units(units))[0])
        counts.append(len(index))
    variables = Variables({"case": cases}, STUDY.source, STUDY.labels)
    count = Count(counts, "pairs of each case", "pairs", ("case",))
    variables.add("case_score", values, interval=bounds, count=count)
    return variables.arrays
