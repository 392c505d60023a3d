"""The clearest map of each pattern: inputs are kept while a corpus is read, and their maps made again at the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.encoding.encoded import Encoded
from headscope.engine.attention_maps import Chosen, maps_of
from headscope.engine.settings import DEFAULTS, Settings
from headscope.models import Model
from headscope.results.vocabulary import PATTERNS

# Inputs that have a shape and whose tokens can be read beside their map, and the length that is best to look at.
LEAST_SHOWN, MOST_SHOWN, TYPICAL = 12, 40, 24
MOST_OF_A_HEAD, STEP = 2, 1 / 65_000


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
        coords = {"pattern": list(PATTERNS), "example": np.arange(1, number + 1)}
        array, of, token = self._drawn(picked, coords, settings)
        layers, heads = np.zeros((2, *token.shape[:-1]), int)
        for where, pick in picked.items():
            layers[where], heads[where] = pick.chosen.layer + 1, pick.chosen.head + 1
        dims = tuple(coords)
        beside = {f"map_{name}": (dims, values) for name, values in ({"layer": layers, "head": heads} | of).items()}
        return array.assign_coords(beside | {"token": ((*dims, "query"), token)}).assign_attrs(
            long_name="clearest maps of each pattern"
        )

    def of_heads(self, share: Float[np.ndarray, "layer head pattern"], settings: Settings = DEFAULTS) -> xr.DataArray:
        """Each head's clearest map of the two patterns that most of its maps have; NaN elsewhere.

        `share` is how many maps of a head have each pattern. Beside them the `head_map_token` of each query, and the
        confidence and task of each map. Stored in steps of 1/65,000: a few MB for hundreds of heads.
        """
        layers, heads, _ = share.shape
        coords = {"layer": np.arange(1, layers + 1), "head": np.arange(1, heads + 1), "pattern": list(PATTERNS)}
        often = np.argsort(np.argsort(-np.nan_to_num(share), axis=-1, kind="stable"), axis=-1) < MOST_OF_A_HEAD
        places = {(*self.heads[head], pattern): pick for (head, pattern), pick in self.picks.items()}
        array, of, token = self._drawn({at: pick for at, pick in places.items() if often[at]}, coords, settings)
        attributes = array.attrs
        dims = tuple(coords)
        beside = {f"head_map_{name}": (dims, values) for name, values in of.items()}
        array = (array.astype(float) / STEP).round() * STEP  # as it will be read again
        array = array.assign_coords(beside | {"head_map_token": ((*dims, "query"), token)})
        array.encoding = {"dtype": "uint16", "scale_factor": STEP, "_FillValue": 65_535, "zlib": True}
        return array.assign_attrs(attributes | {"long_name": "clearest maps of each head"})

    def _drawn(
        self, picked: Mapping[tuple[int, ...], Pick], coords: Mapping[str, Any], settings: Settings
    ) -> tuple[xr.DataArray, dict[str, np.ndarray], np.ndarray]:
        """The maps of these places, the confidence and task of each, and the token of each query."""
        quiet = replace(settings, on_progress=lambda done: None)
        maps = maps_of(self.model, [pick.chosen for pick in picked.values()], quiet)
        side = max((len(pick.chosen.encoded) for pick in self.picks.values()), default=1)
        shape = tuple(map(len, coords.values()))
        whole, token = np.full((*shape, side, side), np.nan, np.float32), np.full((*shape, side), "", object)
        of = {"confidence": np.zeros(shape), "task": np.full(shape, "", object)}
        for (where, pick), attention in zip(picked.items(), maps, strict=True):
            length, ids = len(attention), pick.chosen.encoded.inputs["input_ids"].tolist()
            whole[where][:length, :length] = attention
            token[where][:length] = self.model.tokenizer.convert_ids_to_tokens(ids)
            of["confidence"][where], of["task"][where] = pick.confidence, pick.task
        places = np.arange(1, side + 1)
        attributes = {"units": "share of attention", "source": "Kovaleva et al. 2019, Figure 1"}
        labels = dict(coords) | {"query": places, "key": places}
        return xr.DataArray(whole, labels, (*coords, "query", "key"), attrs=attributes), of, token
