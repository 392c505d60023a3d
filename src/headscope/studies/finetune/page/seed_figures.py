"""Figures of seeds: the best of several runs, and the heads that matter in all of them."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import heatmap, with_interval
from headscope.figures.curve import curve
from headscope.report.parts import Figure
from headscope.studies.finetune.page.scores import main_metric, names
from headscope.studies.finetune.page.seeds import runs_of, way_of

BEST, HEADS = "The best of several runs", "Heads that matter in all runs"


def seed_figures(result: xr.Dataset) -> Iterator[Figure]:
    """Of each task: the expected best score by the number of runs, and how often each head is among the first."""
    for task in names(result):
        if "expected_best" in result and runs_of(result) > 2:
            chosen = {"task": task, "metric": main_metric(result, task)}
            array = with_interval(result, "expected_best").sel(chosen, drop=True).dropna("init", how="all")
            if array.size:
                caption = "Expected score of the best of so many runs, chosen on the same dev examples."
                yield Figure(f"expected_best-{task}", BEST, curve(array, "trials"), caption, "expected_best")
        if "important_runs" in result:
            share = result["important_runs"].sel(task=task, init=way_of(result, task), drop=True)
            if bool(share.notnull().any()):
                caption = "Share of the runs in which a head is among the tenth that matters most to the loss."
                yield Figure(f"important_runs-{task}", HEADS, heatmap(share, domain=(0, 1)), caption, "important_runs")
