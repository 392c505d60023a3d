"""Findings on layers: whether the last one changes more than the others, and whether for its updates, too."""

from functools import partial

import numpy as np

from headscope.report.claims import LEAST_SEEDS, Claim
from headscope.report.declared import parts_of
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, number, several

# Of the inits those whose attention was trained, in this order.
TRAINED = ("finetuned", "random")
# The logarithm of the last layer's value by that of the others: what it is of, by layer, and what it says.
QUESTIONS = {
    "last_layer_change": (
        "Change of attention (1 minus the cosine): {attention_change}",
        "The last layer changes more than the others on average",
        "The last layer does not change more than the others on average",
    ),
    "last_layer_per_update": (
        "Change of attention, divided by all updates of the layer (as a share of its weights' norm): "
        "{change_per_update}; these updates: {update_path}",
        "The last layer changes more than the others on average, also for equal updates",
        "The last layer does not change more than the others on average, for equal updates",
    ),
}


def last_layers(numbers: Numbers) -> list[Finding]:
    """For each task: the last layer beside the others, as it is and for each unit of update."""
    changes, findings = numbers.array("change_per_update"), list[Finding]()
    for task in changes["task"].values.tolist():
        trained = changes.sel(task=task).dropna("init", how="all")["init"].values.tolist()
        for init in [init for init in TRAINED if init in trained][:1]:
            on_task = f" on {task}" if changes.sizes["task"] > 1 else ""
            parts = [partial(_last_layer, name=name, on_task=on_task) for name in QUESTIONS]
            findings += parts_of(parts, numbers.result.sel(task=task, init=init))
    return findings


def decided_layers(numbers: Numbers) -> list[Finding]:
    """What is decided about the last layer."""
    return [finding for finding in last_layers(numbers) if finding.verdict != "undecided"]


def undecided_layers(numbers: Numbers) -> list[Finding]:
    """What is undecided about the last layer."""
    return [finding for finding in last_layers(numbers) if finding.verdict == "undecided"]


def _last_layer(numbers: Numbers, name: str, on_task: str) -> Finding:
    """The last layer beside the others; the interval of the logarithm of their ratio is over seeds."""
    ratio, (text, holds, fails) = numbers(name), QUESTIONS[name]
    runs, noun = _runs(numbers)
    few = "" if runs >= LEAST_SEEDS else f" An interval needs {LEAST_SEEDS} seeds (--seeds {LEAST_SEEDS})."
    by_layer = {key: _by_layer(numbers, key) for key in ("attention_change", "change_per_update", "update_path")}
    return Finding.judged(
        Claim(ratio.value, 0.0, ratio, _examples(numbers)),
        f"{text.format_map(by_layer)}. The last layer has {_times(ratio)} the mean of the others; "
        f"{several(runs, noun)}.{few}",
        holds=f"{holds}{on_task}",
        fails=f"{fails}{on_task}",
        undecided=f"It cannot be told whether {holds[0].lower()}{holds[1:]}{on_task}",
        unit="",
    )


def _runs(numbers: Numbers) -> tuple[int, str]:
    """The number of runs that the interval is over, and their noun: each is a seed, or a pair of seeds."""
    if "score_by_pair" in numbers.result:
        return int(numbers.result["score_by_pair"].isel(metric=0).count()), "run"
    return numbers.result.sizes.get("seed", 1), "seed"


def _times(ratio: Estimate) -> str:
    """A ratio from its logarithm, with its interval."""
    times = Estimate(*(float(np.exp(bound)) for bound in (ratio.value, ratio.lower, ratio.upper)))
    return f"{number(times.value)} times{times.text.removeprefix(number(times.value))}"


def _examples(numbers: Numbers) -> int:
    """The number of dev examples, which all seeds share."""
    most = numbers.result["score_n_examples"].max() if "score_n_examples" in numbers.result else np.nan
    return int(most) if np.isfinite(most) else 0


def _by_layer(numbers: Numbers, name: str) -> str:
    parts = numbers.result[name].dropna("layer")
    return ", ".join(f"layer {int(part['layer'])} {number(float(part))}" for part in parts)
