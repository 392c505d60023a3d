"""The clearest map of each pattern: inputs are kept while a corpus is read, and their maps made again at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.engine.chosen import Chosen, maps_of
from headscope.engine.settings import DEFAULTS, Settings
from headscope.models import Model
from headscope.models.encoded import Encoded
from headscope.results import PATTERNS

# Inputs that have a shape and whose tokens can be read beside their map, and the length that is best to look at.
LEAST_SHOWN, MOST_SHOWN, TYPICAL = 12, 40, 24


@dataclass(frozen=True)
class Pick:
    """A clear map of a pattern: how sure the classifier is of it, and where the map is from."""

    confidence: float
    task: str
    chosen: Chosen


class Clearest:
    """For each head and pattern the input whose map shows it most surely; this does not grow with the corpus.

    Of maps that are as sure, to two decimals, the one of the most typical length is kept, then the first, so
    that batches of another size choose the same.
    """

    def __init__(self, model: Model):
        self.model = model
        self.heads = [(layer, head) for layer, count in enumerate(model.capture.heads) for head in range(count)]
        self.rank = np.zeros((len(self.heads), len(PATTERNS)), dtype=np.int64)
        self.picks: dict[tuple[int, int], Pick] = {}

    def add(
        self,
        task: str,
        group: Sequence[Encoded],
        probability: Float[Tensor, "example head pattern"],
        valid: Bool[Tensor, " example"],
    ) -> None:
        """Consider the inputs of a batch."""
        sure, told = (each.cpu().numpy() for each in probability.max(-1))
        length, index = (np.array(each) for each in zip(*((len(one), one.index) for one in group), strict=True))
        fits = valid.cpu().numpy() & (length >= LEAST_SHOWN) & (length <= MOST_SHOWN)
        typical = (999 - abs(length - TYPICAL)) * 10**12 - index
        rank = (sure * 100).round().astype(np.int64) * 10**15 + typical[:, None]
        mine = (told[..., None] == np.arange(len(PATTERNS))) & fits[:, None, None]
        ranks = np.where(mine, rank[..., None], 0)
        for head, pattern in np.argwhere(ranks.max(0) > self.rank).tolist():
            example = int(ranks[:, head, pattern].argmax())
            self.rank[head, pattern] = ranks[example, head, pattern]
            chosen = Chosen(group[example], *self.heads[head])
            self.picks[head, pattern] = Pick(float(sure[example, head]), task, chosen)

    def shown(self, number: int, settings: Settings = DEFAULTS) -> xr.DataArray:
        """So many maps of each pattern, the clearest first, each of another head; NaN where there are fewer.

        Beside them the `token` of each query, and the layer, head, confidence and task of each map.
        """
        order = np.argsort(-self.rank, axis=0, kind="stable")[:number]
        picked = {
            (pattern, place): self.picks[head, pattern]
            for place, heads in enumerate(order.tolist())
            for pattern, head in enumerate(heads)
            if (head, pattern) in self.picks
        }
        quiet = replace(settings, progress=lambda done: None)
        maps = maps_of(self.model, [pick.chosen for pick in picked.values()], quiet)
        side, shape = max(map(len, maps), default=1), (len(PATTERNS), number)
        whole, token = np.full((*shape, side, side), np.nan, np.float32), np.full((*shape, side), "", object)
        of = {name: np.zeros(shape, kind) for name, kind in (("layer", int), ("head", int), ("confidence", float))}
        of["task"] = np.full(shape, "", object)
        for (where, pick), attention in zip(picked.items(), maps, strict=True):
            length, ids = len(attention), pick.chosen.encoded.inputs["input_ids"].tolist()
            whole[where][:length, :length] = attention
            token[where][:length] = self.model.tokenizer.convert_ids_to_tokens(ids)
            of["layer"][where], of["head"][where] = pick.chosen.layer + 1, pick.chosen.head + 1
            of["confidence"][where], of["task"][where] = pick.confidence, pick.task
        places, dims = np.arange(1, side + 1), ("pattern", "example")
        coords = {"pattern": list(PATTERNS), "example": np.arange(1, number + 1), "query": places, "key": places}
        beside = {f"map_{name}": (dims, values) for name, values in of.items()} | {"token": ((*dims, "query"), token)}
        attributes = {
            "long_name": "clearest maps of each pattern",
            "units": "share of attention",
            "source": "Kovaleva et al. 2019, Figure 1",
        }
        return xr.DataArray(whole, coords | beside, (*dims, "query", "key"), attrs=attributes)
