"""Result variables of the runs: mean over seeds, spread, interval over examples, chance, and the paper's scores."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from headscope.corpora.tasks import Task, chance, intervals, score, scored, signs
from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.results.vocabulary import BOUNDS
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval, of_differences
from headscope.studies.training.finetune import STUDY
from headscope.studies.training.finetune.baseline_scores import BaselineOutputs, baseline_scores, gains
from headscope.studies.training.finetune.design import Pairs
from headscope.studies.training.finetune.head_agreement import NUMBERS, head_agreement
from headscope.studies.training.finetune.layer_changes import layer_changes
from headscope.studies.training.finetune.seeds import (
    SOURCES,
    STOPPED,
    Values,
    best_of_runs,
    early_correlation,
    early_stopping,
    seed_components,
    seed_spread,
    steps_saved,
)
from headscope.studies.training.finetune.table1 import Key
from headscope.training.run_record import TrainedOutputs
from headscope.training.trainer import PARTS, loss_curve

# Table 1 of Kovaleva et al. 2019, for BERT-base-uncased, as fractions: task, metric, init. The paper heads STS-B with
# "Acc"; a correlation is meant, most likely Pearson's.
TABLE_1: dict[str, dict[str, dict[str, float]]] = {
    "MRPC": {
        "f1": {"pretrained": 0.0, "random": 0.812, "finetuned": 0.879},
        "accuracy": {"pretrained": 0.316, "random": 0.683, "finetuned": 0.823},
    },
    "STS-B": {"pearson": {"pretrained": 0.331, "random": 0.029, "finetuned": 0.827}},
    "SST-2": {"accuracy": {"pretrained": 0.491, "random": 0.805, "finetuned": 0.92}},
    "QQP": {
        "f1": {"pretrained": 0.0, "random": 0.0, "finetuned": 0.652},
        "accuracy": {"pretrained": 0.609, "random": 0.632, "finetuned": 0.786},
    },
    "RTE": {"accuracy": {"pretrained": 0.527, "random": 0.527, "finetuned": 0.646}},
    "QNLI": {"accuracy": {"pretrained": 0.528, "random": 0.495, "finetuned": 0.844}},
    "MNLI": {"accuracy": {"pretrained": 0.317, "random": 0.61, "finetuned": 0.786}},
}

ALL = "finetuned"


def to_variables(
    tasks: Sequence[Task],
    inits: Sequence[str],
    pairs: Pairs,
    trained: Mapping[Key, TrainedOutputs],
    heads: Mapping[Key, Mapping[str, np.ndarray]],
    baselines: Mapping[str, BaselineOutputs],
    settings: Settings,
) -> xr.Dataset:
    """Result variables of the runs.

    * `trained`: the outputs of each task, way and pair of seeds, but of those that were stopped; `heads`: the numbers
      of their heads; `baselines`: the outputs of the simple models of each task.
    """
    apart, numbers = any(seed != order for seed, order in pairs), [one["heads"] for one in heads.values() if one]
    layers = max([len(one) for one in numbers] + [run.layer_norms.shape[-1] for run in trained.values()])
    coords = {
        "task": [task.name for task in tasks],
        "init": list(inits),
        "seed": sorted({seed for seed, _ in pairs}),
        "order_seed": sorted({order for _, order in pairs}) if apart else [],
        "seed_source": list(SOURCES),
        "trials": list(range(1, len(pairs) + 1)),
        "stopped_share": list(STOPPED),
        "head_number": list(NUMBERS),
        "layer": list(range(1, 1 + layers)),
        "head": list(range(1, 1 + int(max(numbers[0])))) if numbers else [],
        "metric": list(dict.fromkeys(metric for task in tasks for metric in task.metrics)),
        "epoch": list(range(1, 1 + max(len(run.epoch_outputs) for run in trained.values()))),
        "chain_length": sorted({depth for task in tasks for depth in task.depths}),
        "progress": [(part + 1) / PARTS for part in range(PARTS)],
        "bound": BOUNDS,
        "baseline": list(dict.fromkeys(name for outputs in baselines.values() for name in outputs)),
    }
    variables = _empty(coords)
    for task in tasks:
        targets = task.targets(task.dev)
        draws = poisson_draws(task.dev.units, settings.seed, settings.resamples)
        where = {"task": task.name, "metric": list(task.metrics)}
        variables["chance"].loc[where] = chance(task, targets)
        of_baselines = baseline_scores(task, baselines.get(task.name, {}), targets, draws)
        for baseline, of_baseline in of_baselines.items():
            _put(variables, where | {"baseline": baseline}, of_baseline.cells(task))
        all_weights: tuple[Values, np.ndarray] | None = None
        for init in sorted(inits, key=lambda init: init != ALL):
            kept = [pair for pair in pairs if (task.name, init, pair) in trained]
            of_runs, cell = [trained[task.name, init, pair] for pair in kept], where | {"init": init}
            values, resamples = _cell(task, of_runs, kept, targets, draws, complete=len(kept) == len(pairs))
            by_run = _scores(task, np.stack([run.outputs for run in of_runs]), targets)
            for (seed, order), scores in zip(kept, by_run, strict=True) if apart else ():
                variables["score_by_pair"].loc[cell | {"seed": seed, "order_seed": order}] = scores
            for seed in {seed for seed, _ in kept} if len(pairs) > 1 else ():
                mean = np.mean([scores for (own, _), scores in zip(kept, by_run, strict=True) if own == seed], axis=0)
                variables["score_by_seed"].loc[cell | {"seed": seed}] = mean
            _put(variables, cell, values | {"paper_score": np.array(paper_score(task.name, init, task.metrics))})
            for baseline, of_baseline in of_baselines.items():
                gained = gains(task, values["score"], resamples, of_baseline)
                _put(variables, cell | {"baseline": baseline}, gained)
            if all_weights:
                _put(variables, cell, _gain(task, values, resamples, *all_weights))
            all_weights = (values, resamples) if init == ALL else all_weights
            of_init = head_agreement([heads[task.name, init, pair] for pair in kept])
            of_init["train_loss"] = np.mean([loss_curve(run.train_loss) for run in of_runs], axis=0)
            of_init |= layer_changes(of_runs)
            _put(variables, {"task": task.name, "init": init}, of_init | (_cost(of_runs) if len(inits) > 1 else {}))
            for depth in set(task.depths):
                values = _of_depth(task, depth, of_runs, targets, draws)
                _put(variables, {"task": task.name, "init": init, "chain_length": depth}, values)
    variables["stopping_saved"][:] = steps_saved(len(pairs), len(coords["epoch"]) or 1)
    if bool(variables["stopping_loss"].isnull().all()):
        del variables["stopping_saved"]
    return xr.Dataset({name: array for name, array in variables.items() if not bool(array.isnull().all())})


def _put(variables: dict[str, xr.DataArray], where: Mapping[str, Any], values: Mapping[str, np.ndarray]) -> None:
    for name, value in values.items():
        variables[name].loc[dict(where)] = value


def _cell(
    task: Task, trained: list[TrainedOutputs], pairs: Pairs, targets: np.ndarray, draws: np.ndarray, *, complete: bool
) -> tuple[Values, np.ndarray]:
    """The values of one task and way, [metric, ...], and the mean over runs in each resample.

    * `complete`: no run was stopped, so that their spread is that of seeds.
    """
    outputs = np.stack([run.outputs for run in trained])
    by_run, of_runs = scored(task.metrics, outputs, targets, draws)
    resamples = of_runs.mean(1)  # [resample, metric], of [resample, run, metric]
    values = {
        "score": by_run.mean(0),
        "score_ci": intervals(task.metrics, by_run.mean(0), resamples, equal_units(task.dev.units)),  # [metric, bound]
        "score_n_examples": np.full(len(task.metrics), len(targets)),
    }
    if len(trained) > 1 and complete:
        values |= (
            {"score_std": by_run.std(0, ddof=1)}
            | seed_spread(by_run, of_runs)
            | best_of_runs(by_run, signs(task.metrics))
        )
        values |= seed_components(pairs, by_run, of_runs, len(targets))
    if len(trained[0].epoch_outputs):
        of_epochs = np.stack([_scores(task, run.epoch_outputs, targets) for run in trained])  # [run, epoch, metric]
        values["epoch_score"] = of_epochs.mean(0)
        if complete:
            values |= early_correlation(of_epochs) | early_stopping(of_epochs, by_run, signs(task.metrics))
    return values, resamples


def _of_depth(task: Task, depth: int, trained: list[TrainedOutputs], targets: np.ndarray, draws: np.ndarray) -> Values:
    """The main metric of the dev examples that take this many steps, the mean over runs."""
    rows = np.flatnonzero(np.array(task.depths) == depth)
    outputs = np.stack([run.outputs[rows] for run in trained])
    by_run, resampled = scored(task.metrics[:1], outputs, targets[rows], draws[:, rows])
    mean, units = by_run.mean(0), equal_units([task.dev.units[row] for row in rows.tolist()])
    return {
        "chain_score": mean[0],
        "chain_score_ci": intervals(task.metrics[:1], mean, resampled.mean(1), units)[0],
        "chain_score_n_examples": np.array(len(rows)),
    }


def _gain(task: Task, values: Values, resamples: np.ndarray, others: Values, of_others: np.ndarray) -> Values:
    """The score of a way minus that of another, with the interval over resamples that both share."""
    units = equal_units(task.dev.units)
    return {
        "way_gain": values["score"] - others["score"],
        "way_gain_ci": of_differences(interval(resamples - of_others, units), units),
        "way_gain_n_examples": values["score_n_examples"],
    }


def _cost(trained: list[TrainedOutputs]) -> Values:
    """What a training costs; NaN without one, and in runs of a version that did not count."""
    names = {"trained_parameters": "trained", "train_seconds": "seconds", "train_memory": "memory"}
    means = {name: np.mean([float(getattr(run, field)) for run in trained]) for name, field in names.items()}
    return {name: np.array(mean if mean > 0 else np.nan) for name, mean in means.items()}


def _scores(task: Task, outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return np.stack([score(metric, outputs, targets) for metric in task.metrics], axis=-1)


def _empty(coords: Mapping[str, Sequence]) -> dict[str, xr.DataArray]:
    """All variables without values, each with an interval and a count."""
    variables = Variables(coords, STUDY.source, STUDY.labels, interval="95% interval of", cases="examples behind")
    for name, number in STUDY.labels.items():
        empty = np.full([len(coords[dim]) for dim in number.dims], np.nan)
        count = Count(empty.copy(), f"examples behind {number.what}", dims=number.dims)
        variables.add(name, empty, interval=np.stack([empty, empty], -1), count=count)
    return variables.arrays


def paper_score(task: str, init: str, metrics: Sequence[str]) -> list[float]:
    """The paper's score for each metric; NaN where the paper has none.

    >>> paper_score("MRPC", "random", ["accuracy", "f1", "matthews"])
    [0.683, 0.812, nan]
    """
    published = TABLE_1.get(task, {})
    return [published.get(metric, {}).get(init, float("nan")) for metric in metrics]
