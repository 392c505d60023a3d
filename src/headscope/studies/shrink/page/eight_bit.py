"""The saved model in eight bits on the page: what it loses, its size, its speed, and how its options were chosen."""

from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import label
from headscope.report.claims import no_worse
from headscope.report.parts import Finding
from headscope.report.tables import Table, titled
from headscope.report.wording import estimate, examples, measured, n_examples, number, of_array, several


def eight_bit(result: xr.Dataset, known: dict[str, Any]) -> Iterator[Finding]:
    """Findings of the file of eight bits; none without it.

    * `known`: sizes, timings and options of the result.
    """
    files = known.get("eight_bit")
    if files is None or measured(result, "eight_bit_gain") is None:
        return
    metric, gain = str(result["metric"].values[0]), with_interval(result, "eight_bit_gain")
    score, limit = estimate(result, "eight_bit_score", metric=metric), number(known["tolerance"])
    name, more = label("metric", metric).capitalize(), of_array(gain).text
    text = f"{name} is then {score.text}, a gain of {more} on the whole model."
    yield Finding.judged(
        no_worse(of_array(gain), known["tolerance"], (n_examples(gain) or (0, 0))[0]),
        text + examples(gain),
        holds=f"In eight bits it loses less than {limit}",
        fails=f"In eight bits it loses {limit} or more",
        undecided=f"It is not sure that in eight bits it loses less than {limit}",
        unit="examples",
    )
    sizes, times = files["megabytes"], []
    for shape, (one, other) in zip(known["timed"], files["milliseconds"], strict=True):
        words = f"{several(shape['examples'], 'input')} of {shape['tokens']} tokens"
        torch = number(shape["after"], ".1f")
        times.append(f"{words}: {torch}, {number(one, '.1f')} and {number(other, '.1f')} ms")
    yield Finding(
        "The model in eight bits",
        f"The ONNX file has {number(sizes[0], '.3g')} MB in float32 and {number(sizes[1], '.3g')} MB in eight bits. "
        f"Medians of a forward pass in torch, and of both files in onnxruntime: {'; '.join(times)}. Options: "
        f"{files['options']}, chosen on {several(files['inputs'], 'text')} that do not score; there the outputs change "
        f"by {number(files['change'], '.2g')}.",
    )


def trials(known: dict[str, Any]) -> Iterator[Table]:
    """A row for each way to eight bits that was tried; none without such a file."""
    files = known.get("eight_bit")
    if files is None:
        return
    caption = (
        "Ways to eight bits: the change of the outputs from those in float32, on texts that choose, and megabytes of "
        "the file. Saved is the smallest that changes the outputs by 0.01 or less, else the one with the least change."
    )
    rows = [
        (f"{one['options']}{', saved' if one['options'] == files['options'] else ''}", _cells(one))
        for one in files["trials"]
    ]
    yield titled("eight_bit_trials", caption, "Options", ["Change", "MB"], rows)


def _cells(trial: dict[str, Any]) -> list[tuple[str, str] | None]:
    return [(number(trial["change"], ".4f"), ""), (number(trial["megabytes"], ".2f"), "")]
