"""Scores of structural probes as labelled variables of a result."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables
from headscope.statistics.resampled import Score
from headscope.studies.structure.train import KINDS, FittedProbes
from headscope.studies.structure.treebank_states import UNCONTEXTUAL

SOURCE = "Hewitt and Manning 2019, section 3"
BASELINES = (*UNCONTEXTUAL, "linear")
# Name: long name, units, and the cases that are counted.
SCORES = {
    "uuas": ("edges of the gold tree, without punctuation, that the predicted tree has", "share of edges", "edges"),
    "root_accuracy": ("sentences whose root has the smallest predicted depth", "share of sentences", "sentences"),
    "distance_spearman": (
        "rank correlation of predicted and gold distances, by sentence length (5 to 50 words)",
        "Spearman correlation",
        "sentences",
    ),
    "norm_spearman": (
        "rank correlation of predicted and gold depths, by sentence length (5 to 50 words)",
        "Spearman correlation",
        "sentences",
    ),
}


def to_variables(
    tested: Mapping[str, Score], held_out: Mapping[str, Score], random: Mapping[str, Score] | None, fitted: FittedProbes
) -> dict[str, xr.DataArray]:
    """The scores of all layers and baselines, those of random weights, and the choices made on held-out sentences."""
    layers = len(fitted.maps["distance"]) - len(UNCONTEXTUAL)
    variables = Variables({"baseline": BASELINES, "probe": KINDS}, SOURCE)
    for name, (long_name, units, cases) in SCORES.items():
        labels = {"long_name": long_name, "units": units}
        score, count = tested[name], Count(tested[name].count, cases, cases)
        _add(variables, name, score[:layers], "layer", labels, count)
        without = labels | {"long_name": f"{long_name}, without the context of the model"}
        _add(variables, f"{name}_baseline", score[layers:], "baseline", without)
        if random is not None:
            of_random = labels | {"long_name": f"{long_name}, for a model with random weights"}
            _add(variables, f"{name}_random", random[name][:layers], "layer", of_random)
            gain = labels | {"long_name": f"gain over random weights in {long_name}"}
            _add(variables, f"{name}_gain", score[:layers] - random[name][:layers], "layer", gain)
    values = held_out["uuas"].mean[:layers]
    long_name = f"{SCORES['uuas'][0]}, on held-out training sentences"
    variables.add("held_out_uuas", values, ("layer",), long_name=long_name, units="share of edges")
    _add_training(variables, fitted, layers)
    return variables.arrays


def _add(
    variables: Variables, name: str, score: Score, dim: str, labels: Mapping[str, str], count: Count | None = None
) -> None:
    variables.add(name, score.mean, (dim,), interval=score.interval, count=count, **labels)


def _add_training(variables: Variables, fitted: FittedProbes, layers: int) -> None:
    def of_layers(each: Mapping[str, Sequence[float]]) -> np.ndarray:
        return np.array([each[kind][:layers] for kind in KINDS])  # [probe, layer]

    dims = ("probe", "layer")
    variables.add("rank", of_layers(fitted.ranks), dims, long_name="rank of a probe", units="dimensions")
    losses, epochs = of_layers(fitted.losses), of_layers(fitted.epochs)
    variables.add("held_out_loss", losses, dims, long_name="loss of a probe on held-out sentences", units="edges")
    variables.add("epochs", epochs, dims, long_name="passes over the training sentences", units="epochs")
