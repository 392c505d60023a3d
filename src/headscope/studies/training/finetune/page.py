"""The page of `finetune`: tasks that are learned, the gains of fine-tuning and of pre-training, ways, seeds, layers.

Kovaleva et al. 2019, Table 1 and section 4.3.
"""

from collections.abc import Iterator
from math import hypot

import numpy as np

from headscope.figures.labels import label
from headscope.report.claims import LEAST_SEEDS, above_random_weights, apart
from headscope.report.declared import StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, higher_or_lower, number, several
from headscope.studies.training.finetune import score_tables
from headscope.studies.training.finetune.baseline_findings import against_baselines, one_sentence
from headscope.studies.training.finetune.charts import CHARTS
from headscope.studies.training.finetune.layer_findings import decided_layers, undecided_layers
from headscope.studies.training.finetune.seed_findings import SEEDS, runs_of, seed_table
from headscope.studies.training.finetune.tasks import TaskNumbers, corrected, tasks
from headscope.studies.training.finetune.way_findings import against_all_weights, longer_chains, way_table

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
    "centred": "from centred [CLS]",
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


def learned(numbers: Numbers) -> list[Finding]:
    """Whether tasks are learned, those that are not first."""
    return sorted(map(_learned, tasks(numbers)), key=lambda finding: finding.verdict == "holds")[:MOST_TASKS]


def _learned(task: TaskNumbers) -> Finding:
    """The score of the way that the study is about, beside a constant answer; corrected for epochs that dev chose."""
    init = next((init for init in START if init in task.inits), task.inits[0])
    score, chance, words = task("score", init=init), task.chance, START.get(init, words_of(init))
    value = f"{task.name}: {task.metric_words} {number(score.value)} {words}"
    if chance != chance:
        return Finding(value, f"Always giving the same answer has no score here. {_seeds(task.numbers)}.")
    interval = "" if not score.tested else f" (95% interval {number(score.lower)} to {number(score.upper)})"
    epochs = task.numbers.result.sizes["epoch"] if _chose_epoch(task.numbers) else 1
    return Finding.judged(
        corrected(score, chance, task.examples, epochs),
        f"{number(score.value)}{interval} {words}; always giving the same answer scores {number(chance)}. "
        f"{_seeds(task.numbers)}.",
        holds=value,
        fails=f"{task.name} is not learned",
        undecided=f"{task.name} is not clearly learned",
        unit="examples",
    )


def _seeds(numbers: Numbers) -> str:
    """How many trainings a score is the mean of."""
    sizes = numbers.result.sizes
    if "order_seed" in sizes:
        return f"Mean over {several(runs_of(numbers), 'pair')} of seeds"
    return f"Mean over {several(sizes['seed'], 'seed')}" if "seed" in sizes else "One seed"


def pretraining(numbers: Numbers) -> Finding | None:
    """The mean score over tasks beside that of each seed of random weights."""
    both = [task for task in tasks(numbers) if {"finetuned", "random"} <= set(task.inits)]
    if not both:
        return None
    seeds = np.mean([_by_seed(task, "random") for task in both], axis=0).tolist()
    loss = higher_or_lower(-sum(_difference(task, "finetuned", "random") for task in both) / len(both))
    few = "" if len(seeds) >= LEAST_SEEDS else f" A comparison needs {LEAST_SEEDS} seeds (--seeds {LEAST_SEEDS})."
    trained = _mean([task("score", init="finetuned") for task in both])
    return Finding.judged(
        above_random_weights(trained, seeds, min(task.examples for task in both)),
        f"From random weights the score is {loss} on average over {several(len(both), 'task')}. "
        f"{_seeds(numbers)}.{few}",
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


def _by_seed(task: TaskNumbers, init: str) -> np.ndarray:
    """The score of each seed; of the only one, where there are no several."""
    result = task.numbers.result
    return np.atleast_1d(result.get("score_by_seed", result["score"]).sel(task.where | {"init": init}).values)


def _difference(task: TaskNumbers, first: str, second: str) -> float:
    """The score of one way minus that of another."""
    return task("score", init=first).value - task("score", init=second).value


def gain(numbers: Numbers) -> Finding | None:
    """What fine-tuning adds to the pre-trained model."""
    both = [task for task in tasks(numbers) if {"finetuned", "pretrained"} <= set(task.inits)]
    if not both:
        return None
    mean = 100 * sum(_difference(task, "finetuned", "pretrained") for task in both) / len(both)
    change = f"adds {mean:.1f} points" if mean >= 0 else f"costs {-mean:.1f} points"
    scope = "" if len(both) == 1 else f" on average over {len(both)} tasks"
    return Finding(
        "Gain of fine-tuning",
        f"Fine-tuning {change}{scope}, by the main metric of each task. {_seeds(numbers)}. BERT-base in the paper "
        "gains 35.9 on average over seven tasks.",
    )


def without(numbers: Numbers) -> Finding | None:
    """The tasks that have no score."""
    score = numbers.result["score"]
    lacking = score.isnull().all([dim for dim in score.dims if dim != "task"])
    names = score["task"].values[lacking.values].tolist()
    return Finding("Without a score", f"The result has no score of {', '.join(names)}.") if names else None


def random(numbers: Numbers) -> Finding | None:
    """Scores from random weights, task by task."""
    trained = [task for task in tasks(numbers) if {"finetuned", "random"} <= set(task.inits)]
    beside = [task for task in tasks(numbers) if {"random", "pretrained"} <= set(task.inits)]
    if not trained or not beside:
        return None
    losses = {task.name: higher_or_lower(_difference(task, "random", "finetuned")) for task in trained}
    behind = [task.name for task in beside if _is_above(task, "pretrained", "random")]
    texts = ", ".join(f"{name} {loss}" for name, loss in losses.items())
    text = f"Trained from random weights instead of pre-trained ones, the score is: {texts}."
    if behind:
        text += f" On {', '.join(behind)} the score is below that of the pre-trained model without fine-tuning."
    return Finding("Random weights", text)


def _is_above(task: TaskNumbers, first: str, second: str) -> bool:
    """Whether one way surely scores above another."""
    return apart(task("score", init=first), task("score", init=second), task.examples).verdict == "holds"


def spread(numbers: Numbers) -> Iterator[Finding]:
    """How far the score moves from seed to seed."""
    sizes = numbers.result.sizes
    if "score_std" not in numbers.result and "seed" not in sizes:
        yield Finding("Seeds", "One seed: how much the seed moves the score is not known; --seeds 3 measures it.")
    largest = {task.name: float(numbers.result["score_std"].sel(task.where).max()) for task in tasks(numbers)}
    texts = ", ".join(f"{name} {number(value)}" for name, value in largest.items() if value == value)
    runs = f"{runs_of(numbers)} pairs of seeds" if "order_seed" in sizes else f"{sizes['seed']} seeds"
    yield Finding("Seeds", f"{runs} each; the largest standard deviation of the main metric: {texts}.")


def chosen(numbers: Numbers) -> Finding | None:
    """Whether dev chose the epoch."""
    text = "The best epoch was chosen on the same dev examples: the scores are a little too good."
    return Finding("How models were chosen", text) if _chose_epoch(numbers) else None


def _chose_epoch(numbers: Numbers) -> bool:
    recipe = numbers.words.get("recipe", "")
    return '"keep": "best"' in recipe and numbers.result.sizes.get("epoch", 0) > 1


PAGE = StudyParts(
    highlights=(learned, longer_chains, against_baselines, gain, pretraining, against_all_weights, decided_layers),
    findings=(one_sentence, without, random, spread, *SEEDS, undecided_layers, chosen),
    charts=CHARTS,
    tables=(score_tables.score_table, score_tables.simple_table, way_table, seed_table),
)
