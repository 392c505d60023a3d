"""The saved model in other number formats on the page: the tests of what they lose, and the model in bfloat16."""

from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import label
from headscope.report.claims import no_worse
from headscope.report.parts import Finding
from headscope.report.wording import examples, measured, n_examples, number, of_array


def bfloat16(result: xr.Dataset, known: dict[str, Any]) -> Iterator[Finding]:
    """Findings of the folder in bfloat16; none without it.

    * `known`: sizes of the result.
    """
    folder = known.get("bfloat16")
    if folder is None or measured(result, "bfloat16_gain") is None:
        return
    beside = "the saved model in float32"
    yield loss(result, "bfloat16", beside, known["tolerance"], ("In bfloat16 it loses", " beside float32"))
    yield Finding(
        "The model in bfloat16",
        f"The weights in the folder {folder['folder']} have {number(folder['megabytes'], '.3g')} MB, those in float32 "
        f"{number(known['megabytes'][1], '.3g')} MB. It is for GPUs, and was not timed: processors may be slower in "
        "bfloat16.",
    )


def loss(result: xr.Dataset, name: str, beside: str, tolerance: float, words: tuple[str, str]) -> Finding:
    """The test that a format loses less than the tolerance.

    * `name`: of the format in variables; `beside`: which model it is compared with; `words`: of the topic where it
      holds, before and after the tolerance.
    """
    metric, gain = str(result["metric"].values[0]), with_interval(result, f"{name}_gain")
    score, (lost, end), limit = of_array(score_of(result, name, metric)), words, number(tolerance)
    text = f"{label('metric', metric).capitalize()} is then {score.text}, a gain of {of_array(gain).text} on {beside}."
    return Finding.judged(
        no_worse(of_array(gain), tolerance, (n_examples(gain) or (0, 0))[0]),
        text + examples(gain),
        holds=f"{lost} less than {limit}{end}",
        fails=f"{lost} {limit} or more{end}",
        undecided=f"It is not sure that {lost[0].lower()}{lost[1:]} less than {limit}{end}",
        unit="examples",
    )


def score_of(result: xr.Dataset, name: str, metric: str) -> xr.DataArray:
    """The score of a format in a metric, with its interval."""
    found = measured(result, f"{name}_score", metric=metric)
    return result[f"{name}_score"].sel(metric=metric) if found is None else found
