"""The result variables of trained gates: which are open, and which heads stay."""

from collections.abc import Mapping

import numpy as np
import torch
import xarray as xr
from jaxtyping import Float

from headscope.results.variables import Label, Variables
from headscope.studies.shrink.hard_concrete import open_probability
from headscope.studies.shrink.moments import ranked_by_layer
from headscope.studies.shrink.sizes import Size

SOURCE = "gates that are trained together with the model (Voita et al. 2019; Louizos et al. 2018)"
HEADS = ("layer", "head")
LABELS = {
    "layer_gate": Label("probability that the gate of a layer is open", "probability", ("layer",)),
    "open_neurons": Label("expected share of a layer's neurons whose gate is open", "share", ("layer",)),
    "head_gate": Label("probability that the gate of a head is open", "probability", HEADS),
    "head_stays": Label("whether a head stays, 1 or 0", "share", HEADS),
}


def variables(log_alphas: Mapping[str, Float[np.ndarray, "..."]], size: Size) -> dict[str, xr.DataArray]:
    """The probability of each gate by its kind, of neurons the mean, and which heads the size keeps."""
    stays = {kind: open_probability(torch.from_numpy(values)).double().numpy() for kind, values in log_alphas.items()}
    made = Variables({}, SOURCE, LABELS)
    if "layers" in stays:
        made.add("layer_gate", stays["layers"])
    if "neurons" in stays:
        made.add("open_neurons", stays["neurons"].mean(1))
    if "heads" in stays:
        made.add("head_gate", stays["heads"])
        made.add("head_stays", stays_of(log_alphas["heads"], size))
    return made.arrays


def stays_of(log_alpha: Float[np.ndarray, "layer head"], size: Size) -> Float[np.ndarray, "layer head"]:
    """1 for the heads of a size, those of the largest `log_alpha` in each of its layers; 0 for all others.

    >>> from headscope.studies.shrink.sizes import Size
    >>> stays_of(np.array([[2.0, 1.0], [0.0, 3.0]]), Size((1,), (8, 8), (1, 1)))
    array([[0., 0.],
           [0., 1.]])
    """
    made = np.zeros(log_alpha.shape)
    kept = ranked_by_layer(list(log_alpha), size.heads)
    for layer in size.layers:
        made[layer, list(kept[layer])] = 1
    return made
