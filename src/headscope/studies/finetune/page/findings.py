"""Findings of fine-tuning: what it adds to pre-training, and pre-training to it, after Kovaleva et al. (2019)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import examples, measured, number

WORDS = {
    "finetuned": "fine-tuned",
    "pretrained": "not trained",
    "random": "from random weights",
    "frozen": "with the encoder frozen",
}


def findings(result: xr.Dataset) -> list[Finding]:
    """The gain on average, each task's scores, a random start, seeds, and how the models were chosen."""
    return [*_gain(result), *_tasks(result), *_random(result), *_spread(result), *_paper(result), *_chosen(result)]


def _gain(result: xr.Dataset) -> Iterator[Finding]:
    inits = set(result["init"].values.tolist())
    if not {"pretrained", "finetuned"} <= inits:
        return
    gains = [_value(result, task, "finetuned") - _value(result, task, "pretrained") for task in _names(result)]
    mean = 100 * sum(gains) / len(gains)
    change = f"adds {mean:.1f} points to" if mean >= 0 else f"takes {-mean:.1f} points from"
    over = "" if len(gains) == 1 else f" on average over {len(gains)} tasks"
    text = f"Fine-tuning {change} the model as it is{over}, by the main metric of each."
    yield Finding("What fine-tuning adds", f"{text} The paper's BERT-base gains 35.9 on average over seven tasks.")


def _tasks(result: xr.Dataset) -> Iterator[Finding]:
    """The scores of each task, and which starts do no better than always giving the same answer."""
    for task in _names(result):
        scores, metric = _scores(result, task), _main(result, task)
        chance = float(result["chance"].sel(task=task, metric=metric))
        told = [f"{WORDS[init]} {_told(scores.sel(init=init))}" for init in _inits(scores)]
        text = f"{metric.capitalize()}: {', '.join(told)}; the same answer always {number(chance)}."
        low = [WORDS[init] for init in _inits(scores) if float(scores.sel(init=init)["lower"]) <= chance]
        if low:
            text += f" No better than that beyond doubt: {', '.join(low)}."
        yield Finding(task, text + examples(scores))


def _random(result: xr.Dataset) -> Iterator[Finding]:
    if not {"random", "finetuned", "pretrained"} <= set(result["init"].values.tolist()):
        return
    behind = [task for task in _names(result) if _value(result, task, "random") < _value(result, task, "pretrained")]
    losses = {task: _value(result, task, "finetuned") - _value(result, task, "random") for task in _names(result)}
    told = ", ".join(f"{task} {100 * loss:.1f}" for task, loss in losses.items())
    text = f"Points by which training ends lower from random weights than from pre-trained ones: {told}."
    if behind:
        text += f" On {', '.join(behind)} it ends below the pre-trained model that was not trained at all."
    yield Finding("Random weights", text)


def _spread(result: xr.Dataset) -> Iterator[Finding]:
    if measured(result, "score_std") is None:
        return
    spread = {
        task: float(result["score_std"].sel(task=task, metric=_main(result, task)).max()) for task in _names(result)
    }
    told = ", ".join(f"{task} {number(value)}" for task, value in spread.items())
    yield Finding(
        "Seeds", f"{result.sizes['seed']} seeds each; the largest standard deviation of the main metric: {told}."
    )


def _paper(result: xr.Dataset) -> Iterator[Finding]:
    """The paper's scores beside ours, where the paper has the task."""
    if "paper_score" not in result:
        return
    told = []
    for task in _names(result):
        paper = result["paper_score"].sel(task=task, metric=_main(result, task)).dropna("init")
        if paper.size:
            scores = [f"{WORDS[init]} {number(float(paper.sel(init=init)))}" for init in paper["init"].values.tolist()]
            told.append(f"{task}: {', '.join(scores)}")
    if told:
        yield Finding("The paper's BERT-base", "; ".join(told) + ". Kovaleva et al. (2019), Table 1.")


def _chosen(result: xr.Dataset) -> Iterator[Finding]:
    if '"keep": "best"' in str(result.attrs.get("recipe", "")) and result.sizes.get("epoch", 0) > 1:
        text = "The kept model is that of the best epoch on the same dev examples: a little too good. See epoch_score."
        yield Finding("How models were chosen", text)


def _names(result: xr.Dataset) -> list[str]:
    return result["task"].values.tolist()


def _inits(scores: xr.DataArray) -> list[str]:
    return scores["init"].values.tolist()


def _main(result: xr.Dataset, task: str) -> str:
    """The first metric of a task."""
    return str(result["score"].sel(task=task).dropna("metric", how="all")["metric"].values[0])


def _scores(result: xr.Dataset, task: str) -> xr.DataArray:
    scores = measured(result, "score", task=task, metric=_main(result, task))
    assert scores is not None, "a task without a score"
    return scores


def _value(result: xr.Dataset, task: str, init: str) -> float:
    return float(result["score"].sel(task=task, init=init, metric=_main(result, task)))


def _told(score: xr.DataArray) -> str:
    return f"{number(float(score))} [{number(float(score['lower']))}, {number(float(score['upper']))}]"
