"""Whether the same heads matter to other tasks: rank correlation of what is lost without each, and shared heads.

Michel et al. 2019, section 5: the effect of pruning a head in one test set and in another.
"""

from pathlib import Path

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.stats import hypergeom

from headscope.errors import HeadscopeError
from headscope.models.heads import existing
from headscope.results.variables import PAIRED, Variables
from headscope.statistics.intervals import equal_units, interval
from headscope.statistics.rank_correlation import spearman
from headscope.statistics.significance import standard_error
from headscope.studies.size.ablate import STUDY
from headscope.studies.size.ablate.gains import Gains

# Of the heads, those of the largest losses that are compared.
TENTH = 10


def variables(
    others: dict[str, xr.DataArray], single: Gains, counts: tuple[int, ...], seed: int
) -> dict[str, xr.DataArray]:
    """The loss of score without each head beside that of other tasks.

    * `others`: by folder, see `gains_of`; `single`: gains without each head, in their order; `counts`: heads by layer.

    Examples of this task are resampled; the losses of another result are drawn from its intervals, as normal numbers.
    """
    names, random = _names(others), np.random.default_rng(seed)
    added = Variables({"other_task": names, "metric": single.metrics}, STUDY.source, STUDY.labels, **PAIRED)
    correlations, bounds, shared = [], [], []
    for other in others.values():
        gains = other.values  # [head, metric]
        error = np.nan_to_num(standard_error(other).transpose(*other.dims).values)
        drawn = gains + error * random.standard_normal((len(single.resampled_gains), *gains.shape))
        correlations.append(_correlation(single.gains, gains))
        bounds.append(interval(_correlation(single.resampled_gains, drawn), equal_units(single.units)))
        shared.append(_shared(single.gains, gains))
    heads, top = sum(counts), max(1, sum(counts) // TENTH)
    added.add("task_correlation", correlations, interval=bounds, count=len(single.targets))
    added.add("shared_heads", shared)
    added.add("shared_heads_expected", np.full(len(names), top * top / heads))
    added.add("shared_heads_p_value", hypergeom.sf(np.array(shared) - 1, heads, top, top))
    return added.arrays


def gains_of(folder: str, result: xr.Dataset, metrics: list[str], counts: tuple[int, ...]) -> xr.DataArray:
    """The gains of another result, [head, metric], with their bounds; NaN for a score that it does not have.

    Raises `HeadscopeError` for a result of another study, of a model with other heads, or without a score of this task.
    """
    if "head_gain" not in result:
        raise HeadscopeError(f"result '{folder}' is not a result of ablate; name one for --beside")
    gains = result["head_gain"].transpose("layer", "head", "metric")
    if gains.shape[:2] != (len(counts), max(counts)):
        raise HeadscopeError(f"result '{folder}' is of a model with other heads; name another for --beside")
    if not set(metrics) & set(gains["metric"].values.tolist()):
        raise HeadscopeError(f"result '{folder}' has none of the scores {', '.join(metrics)}; name them by --metrics")
    there = existing(counts)
    bounds = result["head_gain_ci"].transpose("layer", "head", "metric", "bound")
    lower, upper = (bounds.sel(bound=bound).reindex(metric=metrics).values[there] for bound in ("lower", "upper"))
    dims = ("head", "metric")
    values = gains.reindex(metric=metrics).values[there]
    named = xr.DataArray(values, {"lower": (dims, lower), "upper": (dims, upper)}, dims)
    return named.assign_attrs(task=str(result.attrs.get("task", result.attrs["corpus"])))


def _names(others: dict[str, xr.DataArray]) -> list[str]:
    """The tasks; with the folder where several results are of one."""
    tasks = [str(gains.attrs["task"]) for gains in others.values()]
    folders = [Path(folder).name for folder in others]
    pairs = zip(tasks, folders, strict=True)
    return [f"{task} ({folder})" if tasks.count(task) > 1 else task for task, folder in pairs]


def _correlation(
    ones: Float[np.ndarray, "*resample head metric"], others: Float[np.ndarray, "*resample head metric"]
) -> Float[np.ndarray, "*resample metric"]:
    return spearman(np.moveaxis(ones, -1, -2), np.moveaxis(others, -1, -2))


def _shared(ones: Float[np.ndarray, "head metric"], others: Float[np.ndarray, "head metric"]) -> list[int]:
    """How many heads are among those of the largest losses in both tasks; ties go to the first head."""
    top = max(1, len(ones) // TENTH)
    firsts = [np.argsort(gains, axis=0, kind="stable")[:top].T.tolist() for gains in (ones, others)]
    return [len(set(first) & set(second)) for first, second in zip(*firsts, strict=True)]
