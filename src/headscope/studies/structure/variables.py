"""Scores of structural probes as labelled variables of a result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class HeldOutScores:
    """Scores on held-out training sentences by name: with the chosen ranks, and with each rank if there are several."""

    chosen: Mapping[str, Score]
    by_rank: Mapping[int, Mapping[str, Score]]


def to_variables(
    tested: Mapping[str, Score], held_out: HeldOutScores, random: Mapping[str, Score] | None, fitted: FittedProbes
) -> dict[str, xr.DataArray]:
    """The scores of all layers and baselines, those of random weights, and the choices made on held-out sentences."""
    layers = len(fitted.maps["distance"]) - len(UNCONTEXTUAL)
    ranks = sorted(fitted.by_rank)
    variables = Variables({"baseline": BASELINES, "probe": KINDS, "probe_rank": ranks}, SOURCE)
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
    values = held_out.chosen["uuas"].mean[:layers]
    long_name = f"{SCORES['uuas'][0]}, on held-out training sentences"
    variables.add("held_out_uuas", values, ("layer",), long_name=long_name, units="share of edges")
    if held_out.by_rank:
        _add_ranks(variables, [held_out.by_rank[rank] for rank in ranks], layers)
    _add_training(variables, fitted, layers)
    return variables.arrays


def _add(
    variables: Variables, name: str, score: Score, dim: str, labels: Mapping[str, str], count: Count | None = None
) -> None:
    variables.add(name, score.mean, (dim,), interval=score.interval, count=count, **labels)


def _add_ranks(variables: Variables, by_rank: Sequence[Mapping[str, Score]], layers: int) -> None:
    """The scores of each rank on held-out training sentences."""
    for name, (long_name, units, _) in SCORES.items():
        every = [scores[name][:layers] for scores in by_rank]
        interval = np.stack([each.interval for each in every])  # [rank, layer, bound]
        means, dims = np.stack([each.mean for each in every]), ("probe_rank", "layer")
        words = f"{long_name}, by rank, on held-out training sentences"
        variables.add(f"{name}_by_rank", means, dims, long_name=words, units=units, interval=interval)


def _add_training(variables: Variables, fitted: FittedProbes, layers: int) -> None:
    chosen = np.array([fitted.ranks[kind][:layers] for kind in KINDS])  # [probe, layer]
    dims = ("probe", "layer")
    variables.add("rank", chosen, dims, long_name="rank of a probe", units="dimensions")
    losses = fitted.losses[..., :layers].min(0)  # [probe, layer]
    variables.add("held_out_loss", losses, dims, long_name="loss of a probe on held-out sentences", units="edges")
