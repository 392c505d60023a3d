"""Result variables of the runs: mean over seeds, spread, interval over examples, chance, and the paper's scores."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from headscope.corpora.tasks import Task, chance, intervals, resampled, score
from headscope.passes import Settings
from headscope.results.variables import Label, Variables
from headscope.results.vocabulary import BOUNDS
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units
from headscope.studies.finetune.baseline_scores import BASELINE_LABELS, BaselineOutputs, baseline_scores, gains
from headscope.studies.finetune.layer_changes import LAYER_LABELS, layer_changes
from headscope.studies.finetune.seeds import SEED_LABELS, early_correlation, seed_spread
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

ROWS = ("task", "init", "metric")
LABELS = {
    "score": Label("score on dev", "fraction", ROWS, "the kept model, mean over seeds"),
    "score_ci": Label("95% interval of score", "fraction", (*ROWS, "bound"), "bootstrap over dev examples"),
    "score_n_examples": Label("examples behind score", "examples", ROWS, "dev examples"),
    "score_std": Label("spread of score", "fraction", ROWS, "standard deviation over seeds"),
    "score_by_seed": Label("score of each seed", "fraction", ("task", "init", "seed", "metric"), "the kept models"),
    "epoch_score": Label("score after each epoch", "fraction", ("task", "init", "epoch", "metric"), "mean over seeds"),
    "train_loss": Label(
        "loss in training",
        "nats, for scores squared error",
        ("task", "init", "progress"),
        "mean over the steps of each fiftieth of a training, and over seeds",
    ),
    "chance": Label(
        "score of always the same answer", "fraction", ("task", "metric"), "the commonest class of dev, or 0"
    ),
    "paper_score": Label("score of BERT-base in the paper", "fraction", ROWS, "Kovaleva et al. 2019, Table 1"),
    **SEED_LABELS,
    **BASELINE_LABELS,
    **LAYER_LABELS,
}


def to_variables(
    tasks: Sequence[Task],
    inits: Sequence[str],
    seeds: Sequence[int],
    trained: Mapping[tuple[str, str, int], TrainedOutputs],
    baselines: Mapping[str, BaselineOutputs],
    settings: Settings,
) -> xr.Dataset:
    """Result variables of the runs.

    * `trained`: the outputs of each task, init and seed; `baselines`: those of the simple models of each task.
    """
    coords = {
        "task": [task.name for task in tasks],
        "init": list(inits),
        "seed": list(seeds),
        "metric": list(dict.fromkeys(metric for task in tasks for metric in task.metrics)),
        "epoch": list(range(1, 1 + max(len(run.epoch_outputs) for run in trained.values()))),
        "progress": [(part + 1) / PARTS for part in range(PARTS)],
        "bound": BOUNDS,
        "layer": list(range(1, 1 + max(run.layer_norms.shape[-1] for run in trained.values()))),
        "baseline": list(dict.fromkeys(name for outputs in baselines.values() for name in outputs)),
    }
    variables = _empty(coords)
    for task in tasks:
        targets = task.targets(task.dev)
        draws = poisson_draws(task.dev.units, settings.seed, settings.resamples)
        where = {"task": task.name, "metric": list(task.metrics)}
        variables["chance"].loc[where] = chance(task, targets)
        of_baselines = baseline_scores(task, baselines.get(task.name, {}), targets, draws)
        for baseline, scored in of_baselines.items():
            for name, values in scored.cells(task).items():
                variables[name].loc[where | {"baseline": baseline}] = values
        for init in inits:
            of_seeds = [trained[task.name, init, seed] for seed in seeds]
            values, resamples = _cell(task, of_seeds, targets, draws)
            for name, value in values.items():
                variables[name].loc[where | {"init": init}] = value
            for name, value in layer_changes(of_seeds).items():
                variables[name].loc[{"task": task.name, "init": init}] = value
            for baseline, scored in of_baselines.items():
                for name, value in gains(task, values["score"], resamples, scored).items():
                    variables[name].loc[where | {"init": init, "baseline": baseline}] = value
            variables["paper_score"].loc[where | {"init": init}] = paper_score(task.name, init, task.metrics)
            losses = np.mean([loss_curve(run.train_loss) for run in of_seeds], axis=0)
            variables["train_loss"].loc[{"task": task.name, "init": init}] = losses
    return xr.Dataset({name: array for name, array in variables.items() if not bool(array.isnull().all())})


def _cell(
    task: Task, trained: list[TrainedOutputs], targets: np.ndarray, draws: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The values of one task and init, [..., metric] or [..., metric, bound]; the mean over seeds in each resample."""
    outputs = np.stack([run.outputs for run in trained])
    by_seed = _scores(task, outputs, targets)
    of_seeds = np.stack([resampled(metric, outputs, targets, draws) for metric in task.metrics], axis=-1)
    resamples = of_seeds.mean(1)  # [resample, metric], of [resample, seed, metric]
    values = {
        "score": by_seed.mean(0),
        "score_ci": intervals(task.metrics, by_seed.mean(0), resamples, equal_units(task.dev.units)),  # [metric, bound]
        "score_n_examples": np.full(len(task.metrics), len(targets)),
    }
    if len(trained) > 1:
        values |= {"score_std": by_seed.std(0, ddof=1), "score_by_seed": by_seed}
        values |= seed_spread(by_seed, of_seeds)
    if len(trained[0].epoch_outputs):
        of_epochs = np.stack([_scores(task, run.epoch_outputs, targets) for run in trained])  # [seed, epoch, metric]
        values |= {"epoch_score": of_epochs.mean(0)} | early_correlation(of_epochs)
    return values, resamples


def _scores(task: Task, outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return np.stack([score(metric, outputs, targets) for metric in task.metrics], axis=-1)


def _empty(coords: Mapping[str, Sequence]) -> dict[str, xr.DataArray]:
    """All variables without values."""
    variables = Variables(coords, "", LABELS)
    for name, label in LABELS.items():
        variables.add(name, np.full([len(coords[dim]) for dim in label.dims], np.nan))
    return variables.arrays


def paper_score(task: str, init: str, metrics: Sequence[str]) -> list[float]:
    """The paper's score for each metric; NaN where the paper has none.

    >>> paper_score("MRPC", "random", ["accuracy", "f1", "matthews"])
    [0.683, 0.812, nan]
    """
    published = TABLE_1.get(task, {})
    return [published.get(metric, {}).get(init, float("nan")) for metric in metrics]
