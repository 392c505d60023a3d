"""Scores of structural probes as labelled variables of a result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables
from headscope.statistics.intervals import Score, mean_of
from headscope.studies.layers.structure import SCORES, STUDY
from headscope.studies.layers.structure.tensor_products import SCHEMES, DecomposedStates
from headscope.studies.layers.structure.train import KINDS, FittedProbes
from headscope.studies.layers.structure.treebank_states import UNCONTEXTUAL

BASELINES = (*UNCONTEXTUAL, "linear")


def decomposed_variables(states: DecomposedStates) -> dict[str, xr.DataArray]:
    """The errors of all schemes in all layers, and what trees gain on shuffled ones."""
    variables = Variables({"role_scheme": SCHEMES}, STUDY.source, STUDY.labels)
    errors = [states.error[scheme] for scheme in SCHEMES]
    variables.add(
        "tensor_product_error",
        np.stack([error.mean for error in errors]),
        interval=np.stack([error.interval for error in errors]),
        count=Count(errors[0].count, "sentences", "sentences"),
    )
    variables.add("tensor_product_parameters", [states.parameters[scheme] for scheme in SCHEMES])
    variables.add("tensor_product_roles", [states.roles[scheme] for scheme in SCHEMES])
    _add(variables, "tree_roles_gain", states.error["shuffled_tree"] - states.error["tree"])
    return variables.arrays


@dataclass(frozen=True)
class HeldOutScores:
    """Scores on held-out training sentences by name: with the chosen ranks, and with each rank if there are several."""

    chosen: Mapping[str, Score]
    by_rank: Mapping[int, Mapping[str, Score]]


def to_variables(
    tested: Mapping[str, Score],
    held_out: HeldOutScores,
    random: Mapping[int, Mapping[str, Score]],
    fitted: FittedProbes,
) -> dict[str, xr.DataArray]:
    """The scores of all layers and baselines, those of random weights by seed, and what held-out sentences chose."""
    layers = len(fitted.maps["distance"]) - len(UNCONTEXTUAL)
    ranks = sorted(fitted.by_rank)
    variables = Variables(
        {"baseline": BASELINES, "probe": KINDS, "probe_rank": ranks, "seed": list(random)}, STUDY.source, STUDY.labels
    )
    for name in (score.name for score in SCORES):
        score, cases = tested[name], "edges" if name == "uuas" else "sentences"
        _add(variables, name, score[:layers], Count(score.count, cases, cases))
        _add(variables, f"{name}_baseline", score[layers:])
        if random:
            by_seed = [scores[name][:layers] for scores in random.values()]
            _add(variables, f"{name}_random", mean_of(by_seed))
            _add(variables, f"{name}_gain", score[:layers] - mean_of(by_seed))
            variables.add(f"{name}_random_by_seed", np.stack([score.mean for score in by_seed]))
    variables.add("held_out_uuas", held_out.chosen["uuas"].mean[:layers])
    if held_out.by_rank:
        _add_ranks(variables, [held_out.by_rank[rank] for rank in ranks], layers)
    variables.add("rank", np.array([fitted.ranks[kind][:layers] for kind in KINDS]))  # [probe, layer]
    variables.add("held_out_loss", fitted.losses[..., :layers].min(0))  # [probe, layer]
    return variables.arrays


def _add(variables: Variables, name: str, score: Score, count: Count | None = None) -> None:
    variables.add(name, score.mean, interval=score.interval, count=count)


def _add_ranks(variables: Variables, by_rank: Sequence[Mapping[str, Score]], layers: int) -> None:
    """The scores of each rank on held-out training sentences."""
    for name in (score.name for score in SCORES):
        rows = [scores[name][:layers] for scores in by_rank]
        interval = np.stack([score.interval for score in rows])  # [rank, layer, bound]
        variables.add(f"{name}_by_rank", np.stack([score.mean for score in rows]), interval=interval)
