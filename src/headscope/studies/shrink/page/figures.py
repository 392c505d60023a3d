"""Figures: the score of all models of a run, what is left of each layer, what parts cost, and other choices."""

import xarray as xr

from headscope.figures import matrix, with_interval
from headscope.figures.curve import curve
from headscope.figures.dot_rows import dot_rows
from headscope.figures.labels import label
from headscope.report.parts import Figure
from headscope.report.wording import measured
from headscope.studies.shrink.page import gates
from headscope.studies.shrink.page.findings import facts
from headscope.studies.shrink.page.path_figure import path_figures

PARTS, CHOICES = "What was removed", "Other choices of parts"
UNTRAINED = "With 95% intervals, before any training; of random parts the mean over draws."


def figures(result: xr.Dataset) -> list[Figure]:
    """The main score by speed and by size, what is left by layer, the change of the outputs, and other choices."""
    name = label("metric", str(result["metric"].values[0]))
    speed = xr.DataArray(facts(result)["speeds"], dims="step", name="speed")
    charts = path_figures(result)
    if (kept := measured(result, "kept_share")) is not None:
        caption = (
            "Share of each layer that stays in the saved model: of its neurons and heads, and of what these add to the "
            "states of texts of the search; 0 where the layer is gone."
        )
        charts.append(Figure("kept_share", PARTS, matrix(kept.transpose("layer", "kept")), caption, "kept_share"))
    charts.append(
        Figure(
            "output_change",
            PARTS,
            curve(_along(result["output_change"], speed), "speed"),
            f"Change of the outputs on examples of the search, {gates.untrained(facts(result))}.",
            "output_change",
        )
    )
    if measured(result, "layer_neurons") is not None:
        charts.append(
            Figure(
                "layer_neurons",
                PARTS,
                matrix(result["layer_neurons"].drop_vars("part", errors="ignore").transpose("layer", "step")),
                "Neurons of each layer's feed-forward part after each step; 0 where the layer is gone.",
                "layer_neurons",
            )
        )
    charts.extend(gates.figures(result, facts(result)))
    scores = measured(result, "choice_score", metric=result["metric"].values[0])
    if scores is not None and bool((scores >= 0).all()):
        scores = with_interval(result, "choice_score").isel(metric=[0]).rename(metric="series")
        scores = scores.drop_vars("n_examples", errors="ignore").transpose("choice", "series")
        caption = f"Held-out {name} of models of the saved size, by how their parts are chosen. " + UNTRAINED
        charts.append(Figure("choice_score", CHOICES, dot_rows(scores), caption, "choice_score"))
    return charts


def _along(array: xr.DataArray, along: xr.DataArray) -> xr.DataArray:
    """An array over the values of another variable in the place of the steps."""
    array = array.drop_vars(["part", "metric", "n_examples"], errors="ignore")
    return (
        array.assign_coords({str(along.name): ("step", along.values)}).swap_dims(step=str(along.name)).drop_vars("step")
    )
