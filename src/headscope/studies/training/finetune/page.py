"""The page of `finetune`: tasks that are learned, the gains of fine-tuning and of pre-training, ways, seeds, layers.

Kovaleva et al. 2019, Table 1 and section 4.3.
"""

from collections.abc import Iterator
from math import hypot

import numpy as np
import xarray as xr

from headscope.figures.labels import label
from headscope.report.claims import LEAST_SEEDS, Claim, above_random_weights, apart
from headscope.report.declared import StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import (
    Estimate,
    higher_or_lower,
    n_examples,
    number,
    of_array,
    several,
)
from headscope.studies.training.finetune import charts, score_tables
from headscope.studies.training.finetune.baseline_findings import against_baselines, one_sentence
from headscope.studies.training.finetune.layer_findings import decided_layers, undecided_layers
from headscope.studies.training.finetune.main_scores import chance_of, corrected, main_metric, names, scores_of, starts
from headscope.studies.training.finetune.seed_findings import SEEDS, runs_of, seed_table
from headscope.studies.training.finetune.way_findings import against_all_weights, way_table

MOST_TASKS = 3
WORDS = {
    "finetuned": "fine-tuned",
    "pretrained": "not trained",
    "random": "from random weights",
    "frozen": "with the encoder frozen",
    "last_layers": "with the last layers trained",
    "mix": "with a mix of all layers",
    "adapters": "with adapters",
    "lora": "with LoRA",
    "two_stages": "in two stages",
    "adapted": "after training on its text",
    "perturbed": "with perturbed embeddings",
    "stacked": "from stacked layers",
}

START = {
    "finetuned": "after fine-tuning",
    "frozen": "with a frozen encoder",
    "random": "from random weights",
    "pretrained": "without fine-tuning",
}


def words_of(init: str) -> str:
    """A way to fine-tune, in a sentence.

    >>> words_of("random"), words_of("lora")
    ('from random weights', 'with LoRA')
    """
    return WORDS.get(init, label("init", init))


def learned(numbers: Numbers) -> Iterator[Finding]:
    """Whether tasks are learned, those that are not first."""
    result = numbers.result
    found = [_task_learned(result, task) for task in names(result)]
    yield from sorted(found, key=lambda finding: finding.verdict == "holds")[:MOST_TASKS]


def _task_learned(result: xr.Dataset, task: str) -> Finding:
    """The score of the start that the study is about, beside a constant answer."""
    scores, chance = scores_of(result, task), chance_of(result, task)
    init = next((init for init in START if init in starts(scores)), starts(scores)[0])
    score, n = of_array(scores.sel(init=init)), (n_examples(scores) or (0, 0))[0]
    value = f"{task}: {main_metric(result, task)} {number(score.value)} {START.get(init, words_of(init))}"
    if chance != chance:
        return Finding(value, f"Always giving the same answer has no score here. {_seeds(result)}.")
    interval = "" if not score.tested else f" (95% interval {number(score.lower)} to {number(score.upper)})"
    return Finding.judged(
        _above_constant(result, score, chance, n),
        f"{number(score.value)}{interval} {START.get(init, words_of(init))}; always giving the same answer scores "
        f"{number(chance)}. {_seeds(result)}.",
        holds=value,
        fails=f"{task} is not learned",
        undecided=f"{task} is not clearly learned",
        unit="examples",
    )


def _above_constant(result: xr.Dataset, score: Estimate, chance: float, n: int) -> Claim:
    """A score above a constant answer, corrected for epochs of which dev chose the best."""
    return corrected(score, chance, n, result.sizes.get("epoch", 1) if _chose_epoch(result) else 1)


def _seeds(result: xr.Dataset) -> str:
    """How many trainings a score is the mean of."""
    if "order_seed" in result.sizes:
        return f"Mean over {several(runs_of(result), 'pair')} of seeds"
    return f"Mean over {several(result.sizes['seed'], 'seed')}" if "seed" in result.sizes else "One seed"


def pretraining(numbers: Numbers) -> Iterator[Finding]:
    """The mean score over tasks beside that of each seed of random weights."""
    result = numbers.result
    losses = _differences(result, "finetuned", "random")
    if not losses:
        return
    trained = [of_array(scores_of(result, task).sel(init="finetuned")) for task in losses]
    seeds = np.mean([_by_seed(result, task, "random") for task in losses], axis=0).tolist()
    n = min((n_examples(scores_of(result, task)) or (0, 0))[0] for task in losses)
    loss = higher_or_lower(-sum(losses.values()) / len(losses))
    few = "" if len(seeds) >= LEAST_SEEDS else f" {LEAST_SEEDS} seeds are wanted for a comparison; --seeds sets them."
    yield Finding.judged(
        above_random_weights(_mean(trained), seeds, n),
        f"From random weights the score is {loss} on average over {several(len(losses), 'task')}. "
        f"{_seeds(result)}.{few}",
        holds="Pre-training helps",
        fails="Pre-training does not help",
        undecided="It cannot be told whether pre-training helps",
        unit="examples",
    )


def _mean(scores: list[Estimate]) -> Estimate:
    """The mean of scores on different examples: errors are independent."""
    mean = sum(score.value for score in scores) / len(scores)
    lower = hypot(*(score.value - score.lower for score in scores)) / len(scores)
    upper = hypot(*(score.upper - score.value for score in scores)) / len(scores)
    return Estimate(mean, mean - lower, mean + upper)


def _by_seed(result: xr.Dataset, task: str, init: str) -> np.ndarray:
    """The score of each seed; of the only one, where there are no several."""
    where = {"task": task, "metric": main_metric(result, task), "init": init}
    name = "score" if "score_by_seed" not in result else "score_by_seed"
    return np.atleast_1d(result[name].sel(where).values)


def gain(numbers: Numbers) -> Iterator[Finding]:
    result = numbers.result
    gains = _differences(result, "finetuned", "pretrained")
    if not gains:
        return
    mean = 100 * sum(gains.values()) / len(gains)
    change = f"adds {mean:.1f} points" if mean >= 0 else f"costs {-mean:.1f} points"
    scope = "" if len(gains) == 1 else f" on average over {len(gains)} tasks"
    text = f"Fine-tuning {change}{scope}, by the main metric of each task."
    text += f" {_seeds(result)}."
    yield Finding("Gain of fine-tuning", f"{text} BERT-base in the paper gains 35.9 on average over seven tasks.")


def without(numbers: Numbers) -> Iterator[Finding]:
    result = numbers.result
    if without := [task for task in result["task"].values.tolist() if task not in names(result)]:
        yield Finding("Without a score", f"The result has no score of {', '.join(without)}.")


def random(numbers: Numbers) -> Iterator[Finding]:
    result = numbers.result
    losses, gains = (_differences(result, *both) for both in (("finetuned", "random"), ("random", "pretrained")))
    if not losses or not gains:
        return
    behind = [task for task in gains if _surely_above(result, task, "pretrained", "random")]
    texts = ", ".join(f"{task} {higher_or_lower(-loss)}" for task, loss in losses.items())
    text = f"Scores of training from random weights, beside training from pre-trained ones: {texts}."
    if behind:
        text += f" On {', '.join(behind)} the score is below that of the pre-trained model without fine-tuning."
    yield Finding("Random weights", text)


def _surely_above(result: xr.Dataset, task: str, one: str, other: str) -> bool:
    scores = scores_of(result, task)
    estimates = (of_array(scores.sel(init=init)) for init in (one, other))
    return apart(*estimates, n=(n_examples(scores) or (0, 0))[0]).verdict == "holds"


def spread(numbers: Numbers) -> Iterator[Finding]:
    result = numbers.result
    if "score_std" not in result and "seed" not in result.sizes:
        yield Finding("Seeds", "One seed: how far another moves the score is not known; --seeds 3 measures it.")
    spread = {
        task: float(result["score_std"].sel(task=task, metric=main_metric(result, task)).max())
        for task in names(result)
    }
    spread = {task: value for task, value in spread.items() if value == value}
    texts = ", ".join(f"{task} {number(value)}" for task, value in spread.items())
    runs = f"{runs_of(result)} pairs of seeds" if "order_seed" in result.sizes else f"{result.sizes['seed']} seeds"
    yield Finding("Seeds", f"{runs} each; the largest standard deviation of the main metric: {texts}.")


def chosen(numbers: Numbers) -> Iterator[Finding]:
    result = numbers.result
    if _chose_epoch(result):
        text = "The best epoch was chosen on the same dev examples: the scores are a little too good."
        yield Finding("How models were chosen", text)


def _chose_epoch(result: xr.Dataset) -> bool:
    return '"keep": "best"' in str(result.attrs.get("recipe", "")) and result.sizes.get("epoch", 0) > 1


def _differences(result: xr.Dataset, one: str, other: str) -> dict[str, float]:
    """The score of one start less that of another, for each task that has both."""
    starts = {task: scores_of(result, task).dropna("init") for task in names(result)}
    both = {task: scores for task, scores in starts.items() if {one, other} <= set(scores["init"].values.tolist())}
    return {task: float(scores.sel(init=one)) - float(scores.sel(init=other)) for task, scores in both.items()}


PAGE = StudyParts(
    highlights=(learned, against_baselines, gain, pretraining, against_all_weights, decided_layers),
    findings=(one_sentence, without, random, spread, *SEEDS, undecided_layers, chosen),
    charts=(charts.scores, charts.simple, charts.layers, charts.training, charts.seeds),
    tables=(score_tables.score_table, score_tables.simple_table, way_table, seed_table),
)
