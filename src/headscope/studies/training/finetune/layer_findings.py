"""Findings on layers: whether the last one changes more than the others, and whether for its updates, too."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.report.claims import LEAST_SEEDS, Claim
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, measured, number, of_array, several

# Of the inits those whose attention was trained, in this order.
TRAINED = ("finetuned", "random")
QUESTIONS = {
    "last_layer_change": (
        "The last layer changes more than the others on average",
        "The last layer does not change more than the others on average",
    ),
    "last_layer_per_update": (
        "For its updates, too, the last layer changes more than the others on average",
        "For its updates the last layer does not change more than the others on average",
    ),
}


def last_layers(numbers: Numbers) -> Iterator[Finding]:
    """For each task: the last layer beside the others, as it is and for each unit of update."""
    result = numbers.result
    for task in result["task"].values.tolist():
        of_task = result.sel(task=task)
        init = next((init for init in TRAINED if _has(of_task, init)), None)
        if init is not None:
            several_tasks = result.sizes["task"] > 1
            yield from _of_task(of_task.sel(init=init), f" on {task}" if several_tasks else "")


def decided_layers(numbers: Numbers) -> list[Finding]:
    """What is told of the last layer."""
    return [finding for finding in last_layers(numbers) if finding.verdict != "undecided"]


def undecided_layers(numbers: Numbers) -> list[Finding]:
    """What cannot be told of the last layer."""
    return [finding for finding in last_layers(numbers) if finding.verdict == "undecided"]


def _runs(result: xr.Dataset) -> tuple[int, str]:
    """The number of runs that the interval is over, and their noun: each is a seed, or a pair of seeds."""
    if "score_by_pair" in result:
        return int(result["score_by_pair"].isel(metric=0).count()), "run"
    return result.sizes.get("seed", 1), "seed"


def _has(result: xr.Dataset, init: str) -> bool:
    return init in result["init"].values and bool(result["change_per_update"].sel(init=init).notnull().any())


def _of_task(result: xr.Dataset, on_task: str) -> Iterator[Finding]:
    runs, noun = _runs(result)
    few = "" if runs >= LEAST_SEEDS else f" {LEAST_SEEDS} seeds are wanted for an interval; --seeds sets them."
    texts = {
        "last_layer_change": f"Change of attention (1 minus the cosine): {_by_layer(result, 'attention_change')}",
        "last_layer_per_update": (
            "Change of attention by the way of a layer's weights, all updates added up as a share of their length: "
            f"{_by_layer(result, 'change_per_update')}; the way: {_by_layer(result, 'update_path')}"
        ),
    }
    for name, (holds, fails) in QUESTIONS.items():
        array = measured(result, name)
        if array is None:
            continue
        ratio = of_array(array)
        yield Finding.judged(
            _above_the_others(ratio, _n(result)),
            f"{texts[name]}. The last layer has {_times(ratio)} the mean of the others; {several(runs, noun)}.{few}",
            holds=f"{holds}{on_task}",
            fails=f"{fails}{on_task}",
            undecided=f"It cannot be told whether {holds[0].lower()}{holds[1:]}{on_task}",
            unit="",
        )


def _above_the_others(ratio: Estimate, n: int) -> Claim:
    """The logarithm of a ratio above 0, with its interval over seeds."""
    return Claim(ratio.value, 0.0, ratio, n)


def _times(ratio: Estimate) -> str:
    """A ratio from its logarithm, with its interval."""
    value, lower, upper = (float(np.exp(one)) for one in (ratio.value, ratio.lower, ratio.upper))
    bounds = f" [{number(lower)}, {number(upper)}]" if ratio.tested else ""
    return f"{number(value)} times{bounds}"


def _n(result: xr.Dataset) -> int:
    """The number of dev examples, which all seeds share."""
    most = result["score_n_examples"].max() if "score_n_examples" in result else np.nan
    return int(most) if np.isfinite(most) else 0


def _by_layer(result: xr.Dataset, name: str) -> str:
    parts = result[name].dropna("layer")
    return ", ".join(f"layer {int(part['layer'])} {number(float(part))}" for part in parts)
