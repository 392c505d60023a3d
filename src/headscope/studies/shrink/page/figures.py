"""Figures: the score along the path of the search, what each part cost, and what is left of each layer."""

import numpy as np
import xarray as xr

from headscope.figures import matrix, with_interval
from headscope.figures.curve import curve
from headscope.figures.dot_rows import dot_rows
from headscope.figures.labels import label
from headscope.report.parts import Figure
from headscope.report.wording import measured
from headscope.studies.shrink.page.findings import facts

PATH, PARTS, CHOICES = "Score against speed and size", "What was removed", "Other choices of parts"
UNTRAINED = "With 95% intervals, before any training; of random parts the mean over draws."


def figures(result: xr.Dataset) -> list[Figure]:
    """The main score by speed and by size, the change of the outputs by speed, and what is left by layer."""
    name = label("metric", str(result["metric"].values[0]))
    speed = xr.DataArray(facts(result)["speeds"], dims="step", name="speed")
    caption = f"Held-out {name}, with 95% intervals, after each step of the search and of the saved model. "
    charts = [
        Figure("path_score", PATH, curve(_path(result, speed), "speed"), caption + "Expected speed.", "path_score"),
        Figure(
            "path_size",
            PATH,
            curve(_path(result, result["megabytes"]), "megabytes"),
            caption + "In float32.",
            "path_score",
        ),
        Figure(
            "output_change",
            PARTS,
            curve(_along(result["output_change"], speed), "speed"),
            "Change of the outputs on examples of the search, before any training.",
            "output_change",
        ),
    ]
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
    scores = measured(result, "choice_score", metric=result["metric"].values[0])
    if scores is not None and bool((scores >= 0).all()):
        scores = with_interval(result, "choice_score").isel(metric=[0]).rename(metric="series")
        scores = scores.drop_vars("n_examples", errors="ignore").transpose("choice", "series")
        caption = f"Held-out {name} of models of the saved size, by how their parts are chosen. " + UNTRAINED
        charts.append(Figure("choice_score", CHOICES, dot_rows(scores), caption, "choice_score"))
    return charts


def _path(result: xr.Dataset, along: xr.DataArray) -> xr.DataArray:
    """The main score after each step, and beside it that of the saved model, over speed or size."""
    labels = {"metric": result["metric"].values[0]}
    path, saved = (with_interval(result, name).sel(labels) for name in ("path_score", "shrunk_score"))
    last = np.where(np.arange(path.size) == path.size - 1, 1.0, np.nan)

    def both(of_steps: np.ndarray, of_saved: float) -> np.ndarray:
        return np.stack([of_steps, last * of_saved])

    array = xr.DataArray(
        both(path.values, float(saved)),
        {"model": ["each step, untrained", "saved model"], "step": path["step"]},
        ("model", "step"),
        "path_score",
        path.attrs,
    )
    bounds = [name for name in ("lower", "upper") if name in path.coords and name in saved.coords]
    array = array.assign_coords(
        {name: (("model", "step"), both(path[name].values, float(saved[name]))) for name in bounds}
    )
    return _along(array, along)


def _along(array: xr.DataArray, along: xr.DataArray) -> xr.DataArray:
    """An array over the values of another variable in the place of the steps."""
    array = array.drop_vars(["part", "metric", "n_examples"], errors="ignore")
    return (
        array.assign_coords({str(along.name): ("step", along.values)}).swap_dims(step=str(along.name)).drop_vars("step")
    )
