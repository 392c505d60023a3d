"""Findings of fine-tuning: its gain over pre-training, and the gain of pre-training (Kovaleva et al. 2019)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import examples, higher_or_lower, measured, number, of_array

MOST = 4
WORDS = {
    "finetuned": "fine-tuned",
    "pretrained": "not trained",
    "random": "from random weights",
    "frozen": "with the encoder frozen",
}

START = {
    "finetuned": "after fine-tuning",
    "pretrained": "without fine-tuning",
    "random": "from random weights",
    "frozen": "with a frozen encoder",
}


def highlights(result: xr.Dataset) -> list[Finding]:
    """The gain of fine-tuning, the tasks that are not learned, and the loss from random weights."""
    return [*_best_scores(result), *_gain(result), *_no_better(result), *_pretraining(result)][:MOST]


def _best_scores(result: xr.Dataset) -> Iterator[Finding]:
    for task in _names(result)[:MOST]:
        scores = _scores(result, task)
        best = max(_inits(scores), key=lambda init: float(scores.sel(init=init)))
        value, chance = number(float(scores.sel(init=best))), _chance(result, task)
        topic = f"{task}: {_main(result, task)} {value} {START[best]}"
        known = f"scores {number(chance)}" if chance == chance else "has no score here"
        yield Finding(topic, f"Always giving the same answer {known}.")


def _no_better(result: xr.Dataset) -> Iterator[Finding]:
    names = [task for task in _names(result) if "finetuned" in _low(result, task)]
    if names:
        verb = "is" if len(names) == 1 else "are"
        text = "After fine-tuning the score may be that of always giving the same answer."
        yield Finding(f"{', '.join(names)} {verb} not learned", text)


def _low(result: xr.Dataset, task: str) -> list[str]:
    """The starts whose score may be that of a constant answer."""
    scores, chance = _scores(result, task), _chance(result, task)
    return [init for init in _inits(scores) if float(scores.sel(init=init)["lower"]) <= chance]


def _pretraining(result: xr.Dataset) -> Iterator[Finding]:
    if losses := _differences(result, "finetuned", "random"):
        mean = sum(losses.values()) / len(losses)
        text = f"From random weights the score is {higher_or_lower(-mean)} on average."
        yield Finding("Pre-training helps" if mean > 0 else "Pre-training does not help", text)


def findings(result: xr.Dataset) -> list[Finding]:
    """The gain on average, each task's scores, a random start, seeds, and how the models were chosen."""
    parts = (_gain, _tasks, _without, _random, _spread, _paper, _chosen)
    return [finding for part in parts for finding in part(result)]


def _gain(result: xr.Dataset) -> Iterator[Finding]:
    gains = _differences(result, "finetuned", "pretrained")
    if not gains:
        return
    mean = 100 * sum(gains.values()) / len(gains)
    change = f"adds {mean:.1f} points" if mean >= 0 else f"costs {-mean:.1f} points"
    scope = "" if len(gains) == 1 else f" on average over {len(gains)} tasks"
    text = f"Fine-tuning {change}{scope}, by the main metric of each task."
    yield Finding("Gain of fine-tuning", f"{text} BERT-base in the paper gains 35.9 on average over seven tasks.")


def _tasks(result: xr.Dataset) -> Iterator[Finding]:
    """The scores of each task, and the starts that are no better than a constant answer."""
    for task in _names(result):
        scores, metric = _scores(result, task), _main(result, task)
        chance = _chance(result, task)
        texts = [f"{WORDS[init]} {of_array(scores.sel(init=init)).text}" for init in _inits(scores)]
        constant = f"; a constant answer {number(chance)}" if chance == chance else ""
        text = f"{metric.capitalize()}: {', '.join(texts)}{constant}."
        if low := [WORDS[init] for init in _low(result, task)]:
            text += f" Not clearly better than that: {', '.join(low)}."
        yield Finding(task, text + examples(scores))


def _without(result: xr.Dataset) -> Iterator[Finding]:
    if names := [task for task in result["task"].values.tolist() if task not in _names(result)]:
        yield Finding("Without a score", f"The result has no score of {', '.join(names)}.")


def _random(result: xr.Dataset) -> Iterator[Finding]:
    losses, gains = (_differences(result, *both) for both in (("finetuned", "random"), ("random", "pretrained")))
    if not losses or not gains:
        return
    behind = [task for task, gain in gains.items() if gain < 0]
    texts = ", ".join(f"{task} {higher_or_lower(-loss)}" for task, loss in losses.items())
    text = f"Scores of training from random weights, beside training from pre-trained ones: {texts}."
    if behind:
        text += f" On {', '.join(behind)} the score is below that of the pre-trained model without fine-tuning."
    yield Finding("Random weights", text)


def _spread(result: xr.Dataset) -> Iterator[Finding]:
    if measured(result, "score_std") is None:
        return
    spread = {
        task: float(result["score_std"].sel(task=task, metric=_main(result, task)).max()) for task in _names(result)
    }
    spread = {task: value for task, value in spread.items() if value == value}
    texts = ", ".join(f"{task} {number(value)}" for task, value in spread.items())
    yield Finding(
        "Seeds", f"{result.sizes['seed']} seeds each; the largest standard deviation of the main metric: {texts}."
    )


def _paper(result: xr.Dataset) -> Iterator[Finding]:
    """The paper's scores beside ours, where the paper has the task."""
    if "paper_score" not in result:
        return
    texts = []
    for task in _names(result):
        paper = result["paper_score"].sel(task=task, metric=_main(result, task)).dropna("init")
        if paper.size:
            scores = [f"{WORDS[init]} {number(float(paper.sel(init=init)))}" for init in paper["init"].values.tolist()]
            texts.append(f"{task}: {', '.join(scores)}")
    if texts:
        yield Finding("The paper's BERT-base", "; ".join(texts) + ". Kovaleva et al. (2019), Table 1.")


def _chosen(result: xr.Dataset) -> Iterator[Finding]:
    if '"keep": "best"' in str(result.attrs.get("recipe", "")) and result.sizes.get("epoch", 0) > 1:
        text = "The best epoch was chosen on the same dev examples: the scores are a little too good."
        yield Finding("How models were chosen", text)


def _names(result: xr.Dataset) -> list[str]:
    """The tasks that have a score."""
    return result["score"].dropna("task", how="all")["task"].values.tolist()


def _inits(scores: xr.DataArray) -> list[str]:
    """The starts that have a score."""
    return scores.dropna("init")["init"].values.tolist()


def _main(result: xr.Dataset, task: str) -> str:
    """The first metric of a task."""
    return str(result["score"].sel(task=task).dropna("metric", how="all")["metric"].values[0])


def _scores(result: xr.Dataset, task: str) -> xr.DataArray:
    scores = measured(result, "score", task=task, metric=_main(result, task))
    assert scores is not None, "a task without a score"
    return scores


def _chance(result: xr.Dataset, task: str) -> float:
    """The score of a constant answer, NaN where it is not known."""
    return float(result["chance"].sel(task=task, metric=_main(result, task)))


def _differences(result: xr.Dataset, one: str, other: str) -> dict[str, float]:
    """The score of one start less that of another, for each task that has both."""
    starts = {task: _scores(result, task).dropna("init") for task in _names(result)}
    both = {task: scores for task, scores in starts.items() if {one, other} <= set(scores["init"].values.tolist())}
    return {task: float(scores.sel(init=one)) - float(scores.sel(init=other)) for task, scores in both.items()}
