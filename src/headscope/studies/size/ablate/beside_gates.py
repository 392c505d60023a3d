"""Whether heads whose trained gates stay open are those that the score and the gradient need: rank correlations.

Gates are those of `shrink --method gates`, after Voita et al. 2019, section 4.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.heads import existing
from headscope.results.variables import Variables
from headscope.statistics.intervals import interval
from headscope.statistics.rank_correlation import spearman
from headscope.studies.size.ablate import STUDY
from headscope.studies.size.ablate.gains import Gains

LOSS = "loss of score"


def parted(folders: Sequence[str], model: Model) -> tuple[dict[str, xr.Dataset], xr.DataArray | None]:
    """The results by their folders without the one that has gates of heads, and these gates, [layer, head].

    Raises `HeadscopeError` for gates of another model, or of two results.
    """
    read = {folder: results.read(folder) for folder in folders}
    gated = [folder for folder, result in read.items() if "head_gate" in result]
    if not gated:
        return read, None
    if len(gated) > 1:
        raise HeadscopeError(f"results '{gated[0]}' and '{gated[1]}' both have gates; name one of them for --beside")
    result = read.pop(gated[0])
    gates, heads = result["head_gate"].transpose("layer", "head"), existing(model.capture.heads)
    if result.attrs.get("model_sha256") != model.sha256 or gates.shape != heads.shape:
        raise HeadscopeError(f"result '{gated[0]}' has gates of another model; name one of this model for --beside")
    return read, gates


def variables(
    gates: xr.DataArray, single: Gains, by_estimator: Mapping[str, xr.DataArray], seed: int
) -> dict[str, xr.DataArray]:
    """Spearman's correlation over heads of gates with the loss of the main score, and with each importance, if any.

    * `single`: gains without each head of the model, in their order; `by_estimator`: has `importance`, if anything.

    Its interval is a bootstrap over heads.
    """
    there = gates.notnull().values
    orders = {LOSS: -single.gains[:, 0]}
    if by_estimator:
        importance = by_estimator["importance"].transpose("estimator", "layer", "head")
        orders |= {
            str(name): values[there]
            for name, values in zip(importance["estimator"].values, importance.values, strict=True)
        }
    opened, values = gates.values[there], np.stack([*orders.values()])  # [head] and [ranking, head]
    heads = len(opened)
    drawn = np.random.default_rng(seed).integers(heads, size=(single.resamples, heads))
    resampled = spearman(values[:, drawn], np.broadcast_to(opened[drawn], (len(values), *drawn.shape)))
    added = Variables({"ranking": [*orders]}, STUDY.source, STUDY.labels, interval="95% interval, over heads, of")
    correlations = spearman(values, np.broadcast_to(opened, values.shape))
    added.add("gate_correlation", correlations, interval=interval(resampled.T, heads), count=heads)
    return added.arrays
