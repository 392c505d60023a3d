"""Confusion: how evenly a word that asks spreads its attention over the candidates.

Lin et al. 2019, sections 4 and 5: the entropy, in bits, of attention to the candidates, which is made to sum to 1
over them. A head that looks at none of them is as confused as one that looks at all alike. It says how surely a head
chooses, not whether it is right.
"""

import numpy as np
import torch
import xarray as xr
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.results.variables import Count, Variables, by_layer
from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.studies.heads.coreference import STUDY
from headscope.studies.heads.coreference.scores import AntecedentPredictions, Draws

ALL = "all"


def confusion(
    weights: Float[Tensor, "*dims candidate"], allowed: Bool[Tensor, "*dims candidate"]
) -> Float[Tensor, "*dims"]:
    """The entropy of some weights over the candidates that are allowed, in bits.

    >>> confusion(torch.tensor([0.2, 0.2, 0.9]), torch.tensor([True, True, False])).item()
    1.0
    """
    kept = weights * allowed
    total = kept.sum(-1, keepdim=True)
    even = allowed / allowed.sum(-1, keepdim=True).clamp_min(1)
    shares = torch.where(total > 0, kept / total.clamp_min(torch.finfo(kept.dtype).tiny), even)
    return torch.special.entr(shares).sum(-1) / np.log(2)


def confusion_variables(cases: AntecedentPredictions, draws: Draws, heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    """Confusion by head and on average, of all questions and by their condition."""
    names = sorted(set(cases.condition.tolist()) - {""})
    parts = {ALL: cases} | {name: cases[cases.condition == name] for name in names}
    variables = Variables({"condition": list(parts)}, STUDY.source, STUDY.labels)
    by_head = [_tally(part.confusion, part, draws) for part in parts.values()]
    mean = [_tally(part.confusion.mean(1, keepdims=True, dtype=np.float64), part, draws) for part in parts.values()]
    count = Count([len(part) for part in parts.values()], "questions", "questions", ("condition",))
    means, intervals = (
        by_layer(np.stack([getattr(tally, name) for tally in by_head], axis=1), heads) for name in ("mean", "interval")
    )
    variables.add("confusion", means, interval=intervals, count=count)
    means, intervals = ([getattr(tally, name)[0] for tally in mean] for name in ("mean", "interval"))
    variables.add("mean_confusion", means, interval=intervals, count=count)
    variables.add("uniform_confusion", [np.log2(part.candidates).mean() for part in parts.values()])
    return variables.arrays


def _tally(values: np.ndarray, cases: AntecedentPredictions, draws: Draws) -> Tally:
    return tally_by_input(values.astype(np.float64), cases.unit, draws)
