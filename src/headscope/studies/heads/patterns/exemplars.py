"""The clearest map of each pattern: inputs are kept during the pass, and their maps computed again at the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.encoding.encoded import Encoded
from headscope.encoding.word_tokens import readable_ids
from headscope.models import Model
from headscope.passes.attention_maps import MapChoice, attention_maps
from headscope.passes.settings import DEFAULTS, Settings
from headscope.results.vocabulary import PATTERNS

# Inputs that have a shape and whose tokens can be read beside their map, and the length that is best to look at.
LEAST_SHOWN, MOST_SHOWN, TYPICAL = 12, 40, 24
MOST_OF_A_HEAD, STEP = 2, 1 / 65_000


@dataclass(frozen=True)
class Exemplar:
    """A clear map of a pattern: the classifier's confidence, and the input, layer and head of the map.

    * `order`: sorts picks, the clearest first: by confidence to two decimals, then by distance from the typical length,
      then by the place in the corpus, so that batches of another size pick the same.
    """

    order: tuple[int, int, int]
    confidence: float
    task: str
    chosen: MapChoice


# By head, heads of all layers in a row, and by pattern.
Picks = dict[tuple[int, int], Exemplar]


class Clearest:
    """The clearest map of each head and pattern; memory does not grow with the corpus."""

    def __init__(self, model: Model):
        self.model = model
        self.heads = [(layer, head) for layer, count in enumerate(model.capture.heads) for head in range(count)]
        self.picks: Picks = {}

    def add(
        self,
        task: str,
        group: Sequence[Encoded],
        probability: Float[Tensor, "example head pattern"],
        valid: Bool[Tensor, " example"],
    ) -> None:
        """Consider the inputs of a batch."""
        confidence, predicted = (values.cpu().numpy() for values in probability.max(-1))
        length, index = (
            np.array(numbers) for numbers in zip(*((len(encoded), encoded.index) for encoded in group), strict=True)
        )
        fits = valid.cpu().numpy() & (length >= LEAST_SHOWN) & (length <= MOST_SHOWN)
        keys = (-(confidence * 100).round().astype(int), abs(length - TYPICAL)[:, None], index[:, None])
        keys = np.stack(np.broadcast_arrays(*keys))  # [key, example, head]
        rank = np.lexsort(keys[::-1], axis=0).argsort(0)  # [example, head], 0 for the clearest
        candidates = (predicted[..., None] == np.arange(len(PATTERNS))) & fits[:, None, None]
        best = np.where(candidates, rank[..., None], len(group)).argmin(0)  # [head, pattern]
        for head, pattern in np.argwhere(candidates.any(0)).tolist():
            example = int(best[head, pattern])
            certainty, away, at = keys[:, example, head].tolist()
            order = (certainty, away, at)
            if (head, pattern) not in self.picks or order < self.picks[head, pattern].order:
                chosen = MapChoice(group[example], *self.heads[head])
                self.picks[head, pattern] = Exemplar(order, float(confidence[example, head]), task, chosen)

    def of_patterns(self, number: int, settings: Settings = DEFAULTS) -> xr.DataArray:
        """The `number` clearest maps of each pattern, each of another head; NaN where there are fewer.

        Beside them the `token` of each query, and the layer, head, confidence and task of each map.
        """
        picked: dict[tuple[int, ...], Exemplar] = {}
        for pattern in range(len(PATTERNS)):
            picks = [self.picks[head, pattern] for head in range(len(self.heads)) if (head, pattern) in self.picks]
            clearest = sorted(picks, key=lambda pick: pick.order)[:number]
            picked |= {(pattern, rank): pick for rank, pick in enumerate(clearest)}
        coords = {"pattern": list(PATTERNS), "example": np.arange(1, number + 1)}
        array, properties, token = self._maps(picked, coords, settings)
        layers, heads = np.zeros((2, *token.shape[:-1]), int)
        for where, pick in picked.items():
            layers[where], heads[where] = pick.chosen.layer + 1, pick.chosen.head + 1
        dims = tuple(coords)
        named = {"layer": layers, "head": heads} | properties
        beside = {f"map_{name}": (dims, values) for name, values in named.items()}
        return array.assign_coords(beside | {"token": ((*dims, "query"), token)}).assign_attrs(
            long_name="clearest maps of each pattern"
        )

    def of_heads(self, share: Float[np.ndarray, "layer head pattern"], settings: Settings = DEFAULTS) -> xr.DataArray:
        """Each head's clearest map of the two patterns that most of its maps have; NaN elsewhere.

        `share`: the share of a head's maps with each pattern. Beside them the `head_map_token` of each query, and the
        confidence and task of each map. Stored in steps of 1/65,000: a few MB for hundreds of heads.
        """
        layers, heads, _ = share.shape
        coords = {"layer": np.arange(1, layers + 1), "head": np.arange(1, heads + 1), "pattern": list(PATTERNS)}
        often = np.argsort(np.argsort(-np.nan_to_num(share), axis=-1, kind="stable"), axis=-1) < MOST_OF_A_HEAD
        exemplars = {(*self.heads[head], pattern): pick for (head, pattern), pick in self.picks.items()}
        picked = {key: pick for key, pick in exemplars.items() if often[key]}
        array, properties, token = self._maps(picked, coords, settings)
        attributes = array.attrs
        dims = tuple(coords)
        beside = {f"head_map_{name}": (dims, values) for name, values in properties.items()}
        array = (array.astype(float) / STEP).round() * STEP  # as it will be read again
        array = array.assign_coords(beside | {"head_map_token": ((*dims, "query"), token)})
        array.encoding = {"dtype": "uint16", "scale_factor": STEP, "_FillValue": 65_535, "zlib": True}
        return array.assign_attrs(attributes | {"long_name": "clearest maps of each head"})

    def _maps(
        self, picked: Mapping[tuple[int, ...], Exemplar], coords: Mapping[str, Any], settings: Settings
    ) -> tuple[xr.DataArray, dict[str, np.ndarray], np.ndarray]:
        """Compute the maps of these places again.

        Returns: the maps, the confidence and task of each, and the token of each query.
        """
        maps = attention_maps(self.model, [pick.chosen for pick in picked.values()], settings.quiet)
        side = max((len(pick.chosen.encoded) for pick in self.picks.values()), default=1)
        shape = tuple(map(len, coords.values()))
        levels, token = np.full((*shape, side, side), np.nan, np.float32), np.full((*shape, side), "", object)
        properties = {"confidence": np.zeros(shape), "task": np.full(shape, "", object)}
        for (where, pick), attention in zip(picked.items(), maps, strict=True):
            length, ids = len(attention), pick.chosen.encoded.inputs["input_ids"].tolist()
            levels[where][:length, :length] = attention
            token[where][:length] = readable_ids(self.model.tokenizer, ids)
            properties["confidence"][where], properties["task"][where] = pick.confidence, pick.task
        positions = np.arange(1, side + 1)
        attributes = {"units": "share of attention", "source": "Kovaleva et al. 2019, Figure 1"}
        labels = dict(coords) | {"query": positions, "key": positions}
        return xr.DataArray(levels, labels, (*coords, "query", "key"), attrs=attributes), properties, token


def clearest_of_both(first: Picks, second: Picks) -> Picks:
    """The clearer map of each head and pattern; ties: the map of `first`."""
    clearer = {key: pick for key, pick in second.items() if key not in first or pick.order < first[key].order}
    return first | clearer
