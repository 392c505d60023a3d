"""Findings of fine-tuning: its gain over pre-training, and the gain of pre-training (Kovaleva et al. 2019)."""

from collections.abc import Iterator
from math import hypot

import numpy as np
import xarray as xr

from headscope.figures.labels import label
from headscope.report.claims import LEAST_SEEDS, Claim, above_random_weights, apart
from headscope.report.parts import Finding
from headscope.report.wording import (
    Estimate,
    examples,
    higher_or_lower,
    measured,
    n_examples,
    number,
    of_array,
    several,
)
from headscope.studies.finetune.page.baseline_findings import against_baselines, one_sentence
from headscope.studies.finetune.page.layer_findings import of_layers
from headscope.studies.finetune.page.scores import chance_of, corrected, main_metric, names, scores_of, starts
from headscope.studies.finetune.page.seeds import runs_of, seed_findings
from headscope.studies.finetune.page.ways import against_all_weights

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


def highlights(result: xr.Dataset) -> list[Finding]:
    """The tasks that are learned, simple models, the gain of fine-tuning, other ways and starts, the last layers."""
    return [
        *_learned(result),
        *against_baselines(result),
        *_gain(result),
        *_pretraining(result),
        *against_all_weights(result),
        *(finding for finding in of_layers(result) if finding.verdict != "undecided"),
    ]


def _learned(result: xr.Dataset) -> Iterator[Finding]:
    """Whether tasks are learned, those that are not first."""
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


def _low(result: xr.Dataset, task: str) -> list[str]:
    """The starts whose score may be that of a constant answer."""
    scores, chance = scores_of(result, task), chance_of(result, task)
    return [init for init in starts(scores) if float(scores.sel(init=init)["lower"]) <= chance]


def _pretraining(result: xr.Dataset) -> Iterator[Finding]:
    """The mean score over tasks beside that of each seed of random weights."""
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


def findings(result: xr.Dataset) -> list[Finding]:
    """The gain on average, each task's scores, a random start, seeds, and how the models were chosen."""
    parts = (
        _gain, _tasks, against_baselines, one_sentence, against_all_weights, _without, _random, _spread, seed_findings,
        of_layers, _paper, _chosen,
    )  # fmt: skip
    return [finding for part in parts for finding in part(result)]


def _gain(result: xr.Dataset) -> Iterator[Finding]:
    gains = _differences(result, "finetuned", "pretrained")
    if not gains:
        return
    mean = 100 * sum(gains.values()) / len(gains)
    change = f"adds {mean:.1f} points" if mean >= 0 else f"costs {-mean:.1f} points"
    scope = "" if len(gains) == 1 else f" on average over {len(gains)} tasks"
    text = f"Fine-tuning {change}{scope}, by the main metric of each task."
    text += f" {_seeds(result)}."
    yield Finding("Gain of fine-tuning", f"{text} BERT-base in the paper gains 35.9 on average over seven tasks.")


def _tasks(result: xr.Dataset) -> Iterator[Finding]:
    """The scores of each task, and the starts that are no better than a constant answer."""
    for task in names(result):
        scores, metric = scores_of(result, task), main_metric(result, task)
        chance = chance_of(result, task)
        texts = [f"{words_of(init)} {of_array(scores.sel(init=init)).text}" for init in starts(scores)]
        constant = f"; a constant answer {number(chance)}" if chance == chance else ""
        text = f"{metric.capitalize()}: {', '.join(texts)}{constant}."
        if low := [words_of(init) for init in _low(result, task)]:
            text += f" Not clearly better than that: {', '.join(low)}."
        yield Finding(task, text + examples(scores))


def _without(result: xr.Dataset) -> Iterator[Finding]:
    if without := [task for task in result["task"].values.tolist() if task not in names(result)]:
        yield Finding("Without a score", f"The result has no score of {', '.join(without)}.")


def _random(result: xr.Dataset) -> Iterator[Finding]:
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


def _spread(result: xr.Dataset) -> Iterator[Finding]:
    if measured(result, "score_std") is None:
        return
    spread = {
        task: float(result["score_std"].sel(task=task, metric=main_metric(result, task)).max())
        for task in names(result)
    }
    spread = {task: value for task, value in spread.items() if value == value}
    texts = ", ".join(f"{task} {number(value)}" for task, value in spread.items())
    runs = f"{runs_of(result)} pairs of seeds" if "order_seed" in result.sizes else f"{result.sizes['seed']} seeds"
    yield Finding("Seeds", f"{runs} each; the largest standard deviation of the main metric: {texts}.")


def _paper(result: xr.Dataset) -> Iterator[Finding]:
    """The paper's scores beside ours, where the paper has the task."""
    if "paper_score" not in result:
        return
    texts = []
    for task in names(result):
        paper = result["paper_score"].sel(task=task, metric=main_metric(result, task)).dropna("init")
        if paper.size:
            scores = [
                f"{words_of(init)} {number(float(paper.sel(init=init)))}" for init in paper["init"].values.tolist()
            ]
            texts.append(f"{task}: {', '.join(scores)}")
    if texts:
        yield Finding("The paper's BERT-base", "; ".join(texts) + ". Kovaleva et al. (2019), Table 1.")


def _chosen(result: xr.Dataset) -> Iterator[Finding]:
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
