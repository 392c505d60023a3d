"""Size, speed and scores of a model with all heads and with fewer.

The model with all heads and without 25, 50 and 75% of them (the least important ones, at least one stays in each
layer) take turns in one run, with the fastest attention that the model has: one input of 128 tokens
(latency), and 32 of them (throughput). Ratios are medians over rounds of the ratio to the whole model in the same
round; times drift, ratios less. A bound stands beside them: the share of multiplications that is left.

    python -m benchmarks.prune MODEL --task mrpc --data FOLDER   # about 10 minutes on 2 cores
    python -m benchmarks.prune                                   # the built-in model, random heads, no score
    python -m benchmarks.prune bert-base                         # its shape with random weights
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertModel

from headscope import Settings, load, wrap
from headscope.corpora.tasks import Task, aligned, read, score
from headscope.models import Model
from headscope.outputs.outputs import task_outputs
from headscope.outputs.size_and_speed import multiplications, pass_seconds, random_tokens
from headscope.outputs.task_inputs import task_inputs
from headscope.studies.size.prune.ranking import HeadRanking
from headscope.studies.size.prune.removal import PrunedModel, PruningPlan, smaller

LENGTH = 128
BATCHES = {"latency, batch 1": 1, "throughput, batch 32": 32}
PLAN = PruningPlan(share=0.75, step=0.25)


def model_of(name: str, task: bool, device: str | None) -> Model:
    """A model by name, or a BERT-base shape with random weights."""
    if name != "bert-base":
        return load(name, head=task, device=device)
    torch.manual_seed(0)
    minilm = load("minilm", device=device)
    return wrap(BertModel(BertConfig()).to(minilm.device), minilm.tokenizer, name)  # type: ignore[arg-type]


def pruned_models(model: Model, task: Task | None) -> list[PrunedModel]:
    """The model, and without 25, 50 and 75% of its heads: by importance, or without a task by chance."""
    unpruned = PrunedModel(model, model.capture.heads)
    ranking = HeadRanking("importance", "michel")
    chance = np.random.default_rng(0).random(unpruned.left.shape)
    return [unpruned, *smaller(unpruned, PLAN, lambda now: ranking.of(now, task, Settings()) if task else chance)]


def scores(models: list[Model], task: Task) -> list[dict[str, float]]:
    """The task's metrics of each model on dev."""
    inputs, targets = task_inputs(models[0], task, task.dev), task.targets(task.dev)
    results = []
    for model in models:
        outputs = task_outputs(replace(inputs, model=model))
        results.append({metric: float(score(metric, outputs, targets)) for metric in task.metrics})
    return results


def timed(models: list[Model], batch: int, seconds: float) -> list[list[float]]:
    """Seconds of a pass of each model in each of several rounds, one model after the other; the first warms up."""
    ids = random_tokens(models[0], batch, LENGTH).to(models[0].device)
    times: list[list[float]] = [[] for _ in models]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 6:
        for model, taken in zip(models, times, strict=True):
            taken.append(pass_seconds(model, ids))
    return [taken[1:] for taken in times]


def main() -> None:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="minilm", metavar="MODEL")
    parser.add_argument("--task", help="task that the model was fine-tuned on")
    parser.add_argument("--data", type=Path, help="folder of its data")
    parser.add_argument("--device", help="by default a GPU if there is one")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each of the two measurements")
    given = parser.parse_args()
    task = read(given.task, given.data) if given.task else None
    model = model_of(given.model, task is not None, given.device)
    names: Any = model.network.config.id2label
    task = aligned(task, names, model.name) if task else None
    steps = pruned_models(model, task)
    models = [step.model for step in steps]
    print(f"{model.name} on {model.device}, torch {torch.__version__}, {torch.get_num_threads()} threads")
    metrics_of = scores(models, task) if task else [{} for _ in models]
    for step, metrics in zip(steps, metrics_of, strict=True):
        parameters = sum(weight.numel() for weight in step.model.network.parameters())
        left = multiplications(step.model, LENGTH) / multiplications(model, LENGTH)
        texts = "  ".join(f"{metric} {value:.3f}" for metric, value in metrics.items())
        share = len(step.gone) / sum(step.heads)
        print(f"  {share:4.0%} of heads cut  {parameters:12,d} parameters  {left:5.0%} of multiplications  {texts}")
    for name, batch in BATCHES.items():
        print(name)
        times = timed(models, batch, given.seconds)
        for step, taken in zip(steps, times, strict=True):
            ratio = median(base / mine for mine, base in zip(taken, times[0], strict=True))
            share = len(step.gone) / sum(step.heads)
            milliseconds = 1000 * median(taken) / batch
            print(f"  {share:4.0%} of heads cut  {milliseconds:8.2f} ms an input  {ratio:5.2f} x as fast", flush=True)


if __name__ == "__main__":
    main()
