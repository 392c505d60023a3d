"""Findings about single held-out examples: how many are answered otherwise, and groups of inputs that lose more."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.claims import apart, together
from headscope.report.parts import Finding
from headscope.report.wording import estimate, examples, measured, of_array


def changed(result: xr.Dataset) -> Iterator[Finding]:
    """The share of predictions that changed."""
    share = measured(result, "changed_share")
    if share is not None:
        text = f"The saved model gives another class to {of_array(share).percent} of the held-out examples."
        yield Finding("Predictions that changed", text + examples(share))


def lossier_groups(result: xr.Dataset) -> Iterator[Finding]:
    """The groups of inputs that lose more than all others, corrected for their number; nothing of any other group."""
    if measured(result, "group_loss") is None:
        return
    names, units = result["input_group"].values.tolist(), result["group_loss"].attrs["units"]
    sides = [
        [estimate(result, "group_loss", input_group=name, within=within) for within in ("group", "others")]
        for name in names
    ]
    counts = result["group_loss_n_examples"].min("within").values.astype(int).tolist()
    claims = together([apart(group, others, n) for (group, others), n in zip(sides, counts, strict=True)])
    for name, (group, others), claim in zip(names, sides, claims, strict=True):
        if claim.verdict == "holds":
            text = (
                f"They lose {group.text} of {units} in the saved model, all others {others.text} (q < 0.05, "
                f"Benjamini-Hochberg over {len(names)} groups)."
            )
            topic = f"{name[0].upper()}{name[1:]} lose more than others"
            yield Finding.judged(claim, text, holds=topic, fails=topic, undecided=topic, unit="")
