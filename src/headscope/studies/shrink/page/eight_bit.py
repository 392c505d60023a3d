"""The saved model in eight bits on the page: what it loses, its size, its speed, and how its options were chosen."""

from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.tables import Table, titled
from headscope.report.wording import measured, number, several
from headscope.studies.shrink.page.number_formats import loss


def eight_bit(result: xr.Dataset, known: dict[str, Any]) -> Iterator[Finding]:
    """Findings of the file of eight bits; none without it.

    * `known`: sizes, timings and options of the result.
    """
    files = known.get("eight_bit")
    if files is None or measured(result, "eight_bit_gain") is None:
        return
    yield loss(result, "eight_bit", "the whole model", known["tolerance"], ("In eight bits it loses", ""))
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
        f"by {number(files['change'], '.2g')}.{_for_the_target(files)}",
    )


def _for_the_target(files: dict[str, Any]) -> str:
    """What the options of a larger file would be, where the target decides; nothing where it does not."""
    free = files.get("any_size")
    if free is None or free["options"] == files["options"]:
        return ""
    return (
        f" A file of any size would have other options ({free['options']}): {number(free['megabytes'], '.3g')} MB, and "
        f"a change of {number(free['change'], '.2g')}."
    )


def met_by_file(known: dict[str, Any]) -> str:
    """Which file meets a size that eight bits are a step to, in a sentence; nothing where they are none.

    * `known`: sizes, timings and options of the result.
    """
    if "eight_bit_step" not in known:
        return ""
    files, meets = known["eight_bit"], "meets" if known["reached"] else "does not meet"
    return (
        f" The ONNX file {files['file']} {meets} the target, {known['target']}: it has "
        f"{number(files['megabytes'][1], '.3g')} MB. The weights in the folder are in float32: "
        f"{number(known['megabytes'][1], '.3g')} MB."
    )


def steps_note(known: dict[str, Any]) -> str:
    """Which steps of the search are in eight bits, for a caption; nothing without them."""
    step = known.get("eight_bit_step")
    if step is None:
        return ""
    return f" From step {step} on the ONNX file of eight bits of each step scores, and its megabytes count."


def trials(known: dict[str, Any]) -> Iterator[Table]:
    """A row for each way to eight bits that was tried; none without such a file."""
    files = known.get("eight_bit")
    if files is None:
        return
    caption = (
        "Ways to eight bits: the change of the outputs from those in float32, on texts that choose, and megabytes of "
        "the file. Saved is the smallest that changes the outputs by 0.01 or less, else the one with the least change"
        f"{', of files as small as the target.' if 'any_size' in files else '.'}"
    )
    rows = [
        (f"{one['options']}{', saved' if one['options'] == files['options'] else ''}", _cells(one))
        for one in files["trials"]
    ]
    yield titled("eight_bit_trials", caption, "Options", ["Change", "MB"], rows)


def _cells(trial: dict[str, Any]) -> list[tuple[str, str] | None]:
    return [(number(trial["change"], ".4f"), ""), (number(trial["megabytes"], ".2f"), "")]
